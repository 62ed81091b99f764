// The first engine of vLLM: when it runs, and its defaults.
//
// Before 0.8.0 it ran unless VLLM_USE_V1=1 asked for the second; from 0.8.0 to
// 0.10.2 it took what the second could not do yet; it left with 0.11.0.
// Follows EngineArgs._is_v1_supported_oracle and _set_default_args_v0 of
// vllm/engine/arg_utils.py (0.8.0, 0.8.4, 0.9.0.1, 0.9.1, 0.9.2, 0.10.0,
// 0.10.1.1, 0.10.2), create_engine_config and SchedulerConfig of 0.1.7 to
// 0.7.3, and vllm/worker/model_runner.py for its graphs.
//
// Does not model: flags that moved a launch to the first engine and that few
// people set (logits processors, plugins, background threads).
#include <algorithm>
#include <string>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

// Methods of drafting: empty where the launch drafts nothing.
std::string DraftMethod(const State& state) {
  const ConfigValue* config = state.Flag("speculative_config");
  if (config != nullptr && config->is_object()) {
    for (const std::string_view key : {"method", "model"}) {
      const ConfigValue* value = config->Find(key);
      std::string text(value == nullptr ? "" : value->AsString().value_or(""));
      if (!text.empty()) return text;
    }
    return "draft";
  }
  return state.Text("speculative_model");
}

// Whether the second engine could draft so, in 0.8 to 0.9.2.
bool DraftsInV1(const State& state, const std::string& method) {
  const bool ngram = method == "ngram" || method == "[ngram]";
  const bool own = method.starts_with("eagle") || method == "medusa" ||
                   method == "mtp" || method == "deepseek_mtp";
  // Until 0.9 both fell back unless they were asked for.
  return state.Since(0, 9) && (ngram || own);
}

// A KV cache of fp8 needs FlashAttention 3, which only Hopper runs.
bool CachesInV1(const State& state) {
  const std::string cache = state.Text("kv_cache_dtype");
  if (cache.empty() || cache == "auto") return true;
  if (!state.Since(0, 8, 4)) return false;
  return cache.starts_with("fp8") &&
         (state.in->card->capability == 90 || state.Since(0, 10));
}

bool FallsBack(const State& state) {
  const ServingSettings& out = state.out->settings;
  const std::string* backend =
      state.in->launch->Environment("VLLM_ATTENTION_BACKEND");
  const int capability = state.in->card->capability;
  if (capability > 0 && capability < 80 && !state.Since(0, 10, 2)) return true;
  if (!CachesInV1(state)) return true;
  if (backend != nullptr && *backend == "XFORMERS") return true;
  for (const std::string_view flag :
       {"num_scheduler_steps", "max_num_partial_prefills"}) {
    if (state.Number(flag).value_or(1) > 1) return true;
  }
  if (!state.Text("preemption_mode").empty()) return true;
  if (!state.Since(0, 9, 2)) {
    if (out.dtype != "bfloat16" && out.dtype != "float16") {
      return !state.Since(0, 9, 2);
    }
    if (out.is_pooling) return true;
    const std::string draft = DraftMethod(state);
    if (!draft.empty() && !DraftsInV1(state, draft)) return true;
  }
  if (!state.Since(0, 9) && out.quantization == "gguf") return true;
  if (!state.Since(0, 8, 1)) {
    const ConfigValue* offload = state.Flag("cpu_offload_gb");
    const bool offloads =
        offload != nullptr && offload->AsReal().value_or(0) > 0;
    if (out.quantization == "bitsandbytes" || offloads ||
        state.Truth("enable_lora")) {
      return true;
    }
  }
  const bool stages = state.Number("pipeline_parallel_size").value_or(1) > 1;
  if (stages && !state.Since(0, 9) &&
      state.Text("distributed_executor_backend") != "ray") {
    return true;
  }
  if (out.is_encoder_decoder) return true;
  // States of Mamba fell back until 0.10.2.
  return (out.is_hybrid || out.is_attention_free) && !state.Since(0, 10, 2);
}

}  // namespace

bool IsV1(const State& state) {
  if (state.Since(0, 11)) return true;
  const std::string* asked = state.in->launch->Environment("VLLM_USE_V1");
  if (!state.Since(0, 8)) {
    return asked != nullptr && *asked == "1" && state.Since(0, 6, 5);
  }
  if (asked != nullptr && (*asked == "0" || *asked == "1")) {
    return *asked == "1";
  }
  return !FallsBack(state);
}

void CachingV0(State& state) {
  ServingSettings& out = state.settings();
  // Lengths past 32K are prefilled in pieces since 0.5.3, where nothing
  // forbids it.
  constexpr int64_t kLong = 32768;
  const bool sees_more =
      out.is_multimodal || (out.use_mla && state.Since(0, 8));
  const bool bars =
      sees_more || state.sliding_window.has_value() ||
      !DraftMethod(state).empty() || state.Truth("enable_lora") ||
      out.is_pooling || out.is_encoder_decoder ||
      (!state.Since(0, 6) && state.Truth("enable_prefix_caching"));
  out.enable_chunked_prefill =
      state.Given("enable_chunked_prefill")
          ? state.Truth("enable_chunked_prefill")
          : state.Since(0, 5, 3) && out.max_model_len > kLong && !bars;
  out.enable_prefix_caching = state.Truth("enable_prefix_caching") &&
                              !(out.is_multimodal && state.Since(0, 8));
}

void BatchV0(State& state) {
  ServingSettings& out = state.settings();
  out.max_num_seqs = state.Number("max_num_seqs").value_or(256);
  const auto asked = state.Number("max_num_batched_tokens");
  if (asked) {
    out.max_num_batched_tokens = *asked;
    return;
  }
  if (out.enable_chunked_prefill) {
    const bool steps = state.Number("num_scheduler_steps").value_or(1) > 1;
    const int64_t piece = state.Since(0, 6, 5) ? 2048 : 512;
    out.max_num_batched_tokens =
        steps ? std::max<int64_t>(out.max_model_len, 2048) : piece;
  } else {
    out.max_num_batched_tokens = std::max<int64_t>(out.max_model_len, 2048);
  }
  // _POOLING_ and _MULTIMODAL_MODEL_MAX_NUM_BATCHED_TOKENS of vllm/config.py.
  if (out.is_pooling && state.Since(0, 6)) {
    out.max_num_batched_tokens =
        std::max<int64_t>(out.max_num_batched_tokens, 32768);
  }
  if (out.is_multimodal && state.Since(0, 6)) {
    out.max_num_batched_tokens = std::max<int64_t>(
        out.max_num_batched_tokens, state.Since(0, 6, 3) ? 5120 : 4096);
  }
}

void GraphsV0(State& state) {
  ServingSettings& out = state.settings();
  out.optimization_level = 0;
  out.compilation_mode = 0;
  out.cudagraph_sizes.clear();
  if (out.enforce_eager) {
    out.cudagraph_mode = "NONE";
    return;
  }
  // One whole graph for each size of a decode: 1, 2, 4 and every eighth.
  out.cudagraph_mode = "FULL";
  const int64_t most = std::min<int64_t>((out.max_num_seqs + 7) / 8 * 8, 256);
  for (const int64_t size : {1, 2, 4}) {
    if (size <= out.max_num_seqs) out.cudagraph_sizes.push_back(size);
  }
  for (int64_t size = 8; size <= most; size += 8) {
    out.cudagraph_sizes.push_back(size);
  }
  state.graph_limit = most;
}

}  // namespace foretell::vllm
