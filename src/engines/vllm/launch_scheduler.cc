// Batches, chunks, caches and adapters: vllm/config/scheduler.py, cache.py,
// lora.py, and the defaults by card of vllm/engine/arg_utils.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

struct BatchDefaults {
  int64_t tokens = 2048;
  int64_t sequences = 256;
};

// EngineArgs.get_batch_defaults, of a server. The third class of cards came
// between 0.26.0 and 0.28.0. 0.7.0 to 0.8.4 went by the card's name, 0.8.5 by
// its memory alone; A100s are left out since 0.9.0.
BatchDefaults DefaultsOf(const State& state) {
  const ServingCard& card = *state.in->card;
  std::string name = card.full.empty() ? card.name : card.full;
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (!state.Since(0, 8, 5)) {
    const bool hopper = name.find("h100") != std::string::npos ||
                        name.find("h200") != std::string::npos;
    // Every card had 1024 sequences in 0.8.0, before cards were told apart.
    const bool many = state.Since(0, 8) && (hopper || !state.Since(0, 8, 1));
    return {hopper && state.Since(0, 7) ? 8192 : 2048, many ? 1024 : 256};
  }
  if (state.Since(0, 28) && card.driver_bytes >= 160 * kGib) {
    return {16384, 1024};
  }
  // GB10: NVML knows no total of it (platforms/cuda.py, which then falls back
  // to one of 0), and since 0.33 it is named.
  const bool small = card.capability == 121;
  if (card.driver_bytes >= 70 * kGib && !small &&
      (name.find("a100") == std::string::npos || !state.Since(0, 9))) {
    return {8192, 1024};
  }
  return {2048, 256};
}

void AdapterSize(State& state, AdapterSettings& lora) {
  if (lora.max_loras < 1) {
    state.Refuse("lora", "max_loras",
                 fmt::format("--max-loras is {}", lora.max_loras),
                 "at least one is required", "--max-loras 1");
    return;
  }
  if (lora.max_cpu_loras < lora.max_loras) {
    state.Refuse("lora", "max_cpu_loras",
                 fmt::format("--max-cpu-loras {} is less than --max-loras {}",
                             lora.max_cpu_loras, lora.max_loras),
                 "every adapter of a batch is held on the host as well",
                 fmt::format("--max-cpu-loras {}", lora.max_loras));
  }
}

void BatchV1(State& state) {
  ServingSettings& out = state.settings();
  const BatchDefaults defaults = DefaultsOf(state);
  const auto tokens = state.Number("max_num_batched_tokens");
  const auto sequences = state.Number("max_num_seqs");
  out.max_num_batched_tokens = tokens.value_or(defaults.tokens);
  out.max_num_seqs = sequences.value_or(defaults.sequences);
  if (!tokens && state.Since(0, 20) && out.expert_parallel &&
      out.data_parallel > 1 &&
      (state.all2all == "deepep_low_latency" || state.all2all == "nixl_ep")) {
    out.max_num_batched_tokens = 256;
  }
  if (state.Text("performance_mode") == "throughput") {
    if (!tokens) out.max_num_batched_tokens *= 2;
    if (!sequences) out.max_num_seqs *= 2;
  }
  if (!tokens) {
    if (!out.enable_chunked_prefill) {
      out.max_num_batched_tokens =
          std::max(out.max_model_len, out.max_num_batched_tokens);
    }
    if (state.Since(0, 9)) {
      out.max_num_batched_tokens = std::min(
          out.max_num_seqs * out.max_model_len, out.max_num_batched_tokens);
    }
  }
  if (!sequences) {
    out.max_num_seqs = std::min(out.max_num_seqs, out.max_num_batched_tokens);
  }
}

}  // namespace

void ResolveCaching(State& state) {
  ServingSettings& out = state.settings();
  out.is_v1 = IsV1(state);
  if (!out.is_v1) return CachingV0(state);
  bool chunks = true;
  bool prefixes = true;
  if (out.is_pooling) {
    if (state.attn_type == "encoder_only") {
      chunks = prefixes = false;
    } else if (state.attn_type == "decoder") {
      chunks = prefixes = state.seq_pooling != "MEAN" &&
                          state.seq_pooling != "CLS" &&
                          state.tok_pooling != "STEP";
    } else {
      chunks = state.attn_type != "encoder_decoder";
      prefixes = false;
    }
  } else {
    chunks = state.attn_type != "encoder_decoder";
    prefixes = state.attn_type == "decoder" ||
               (state.attn_type == "hybrid" && state.Since(0, 26));
  }
  out.enable_chunked_prefill =
      state.Choice("enable_chunked_prefill").value_or(chunks);
  out.enable_prefix_caching =
      state.Choice("enable_prefix_caching").value_or(prefixes);
  // Several partial prefills at once were never brought to V1.
  const auto several = state.Number("max_num_partial_prefills");
  if (several && *several != 1) {
    state.Refuse("batch-limits", "max_num_partial_prefills",
                 fmt::format("--max-num-partial-prefills {}", *several),
                 "it ends with \"Concurrent Partial Prefill is not "
                 "supported\"",
                 "leave it out");
  }
}

