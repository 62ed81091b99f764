#include "engines/vllm/kv_backend.h"

#include <algorithm>

namespace foretell::vllm {
namespace {

bool IsFp8(const std::string& dtype) { return dtype.starts_with("fp8"); }

bool IsHalf(const std::string& dtype) {
  return dtype == "bfloat16" || dtype == "float16" || dtype == "half";
}

bool IsQuantized(const std::string& cache) {
  return cache != "auto" && cache != "bfloat16" && cache != "float16" &&
         cache != "half";
}

struct Question {
  int64_t head_dim = 0;
  bool is_half = true;
  std::string cache;
  bool has_sink = false;
  bool has_image_prefix = false;
  int major = 9;
  int64_t block = 0;  // that the user asked for; 0 where they did not
};

bool FlashTakes(const Question& q) {
  if (q.major < 8 || !q.is_half || q.head_dim % 8 != 0) return false;
  // FlashAttention 4 takes heads past 256 up to 512.
  if (q.head_dim > 512) return false;
  if (q.has_sink && q.major < 9) return false;
  if (q.cache == "fp8_e5m2") return false;
  if (IsQuantized(q.cache)) {
    if (!IsFp8(q.cache) || q.cache == "fp8_per_token_head" ||
        q.cache == "fp8_ds_mla") {
      return false;
    }
    if (q.has_image_prefix && q.major == 9) return false;
    if (q.major == 9) return q.head_dim <= 256 || q.head_dim == 512;
    return q.major == 10 && q.head_dim <= 128;
  }
  return q.block == 0 || q.block % 16 == 0;
}

bool FlashInferTakes(const Question& q) {
  if (q.major < 8 || q.major > 12 || !q.is_half || q.has_image_prefix) {
    return false;
  }
  if (q.head_dim != 64 && q.head_dim != 128 && q.head_dim != 256 &&
      q.head_dim != 512) {
    return false;
  }
  if (q.has_sink && q.major != 9 && q.major != 10 && q.major != 12) {
    return false;
  }
  if (IsQuantized(q.cache) && !IsFp8(q.cache) &&
      !q.cache.starts_with("nvfp4")) {
    return false;
  }
  return q.cache != "fp8_per_token_head" && q.cache != "fp8_ds_mla";
}

KvBackend Flash(const KvShape& shape, const KvModel& model,
                const std::string& cache, const ServingCard& card) {
  KvBackend out{"FLASH_ATTN", {16}, true, 0, false, 0};
  const int major = card.capability / 10;
  if (major == 9 && IsFp8(cache) && shape.spec.key_dim == 512) {
    // FlashAttention 4 on Hopper reads fp8 in tiles of 64 tokens.
    out.blocks = {64};
    out.is_multiple = false;
  } else if ((major == 10 || major == 11) && shape.spec.key_dim == 256 &&
             !IsQuantized(cache) && !model.has_image_prefix) {
    // Its kernel for heads of 256 reads pages of 128 tokens.
    out.blocks = {128};
    out.is_multiple = false;
    out.preferred = 128;
  }
  return out;
}

KvBackend FlashInfer(const KvModel& model, const ServingCard& card) {
  KvBackend out{"FLASHINFER", {16, 32, 64}, false, 0, false, 0};
  // Larger pages only by the kernels for grouped heads on Blackwell.
  if (card.capability / 10 == 10 && model.heads > 0 &&
      model.query_heads / model.heads > 1) {
    out.blocks = {16, 32, 64, 128, 256, 512, 1024};
  }
  return out;
}

KvBackend Ordinary(const KvShape& shape, const KvModel& model,
                   const ServingSettings& settings, const ServingCard& card,
                   const std::string& cache) {
  const int major = card.capability / 10;
  const Question q{shape.spec.key_dim,
                   IsHalf(settings.dtype),
                   cache,
                   shape.has_sink,
                   model.has_image_prefix && shape.source != KvSource::kCross,
                   major,
                   settings.block_size.value_or(0)};
  const std::string& asked = settings.attention_backend;
  if (asked == "FLASHINFER") return FlashInfer(model, card);
  if (asked == "FLASH_ATTN") return Flash(shape, model, cache, card);
  if (asked == "TRITON_ATTN") return {"TRITON_ATTN", {16}, true, 0, false, 0};
  if (asked == "FLEX_ATTENTION") {
    return {"FLEX_ATTENTION", {16}, true, 0, false, 0};
  }
  if (card.vendor == "amd") return {"ROCM_ATTN", {16}, true, 0, false, 0};
  if (cache.starts_with("turboquant_")) {
    return {"TURBOQUANT", {16, 32, 64, 128}, false, 0, false, 0};
  }
  // A general backend for images beside a faster one for the rest.
  if (q.has_image_prefix && !IsQuantized(cache) && q.is_half) {
    if (major == 9) return {"TRITON_FLASH_ATTN", {16}, true, 0, false, 0};
    if (major == 10) {
      return {"TRITON_FLASHINFER", {16, 32, 64}, false, 0, false, 0};
    }
  }
  if (major == 10 && FlashInferTakes(q)) return FlashInfer(model, card);
  if (FlashTakes(q)) return Flash(shape, model, cache, card);
  if (FlashInferTakes(q)) return FlashInfer(model, card);
  return {"TRITON_ATTN", {16}, true, 0, false, 0};
}

KvBackend Latent(const KvModel& model, const ServingSettings& settings,
                 const ServingCard& card, const std::string& cache) {
  const int major = card.capability / 10;
  const bool is_fp8 = IsFp8(cache);
  const std::string& asked = settings.attention_backend;
  const KvBackend triton{"TRITON_MLA", {16}, true, 0, false, 0};
  if (asked == "TRITON_MLA") return triton;
  if (asked == "FLASHMLA" || (major == 9 && is_fp8)) {
    return {"FLASHMLA", {64}, false, 0, false, 0};
  }
  if (asked == "CUTLASS_MLA") return {"CUTLASS_MLA", {128}, false, 0, false, 0};
  if (major == 9 && IsHalf(settings.dtype)) {
    return {"FLASH_ATTN_MLA", {16}, true, 0, false, 0};
  }
  if (major == 10) {
    const int64_t nope = model.nope_dim.value_or(1);
    if (nope == 64 || nope == 128 || nope == 192) {
      return {"FLASHINFER_MLA", {32, 64}, false, 0, false, 0};
    }
    return {"CUTLASS_MLA", {128}, false, 0, false, 0};
  }
  return triton;
}

KvBackend SparseLatent(const KvModel& model, const ServingCard& card,
                       const std::string& cache) {
  const int major = card.capability / 10;
  if (major == 9) {
    if (IsQuantized(cache)) {
      return {"FLASHMLA_SPARSE", {64}, true, 0, false, 0};
    }
    return {"FLASH_ATTN_MLA_SPARSE", {64}, true, 0, false, 1};
  }
  if (major == 10 && !IsQuantized(cache) && model.query_heads > 16) {
    return {"FLASHMLA_SPARSE", {64}, true, 0, false, 1};
  }
  if (major == 10) {
    return {"FLASHINFER_MLA_SPARSE", {32}, true, 0, false, 32};
  }
  return {"FLASHINFER_MLA_SPARSE_SM120", {64}, true, 0, false, 0};
}

}  // namespace

bool KvBackend::Takes(int64_t block) const {
  // Blocks larger than a kernel's are split into several of its own.
  return std::ranges::any_of(blocks,
                             [&](int64_t size) { return block % size == 0; });
}

int64_t KvBackend::Least() const { return std::ranges::min(blocks); }

KvBackend BackendOf(const KvShape& shape, const KvModel& model,
                    const ServingSettings& settings, const ServingCard& card,
                    const std::string& cache) {
  switch (shape.source) {
    case KvSource::kAttention:
    case KvSource::kCross:
      return Ordinary(shape, model, settings, card, cache);
    case KvSource::kLatent:
      return Latent(model, settings, card, cache);
    case KvSource::kSparseLatent:
      return SparseLatent(model, card, cache);
    case KvSource::kIndexer:
      return {"DEEPSEEK_V32_INDEXER", {64}, false, 0, false, 0};
    case KvSource::kSparse:
      return {"MINIMAX_M3_SPARSE", {128}, false, 0, false, 0};
    case KvSource::kSparseIndexer:
      return {"MINIMAX_M3_INDEXER", {128}, false, 0, false, 0};
    case KvSource::kState:
      return {"STATE", {1}, true, 0, false, 0};
    case KvSource::kCompressed:
      return {"FLASHMLA_SPARSE_DSV4", {256}, false, 0, true, 0};
    case KvSource::kCompressedIndexer:
      return {"DEEPSEEK_V4_INDEXER", {256}, false, 0, true, 0};
    case KvSource::kCompressedWindow:
      return {"DEEPSEEK_SPARSE_SWA", {32}, true, 256, true, 0};
    case KvSource::kCompressorState:
      return {"COMPRESSOR", {1}, true, 0, true, 0};
  }
  return {};
}

}  // namespace foretell::vllm
