#include "engines/vllm/kv_layers.h"

#include <algorithm>
#include <numeric>

#include "engines/vllm/kv_backend.h"
#include "engines/vllm/kv_model.h"

namespace foretell::vllm {
namespace {

constexpr int64_t kDefaultBlock = 16;  // CacheConfig.DEFAULT_BLOCK_SIZE

bool IsState(const KvShape& shape) { return shape.source == KvSource::kState; }

struct Part {
  KvShape shape;
  KvBackend backend;
  std::string cache_dtype;
};

// The cache dtype of one layer: a skipped one keeps the model's own.
std::string DtypeOfLayer(const KvShape& shape, const std::string& resolved,
                         const ServingSettings& settings) {
  for (const std::string& skip : settings.kv_skip_layers) {
    if (skip == std::to_string(shape.index) ||
        (skip == "sliding_window" && shape.spec.kind == KvKind::kSliding)) {
      return "auto";
    }
  }
  return resolved;
}

// Packs keys and values as the cache dtype and the backend want them.
void ApplyDtype(KvSpec& spec, KvSource source, const std::string& cache,
                const std::string& dtype, const KvBackend& backend) {
  if (source == KvSource::kIndexer || source == KvSource::kSparseIndexer ||
      source == KvSource::kCompressed ||
      source == KvSource::kCompressedIndexer ||
      source == KvSource::kCompressedWindow ||
      source == KvSource::kCompressorState || source == KvSource::kState) {
    return;
  }
  spec.element_bytes = ElementBytes(cache, dtype);
  spec.packing = PackingOf(cache);
  if (source == KvSource::kLatent || source == KvSource::kSparseLatent) {
    std::string own = cache;
    if (backend.name == "FLASHMLA_SPARSE" && cache.starts_with("fp8")) {
      own = "fp8_ds_mla";
    }
    if (backend.name == "FLASHINFER_MLA_SPARSE_SM120" &&
        (cache == "auto" || cache.starts_with("fp8"))) {
      own = "fp8_ds_mla";
    }
    spec.cache_dtype = own;
    spec.packing = PackingOf(own);
    // Rows of DeepSeek's own formats: latents, positions and scales in one.
    if (own == "fp8_ds_mla") spec.row_bytes = 656;
    if (own == "nvfp4_ds_mla") spec.row_bytes = 352;
    return;
  }
  if (spec.packing == KvPacking::kPerTokenHead) {
    const int64_t halves = cache == "int4_per_token_head" ? 2 : 1;
    constexpr int64_t kScales = 8;  // of keys and of values, in float32
    spec.row_bytes = (spec.key_dim + spec.value_dim) / halves + kScales;
  } else if (spec.packing == KvPacking::kNvfp4) {
    // Keys and values apart: half a byte each, a scale for sixteen.
    spec.head_slots = 2 * spec.heads;
    spec.row_bytes = spec.key_dim / 2 + spec.key_dim / 16;
  }
}

// The smallest block that every backend takes.
int64_t CommonBlock(const std::vector<Part>& parts) {
  std::vector<const KvBackend*> backends;
  for (const Part& part : parts) {
    if (IsState(part.shape)) continue;
    const auto same = std::ranges::find(
        backends, part.backend.name,
        [](const KvBackend* at) -> const std::string& { return at->name; });
    if (same == backends.end()) {
      backends.push_back(&part.backend);
    } else if ((*same)->Least() < part.backend.Least()) {
      // One class serves both: it is asked about the model's largest heads.
      *same = &part.backend;
    }
  }
  if (backends.empty()) return kDefaultBlock;
  if (backends.size() == 1) {
    const KvBackend& only = *backends.front();
    if (only.preferred > 0) return std::max(kDefaultBlock, only.preferred);
    return only.Takes(kDefaultBlock) ? kDefaultBlock : only.Least();
  }
  const auto all_take = [&](int64_t block) {
    return std::ranges::all_of(
        backends, [&](const KvBackend* at) { return at->Takes(block); });
  };
  if (all_take(kDefaultBlock)) return kDefaultBlock;
  int64_t block = 1;
  for (const KvBackend* at : backends) block = std::lcm(block, at->Least());
  return block;
}

int64_t AttentionTokenBytes(const KvModel& model,
                            const std::vector<Part>& parts,
                            const std::string& cache,
                            const ServingSettings& settings) {
  KvSpec spec;
  spec.block_size = 1;
  spec.heads = model.heads;
  spec.key_dim = model.head_dim;
  spec.value_dim = model.is_latent ? 0 : model.head_dim;
  const auto part = std::ranges::find_if(
      parts, [](const Part& at) { return !IsState(at.shape); });
  if (part == parts.end()) return 0;
  ApplyDtype(spec, model.is_latent ? KvSource::kLatent : KvSource::kAttention,
             cache, settings.dtype, part->backend);
  return UnpaddedPageBytes(spec);
}

struct Alignment {
  int64_t block = 0;
  int64_t padded_state = 0;  // 0 where pages are equal as they are
};

// Where every block's end keeps a state, a block of attention is whole chunks
// of the state's kernel (HybridAttentionMambaModelConfig of 0.19.0).
int64_t KeptMultiple(const ServedConfig& served,
                     const ServingSettings& settings, const KvModel& model) {
  constexpr int64_t kAnyChunk = 2048;  // get_mamba_chunk_size
  const int64_t chunk = settings.mamba_block_size.value_or(
      served.Size({"mamba_chunk_size", "chunk_size"}).value_or(kAnyChunk));
  return std::lcm(std::clamp<int64_t>(chunk, 1, kMostSize),
                  model.is_latent ? 64 : 16);
}

// A page of attention must hold a state: blocks grow, states are padded.
Alignment AlignHybrid(const KvModel& model, const std::vector<Part>& parts,
                      int64_t block, int64_t token_bytes, bool is_aligned,
                      int64_t kept_multiple) {
  Alignment out{block, 0};
  int64_t state = 0;
  int64_t backend_multiple = 1;
  int64_t least = 0;
  for (const Part& part : parts) {
    if (IsState(part.shape)) {
      state = std::max(state, UnpaddedPageBytes(part.shape.spec));
    } else {
      backend_multiple = std::lcm(backend_multiple, part.backend.Least());
      if (least == 0) least = part.backend.Least();
    }
  }
  if (state <= 0 || token_bytes <= 0) return out;
  int64_t multiple = std::max(least, block);
  if (model.is_latent) multiple = std::max<int64_t>(multiple, 128);
  if (is_aligned && model.checkpoint_alignment > 0) {
    multiple = std::lcm(multiple, model.checkpoint_alignment);
  }
  if (kept_multiple > 0) multiple = kept_multiple;
  int64_t wanted = multiple * CeilDivide(state, Times(multiple, token_bytes));
  wanted = RoundUp(wanted, backend_multiple);
  out.block = std::max(block, wanted);
  const int64_t page = Times(out.block, token_bytes);
  if (page != state) out.padded_state = page;
  return out;
}

// The largest block that a window's kernels take within the primary page.
int64_t WindowBlock(const KvBackend& backend, int64_t token_bytes,
                    int64_t budget) {
  if (token_bytes <= 0) return backend.Least();
  const int64_t most = budget / token_bytes;
  int64_t best = 0;
  for (const int64_t size : backend.blocks) {
    const int64_t candidate =
        backend.is_multiple ? std::max(size, most / size * size) : size;
    if (candidate <= most) best = std::max(best, candidate);
  }
  return best > 0 ? best : backend.Least();
}

// Tokens of encoder input that a cross-attention cache holds.
int64_t EncoderTokens(const ServedConfig&, const ServingSettings& settings) {
  return settings.max_num_batched_tokens;
}

}  // namespace

std::vector<int64_t> StageLayers(int64_t layers, int64_t stages) {
  std::vector<int64_t> out(static_cast<size_t>(std::max<int64_t>(stages, 1)),
                           layers / std::max<int64_t>(stages, 1));
  const auto count = static_cast<int64_t>(out.size());
  // vllm/distributed/utils.py, get_pp_indices: the last stage is spared first.
  for (int64_t i = 2; i < layers % count + 2; ++i) {
    const int64_t at = (count - i % count) % count;
    ++out[static_cast<size_t>(at)];
  }
  return out;
}

KvLayers ReadKvLayers(const ModelConfig& config,
                      const ServingSettings& settings, const ServingCard& card,
                      const KvRules& rules) {
  KvLayers out;
  const ServedConfig served(config);
  const KvModel model = ReadKvModel(served, settings, card);
  out.fault = model.fault;
  if (!out.fault.empty()) return out;
  out.cache_dtype = ResolveCacheDtype(served, settings, card);
  std::vector<Part> parts;
  bool has_state = false;
  for (const KvShape& shape : model.layers) {
    const std::string dtype = DtypeOfLayer(shape, out.cache_dtype, settings);
    parts.push_back(
        {shape, BackendOf(shape, model, settings, card, dtype), dtype});
    has_state = has_state || IsState(shape);
    const KvBackend& backend = parts.back().backend;
    out.is_block_outermost =
        out.is_block_outermost || backend.is_block_outermost;
    if (std::ranges::find(out.backends, backend.name) == out.backends.end()) {
      out.backends.push_back(backend.name);
    }
  }
  const bool are_cached = has_state && settings.enable_prefix_caching;
  out.are_states_kept = are_cached && settings.mamba_cache_mode == "all";
  out.are_states_aligned = are_cached && !out.are_states_kept &&
                           (rules.are_states_cached_by_default ||
                            settings.mamba_cache_mode == "align");
  int64_t block = settings.block_size.value_or(CommonBlock(parts));
  if (block <= 0 || block > kMostSize) block = kDefaultBlock;
  Alignment aligned{block, 0};
  const bool follows_blocks = out.are_states_aligned || out.are_states_kept;
  int64_t state_block = settings.mamba_block_size.value_or(
      follows_blocks ? block : settings.max_model_len);
  if (model.is_hybrid) {
    aligned = AlignHybrid(
        model, parts, block,
        AttentionTokenBytes(model, parts, out.cache_dtype, settings),
        out.are_states_aligned && rules.does_align_to_checkpoints,
        out.are_states_kept ? KeptMultiple(served, settings, model) : 0);
    block = aligned.block;
    if (follows_blocks) state_block = block;
  }
  // Skipped layers are larger than the quantized rest: the common page grows.
  int64_t shared_page = 0;
  if (!settings.kv_skip_layers.empty()) {
    const int64_t own =
        AttentionTokenBytes(model, parts, out.cache_dtype, settings);
    const int64_t skipped = AttentionTokenBytes(model, parts, "auto", settings);
    if (skipped > own && own > 0 && !parts.empty()) {
      const int64_t least = parts.front().backend.Least();
      const int64_t multiple = std::max(least, block);
      const int64_t needed =
          std::max(Times(skipped, least), aligned.padded_state);
      block =
          std::max(block, multiple * CeilDivide(needed, Times(multiple, own)));
      shared_page = Times(block, own);
      if (aligned.padded_state > 0) aligned.padded_state = shared_page;
    }
  }
  out.block_size = block;
  const std::vector<int64_t> stages =
      settings.pipeline_layers.empty()
          ? StageLayers(model.stack, settings.pipeline_parallel)
          : settings.pipeline_layers;
  const int64_t drafts =
      settings.speculative ? std::max<int64_t>(settings.speculative->tokens, 0)
                           : 0;
  for (Part& part : parts) {
    KvSpec spec = part.shape.spec;
    ApplyDtype(spec, part.shape.source, part.cache_dtype, settings.dtype,
               part.backend);
    if (IsState(part.shape)) {
      spec.block_size = std::max<int64_t>(state_block, 1);
      spec.padded_page = aligned.padded_state;
      // A draft's states beside kept ones are counted since 0.22.
      const bool counts_drafts =
          !out.are_states_kept || settings.version >= EngineVersion{0, 22, 0};
      spec.draft_states = counts_drafts ? drafts : 0;
      if (!out.are_states_aligned || !rules.has_prefill_checkpoints) {
        spec.checkpoint_states = 0;
      }
    } else if (part.shape.source == KvSource::kCompressedWindow ||
               part.shape.source == KvSource::kCompressorState) {
      // They state blocks of their own.
    } else if (spec.kind == KvKind::kSliding && rules.has_own_window_blocks) {
      KvSpec one = spec;
      one.block_size = 1;
      const int64_t token = UnpaddedPageBytes(one);
      const int64_t budget = shared_page > 0 ? shared_page : token * block;
      spec.block_size = WindowBlock(part.backend, token, budget);
      spec.padded_page = shared_page;
    } else {
      spec.block_size = block;
      if (shared_page > 0 && part.cache_dtype != out.cache_dtype) {
        spec.padded_page = shared_page;
      }
    }
    if (!IsState(part.shape)) {
      if (part.backend.aligned_rows > 0) {
        KvSpec row = spec;
        row.block_size = 1;
        spec.stride_bytes =
            Times(UnpaddedPageBytes(row), part.backend.aligned_rows);
      } else if (!part.backend.is_multiple) {
        spec.kernel_block = std::ranges::max(part.backend.blocks);
      }
    }
    KvLayer layer{part.shape.name, spec, part.shape.is_draft, 0};
    int64_t end = 0;
    for (size_t i = 0; i < stages.size(); ++i) {
      end += stages[i];
      layer.stage = static_cast<int64_t>(i);
      if (part.shape.index < end) break;
    }
    out.layers.push_back(std::move(layer));
  }
  out.encoder_tokens = EncoderTokens(served, settings);
  return out;
}

}  // namespace foretell::vllm