void ResolveCache(State& state) {
  ServingSettings& out = state.settings();
  if (const ConfigValue* share = state.Flag("gpu_memory_utilization")) {
    out.gpu_memory_utilization = share->AsReal().value_or(0.9);
  }
  if (!(out.gpu_memory_utilization > 0 && out.gpu_memory_utilization <= 1)) {
    state.Refuse(
        "memory-settings", "gpu_memory_utilization",
        fmt::format("--gpu-memory-utilization {}", out.gpu_memory_utilization),
        "it must lie above 0 and not above 1", "--gpu-memory-utilization 0.9");
  }
  out.cache_dtype = state.Text("kv_cache_dtype");
  if (out.cache_dtype.empty()) out.cache_dtype = "auto";
  const std::vector<std::string>& known =
      state.facts().lists.contains("kv_cache_dtypes")
          ? state.facts().lists.find("kv_cache_dtypes")->second
          : std::vector<std::string>();
  if (!known.empty() &&
      std::ranges::find(known, out.cache_dtype) == known.end()) {
    state.Refuse("kv-cache-dtype", "kv_cache_dtype",
                 fmt::format("vLLM {} has no KV cache of {}",
                             state.facts().version.ToString(), out.cache_dtype),
                 "it ends with \"Invalid kv_cache_dtype\"",
                 "--kv-cache-dtype auto");
  }
  if (out.cache_dtype == "auto" && state.quantization_config) {
    const ConfigValue& config = *state.quantization_config;
    const ConfigValue* method = config.Find("quant_method");
    if (method != nullptr &&
        method->AsString().value_or("").starts_with("modelopt")) {
      const ConfigValue* inner = config.Find("quantization");
      const ConfigValue& part = inner == nullptr ? config : *inner;
      const ConfigValue* algo = part.Find("kv_cache_quant_algo");
      const ConfigValue* scheme = part.Find("kv_cache_scheme");
      if (scheme == nullptr) scheme = config.Find("kv_cache_scheme");
      std::string name =
          algo == nullptr ? "" : std::string(algo->AsString().value_or(""));
      if (scheme != nullptr && scheme->is_object()) {
        const ConfigValue* bits = scheme->Find("num_bits");
        const int64_t n = bits == nullptr ? 0 : bits->AsInteger().value_or(0);
        name = n == 8 ? "FP8" : n == 4 ? "NVFP4" : "";
      }
      if (name == "FP8" || name == "fp8") out.cache_dtype = "fp8_e4m3";
      if ((name == "NVFP4" || name == "nvfp4") && state.Since(0, 20)) {
        out.cache_dtype = "nvfp4";
      }
    }
  }
  state.user_block_size = state.Number("block_size");
  if (state.user_block_size) {
    state.block_size = *state.user_block_size;
    out.block_size = state.user_block_size;
  }
  if (state.block_size < 1) {
    state.Refuse("other", "block_size",
                 fmt::format("--block-size {}", state.block_size),
                 "a positive size is required", "--block-size 16");
  }
  out.num_gpu_blocks_override = state.Number("num_gpu_blocks_override");
  out.kv_cache_memory_bytes = state.Number("kv_cache_memory_bytes");
  const ConfigValue* offload = state.Flag("cpu_offload_gb");
  out.cpu_offload_gib = offload == nullptr ? 0 : offload->AsReal().value_or(0);
  const ConfigValue* swap = state.Flag("swap_space");
  out.swap_space_gib = swap == nullptr ? 0 : swap->AsReal().value_or(0);
  if (const std::string t = state.Text("mamba_cache_dtype"); !t.empty()) {
    out.mamba_cache_dtype = t;
  }
  if (const std::string t = state.Text("mamba_ssm_cache_dtype"); !t.empty()) {
    out.mamba_ssm_cache_dtype = t;
  }
  // The flag has no effect since caching of prefixes decides (0.33).
  if (const std::string t = state.Text("mamba_cache_mode");
      !t.empty() && !state.Since(0, 33)) {
    out.mamba_cache_mode = t;
  }
  out.mamba_block_size = state.Number("mamba_block_size");
  // The engine's cache is one window only where every layer slides.
  const ConfigValue* kinds = state.text.Get("layer_types");
  const bool has_kinds =
      kinds != nullptr || (state.text.HasAttribute("layer_types") &&
                           state.text.HasAttribute("use_sliding_window"));
  bool all_slide = has_kinds && kinds != nullptr && !kinds->items().empty();
  bool mixed = false;
  if (kinds != nullptr) {
    for (const ConfigValue& kind : kinds->items()) {
      all_slide = all_slide && kind.AsString() == "sliding_attention";
      mixed = mixed || !(kind == kinds->items().front());
    }
  } else if (state.text.HasAttribute("layer_types") &&
             state.text.HasAttribute("sliding_window")) {
    mixed = true;  // the class fills them in, of both kinds
  }
  mixed = mixed || state.text.model_type() == "modernbert";
  const bool one =
      state.Since(0, 27) ? (!has_kinds && !mixed) || all_slide : !mixed;
  if (one) state.cache_sliding_window = state.sliding_window;
  if (out.disable_sliding_window) state.cache_sliding_window.reset();
}

