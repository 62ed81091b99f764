#include "engines/vllm/memory_account.h"

#include <algorithm>
#include <cmath>

namespace foretell::vllm {
namespace {

constexpr double kGib = 1073741824.0;

Bytes About(double value, double below, double above, std::string source) {
  return Bytes::Estimated(value, value * (1 - below), value * (1 + above),
                          std::move(source));
}

bool Since(const ServingSettings& settings, int minor, int patch = 0) {
  return settings.version >= EngineVersion{0, minor, patch};
}

// Tokens of the profile run's forward.
double ForwardTokens(const MemoryInput& in, const ServingSettings& s) {
  if (in.is_v1) return static_cast<double>(s.max_num_batched_tokens);
  // V0 runs one prefill of the whole length, in chunks past 32,768 tokens
  // where the card is NVIDIA's (arg_utils.py, _set_default_args_v0 of 0.9.2).
  constexpr int64_t kChunkedFrom = 32768;
  const int64_t chunk =
      s.max_num_batched_tokens > 0 ? s.max_num_batched_tokens : 2048;
  return static_cast<double>(s.max_model_len > kChunkedFrom && in.is_nvidia
                                 ? chunk
                                 : std::max(s.max_model_len, chunk));
}

// What is alive at a layer's widest point: gate and up together, their
// product, and four rows of the hidden size.
double ForwardBytes(const MemoryInput& in, const ServingSettings& s) {
  const double tokens = ForwardTokens(in, s);
  const auto ranks =
      static_cast<double>(std::max<int64_t>(s.tensor_parallel, 1));
  const ProfileSizes& z = in.sizes;
  const double dense = 3.0 * static_cast<double>(z.intermediate) / ranks;
  const double row = 4.0 * static_cast<double>(z.hidden);
  return tokens * 2 * (dense + row);
}

// Experts write their rows to a workspace that stays.
double ExpertBytes(const MemoryInput& in, const ServingSettings& s) {
  const ProfileSizes& z = in.sizes;
  if (z.experts_per_token <= 0) return 0;
  // A workspace serves so many tokens at most (VLLM_FUSED_MOE_CHUNK_SIZE).
  constexpr double kChunk = 32768;
  // Ranks of data parallelism that share experts send each other all tokens.
  const auto senders = static_cast<double>(
      s.expert_parallel ? std::max<int64_t>(s.data_parallel, 1) : 1);
  const double tokens = std::min(ForwardTokens(in, s) * senders, kChunk);
  const auto ranks =
      static_cast<double>(std::max<int64_t>(s.tensor_parallel, 1));
  const double row = 3.0 * static_cast<double>(z.expert_intermediate) / ranks +
                     static_cast<double>(z.expert_hidden);
  return tokens * static_cast<double>(z.experts_per_token) * 2 * row;
}

double SamplerBytes(const MemoryInput& in, const ServingSettings& s) {
  // Copies of the logits in float32 that the sampler's dummy run holds, with
  // PyTorch's top-k and top-p, and with FlashInfer's or Triton's. Fitted by
  // tools/fit/vllm_memory.py: 9.435 to 9.443 and 3.610 to 3.621 as one model
  // at a time is left out.
  // From 0.17 on Triton's kernel does both (sample/ops/topk_topp_sampler.py).
  const double copies = Since(s, 17) || s.flashinfer_sampler ? 3.617 : 9.44;
  return copies * static_cast<double>(s.max_num_seqs) *
         static_cast<double>(in.sizes.vocabulary) * 4;
}

// What the forward leaves beside the sampler's logits: rows of the hidden size
// for every token, and GiB at 8192 tokens. Fitted by tools/fit/vllm_memory.py
// on starts of 13 dense models, hidden sizes 2560 to 8192: 1.143 to 1.185 and
// 0.042 to 0.050.
double HeldBytes(const MemoryInput& in, const ServingSettings& s) {
  const double tokens = ForwardTokens(in, s);
  const auto hidden = static_cast<double>(in.sizes.hidden);
  return tokens / 8192 * 0.047 * kGib + tokens * hidden * 2 * 1.165;
}

// The profile run stands for the longest context whose keys and values latent
// attention projects up at once: eight requests of full length or four pages
// for each request, at most 65,536 tokens (mla/common.py of 0.11.2,
// determine_chunked_prefill_workspace_size and forward).
double LatentBytes(const MemoryInput& in, const ServingSettings& s) {
  if (!in.is_v1 || in.sizes.latent_heads <= 0) return 0;
  constexpr int64_t kMostTokens = 65536;
  constexpr int64_t kBlock = 64;
  const int64_t length = std::clamp<int64_t>(s.max_model_len, 0, kMostTokens);
  const int64_t requests = std::clamp<int64_t>(s.max_num_seqs, 0, kMostTokens);
  const int64_t tokens =
      std::min(kMostTokens, std::max(8 * length, 4 * requests * kBlock));
  const auto ranks =
      static_cast<double>(std::max<int64_t>(s.tensor_parallel, 1));
  return static_cast<double>(tokens) *
         static_cast<double>(in.sizes.latent_heads) / ranks *
         static_cast<double>(in.sizes.latent_width) * 2;
}

bool SeesImages(const MemoryInput& in, const ServingSettings& s) {
  if (!in.sizes.has_towers || s.language_model_only || s.skip_mm_profiling) {
    return false;
  }
  // All kinds limited to none.
  return s.limit_mm_per_prompt.empty() ||
         std::ranges::any_of(s.limit_mm_per_prompt,
                             [](const auto& at) { return at.second > 0; });
}

// The tower is profiled with as many images as the encoder's budget takes, as
// many tokens as a batch holds (v1/core/encoder_cache_manager.py): residual,
// queries, keys and values, and both sides of the feed-forward.
double EncoderBytes(const MemoryInput& in, const ServingSettings& s) {
  if (!in.is_v1 || !SeesImages(in, s)) return 0;
  const ProfileSizes& z = in.sizes;
  return ForwardTokens(in, s) * z.patches_per_token * 2 *
         (4.0 * static_cast<double>(z.tower_hidden) +
          2.0 * static_cast<double>(z.tower_intermediate));
}

Bytes Activation(const MemoryInput& in, const ServingSettings& s) {
  const double forward = ForwardBytes(in, s);
  // Since 0.17 experts share a workspace that stays (v1/worker/workspace.py,
  // which their kernels came to use one by one), before and in MXFP4's kernels
  // it is the forward's alone.
  const double experts = ExpertBytes(in, s) * 0.8;
  const bool does_stay = Since(s, 17) && !in.sizes.are_experts_fused;
  // Only the last stage samples; the forward decides on the others.
  const double sampler = s.pipeline_parallel > 1 || s.is_pooling
                             ? 0
                             : SamplerBytes(in, s) + HeldBytes(in, s);
  double peak = does_stay ? std::max(sampler, forward) + experts
                          : std::max(sampler, forward + experts);
  if (in.sizes.is_latent) peak += 0.45 * kGib * ForwardTokens(in, s) / 8192;
  // The encoder's outputs are kept while the text model runs.
  if (SeesImages(in, s)) peak += 0.2 * kGib;
  peak = std::max({peak, EncoderBytes(in, s), forward + LatentBytes(in, s)});
  return About(peak, 0.12, 0.25, "the profile run's sampler and forward");
}

Bytes NonTorch(const MemoryInput& in, const ServingSettings& s) {
  const bool is_split = s.tensor_parallel > 1;
  double gib = 0;
  double below = is_split ? 0.5 : 0.15;
  double above = below;
  if (!in.is_v1) {
    gib = is_split ? 0.35 : 0.05;
  } else if (!is_split) {
    // Medians of tools/fit/vllm_memory.py, here and below.
    gib = s.pipeline_parallel > 1 ? 0.07
          : Since(s, 18)          ? 0.25
          : Since(s, 11)          ? 0.13
                                  : 0.05;
  } else if (in.has_fast_links) {
    // NCCL's, custom all-reduce's and FlashInfer's buffers over NVLink.
    if (Since(s, 18)) {
      gib = s.tensor_parallel > 2 ? 2.17 : 2.07;
    } else {
      gib = Since(s, 10, 2) ? 1.38 : 0.55;
    }
  } else {
    // Over PCIe: 0.1 at 0.16 (two L40S), 1.7 at 0.27 (four RTX PRO 6000).
    gib = Since(s, 20) ? 1.0 : 0.3;
    above = Since(s, 20) ? 0.9 : 0.5;
    below = gib;
  }
  if (in.is_unified) {
    // What the process itself holds counts, for it is the same memory: starts
    // on GB10 at 0.13 to 0.27 took 1.9 to 3.9 GiB beside weights and the peak.
    gib += 2.7;
    above += 2.5;
    below += 1.2;
    if (is_split) {
      // One such chip a machine: ranks meet over the network. Two starts of
      // MiniMax-M2.7 took some 9 GiB more than theirs of one rank.
      gib += 5;
      above += 5;
      below += 4;
    }
  }
  return Bytes::Estimated(
      gib * kGib, std::max(0.0, gib - below) * kGib, (gib + above) * kGib,
      in.is_unified ? "the driver, NCCL, kernels and the process"
                    : "the driver, NCCL and kernels, by release");
}

// Sizes of batch that are captured where the launch lists none.
double GraphSizes(const ServingSettings& s) {
  if (!s.cudagraph_sizes.empty()) {
    return static_cast<double>(s.cudagraph_sizes.size());
  }
  const int64_t most = std::min<int64_t>(2 * s.max_num_seqs, 512);
  if (most <= 0) return 0;
  // 1, 2, 4, then every 8 to 256, every 16 beyond.
  const int64_t small = std::min<int64_t>(3, most);
  const int64_t eights = std::min<int64_t>(most, 256) / 8;
  const int64_t sixteens = std::max<int64_t>(0, most - 256) / 16;
  return static_cast<double>(small + eights + sixteens);
}

Bytes Graphs(const MemoryInput& in, const ServingSettings& s) {
  if (s.enforce_eager || s.cudagraph_mode == "NONE") {
    return Bytes::Exact(0, "no graphs are captured");
  }
  // Fitted on 51 sizes of an H100 at 0.19: 0.38 GiB and 0.0165 a layer of
  // one stage.
  const double layers =
      static_cast<double>(in.sizes.layers) /
      static_cast<double>(std::max<int64_t>(s.pipeline_parallel, 1));
  const double gib = (0.38 + 0.0165 * layers) * GraphSizes(s) / 51;
  // 66 published starts: 90 % of what capturing took lies between 0.47 and 2.02
  // of this (0.86 with each source left out, so a little more is stated).
  return About(gib * kGib, 0.55, 1.1, "graphs of every size that is captured");
}

Bytes Minus(const Bytes& from, const std::vector<Bytes>& parts) {
  double value = from.any().value().value_or(0);
  double low = from.any().low().value_or(value);
  double high = from.any().high().value_or(value);
  double below = value - low;
  double above = high - value;
  below *= below;
  above *= above;
  for (const Bytes& part : parts) {
    if (part.any().is_unknown() || !part.any().value()) {
      return Bytes::Unknown(part.any().missing().empty()
                                ? "one of its terms"
                                : part.any().missing().front());
    }
    const double each = *part.any().value();
    value -= each;
    const double up = part.any().high().value_or(each) - each;
    const double down = each - part.any().low().value_or(each);
    below += up * up;  // independent errors
    above += down * down;
  }
  return Bytes::Estimated(value, value - std::sqrt(below),
                          value + std::sqrt(above), "what is left");
}

}  // namespace

MemoryAccount AccountMemory(const MemoryInput& in, const ServingSettings& s) {
  MemoryAccount out;
  const AnyFigure& total = in.total.any();
  const double gmu = s.gpu_memory_utilization;
  if (total.is_unknown() || !total.value()) {
    out.requested = Bytes::Unknown("the card's memory");
  } else {
    const double value = *total.value();
    out.requested =
        Bytes::Estimated(value * gmu, total.low().value_or(value) * gmu,
                         total.high().value_or(value) * gmu,
                         "the card's memory x gpu_memory_utilization");
  }
  out.weights = in.weights;
  out.activation = Activation(in, s);
  out.non_torch = NonTorch(in, s);
  out.graphs = Graphs(in, s);
  const std::string* off = nullptr;
  for (const auto& [name, value] : s.environment) {
    if (name == "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS") off = &value;
  }
  const bool is_estimated =
      in.is_v1 && Since(s, 21) && (off == nullptr || *off != "0");
  if (is_estimated && !out.graphs.any().is_exact()) {
    // Estimates ran from 0.8 to 2.4 times what capturing took.
    const double value = out.graphs.any().value().value_or(0);
    out.graph_estimate = About(value * 1.2, 0.6, 1.2, "vLLM's own estimate");
  } else {
    out.graph_estimate = Bytes::Exact(0, "graphs come on top of the budget");
  }
  if (s.kv_cache_memory_bytes) {
    out.cache = Bytes::Exact(*s.kv_cache_memory_bytes, "kv_cache_memory_bytes");
    out.assumptions.emplace_back(
        "kv_cache_memory_bytes is given: nothing is profiled");
    return out;
  }
  if (out.requested.any().is_unknown()) {
    out.cache = Bytes::Unknown("the card's memory");
    return out;
  }
  out.cache = Minus(out.requested, {out.weights, out.activation, out.non_torch,
                                    out.graph_estimate});
  // Of 40 starts of packed weights the farthest count was a tenth too small
  // (two four-bit files that keep more than their name says), none was more
  // than 0.013 too large.
  constexpr double kMargin = 0.04;
  if (in.is_packed) {
    out.doubt = out.requested.any().value().value_or(0) * kMargin;
  }
  out.assumptions.emplace_back(
      "nothing else uses the card, and compiled code is found in its cache");
  return out;
}

FitVerdict FitOf(const MemoryAccount& account, int64_t needed_bytes) {
  const AnyFigure& cache = account.cache.any();
  if (cache.is_unknown() || !cache.low() || !cache.high()) {
    return FitVerdict::kCannotTell;
  }
  const auto needed = static_cast<double>(std::max<int64_t>(needed_bytes, 1));
  if (*cache.low() >= needed) return FitVerdict::kFits;
  if (*cache.high() + account.doubt < needed) return FitVerdict::kDoesNotFit;
  return FitVerdict::kCannotTell;
}

}  // namespace foretell::vllm