void ResolveScheduler(State& state) {
  ServingSettings& out = state.settings();
  if (out.is_v1) {
    BatchV1(state);
  } else {
    BatchV0(state);
  }
  // What SchedulerConfig changes and refuses.
  state.long_prefill = state.Number("long_prefill_token_threshold").value_or(0);
  state.disable_chunked_mm = state.Truth("disable_chunked_mm_input");
  if (out.is_encoder_decoder) {
    state.disable_chunked_mm = true;
    out.enable_chunked_prefill = false;
    state.long_prefill = 0;
  }
  if (out.max_num_batched_tokens < 1 || out.max_num_seqs < 1) {
    state.Refuse("batch-limits", "max_num_seqs",
                 fmt::format("{} batched tokens and {} sequences",
                             out.max_num_batched_tokens, out.max_num_seqs),
                 "at least one of each is required", "--max-num-seqs 1");
    return;
  }
  if (state.Number("stream_interval").value_or(1) < 1) {
    state.Refuse(
        "batch-limits", "stream_interval",
        fmt::format("--stream-interval {}", *state.Number("stream_interval")),
        "at least 1 is required", "--stream-interval 1");
  }
  if (out.max_num_batched_tokens < out.max_model_len &&
      !out.enable_chunked_prefill && state.Since(0, 2)) {
    state.Refuse("context-length", "max_num_batched_tokens",
                 fmt::format("{} batched tokens are fewer than the length {}, "
                             "and prefills are not cut",
                             out.max_num_batched_tokens, out.max_model_len),
                 "longer prompts could never run",
                 fmt::format("--max-num-batched-tokens {}", out.max_model_len));
  }
  if (out.max_num_batched_tokens < out.max_num_seqs) {
    state.Refuse("batch-limits", "max_num_batched_tokens",
                 fmt::format("{} batched tokens for {} sequences",
                             out.max_num_batched_tokens, out.max_num_seqs),
                 "each sequence needs one",
                 fmt::format("--max-num-seqs {}", out.max_num_batched_tokens));
  }
  if (state.long_prefill > out.max_model_len) {
    state.Refuse("batch-limits", "long_prefill_token_threshold",
                 fmt::format("a threshold of {} tokens past the length {}",
                             state.long_prefill, out.max_model_len),
                 "it is refused", "");
  }
}

void ResolveLora(State& state) {
  if (!state.Truth("enable_lora")) return;
  ServingSettings& out = state.settings();
  AdapterSettings lora;
  lora.max_rank = state.Number("max_lora_rank").value_or(16);
  lora.max_loras = state.Number("max_loras").value_or(1);
  const auto host = state.Number("max_cpu_loras");
  lora.max_cpu_loras = host && *host > 0 ? *host : lora.max_loras;
  lora.fully_sharded = state.Truth("fully_sharded_loras");
  lora.dtype = state.Text("lora_dtype");
  if (lora.dtype.empty() || lora.dtype == "auto") lora.dtype = out.dtype;
  AdapterSize(state, lora);
  out.lora = lora;
  if (out.speculative && out.max_num_batched_tokens <
                             out.max_num_seqs * (out.speculative->tokens + 1)) {
    state.Refuse("batch-limits", "max_num_batched_tokens",
                 fmt::format("{} batched tokens for {} sequences of {} drafted "
                             "tokens, with adapters",
                             out.max_num_batched_tokens, out.max_num_seqs,
                             out.speculative->tokens),
                 "every sequence's drafts must fit into one batch",
                 fmt::format("--max-num-batched-tokens {}",
                             out.max_num_seqs * (out.speculative->tokens + 1)));
  }
}

}  // namespace foretell::vllm
