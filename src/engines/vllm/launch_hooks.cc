// The attention backend that is asked for, and what a model's class changes of
// the configuration: vllm/config/attention.py,
// vllm/model_executor/models/config.py, VllmConfig.__post_init__.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/nearest.h"
#include "engines/vllm/kv_layers.h"
#include "engines/vllm/kv_rules.h"
#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

bool HasHook(const State& state, std::string_view name) {
  const auto found = state.facts().lists.find("model_config_hooks");
  if (found == state.facts().lists.end()) return false;
  const std::string prefix = state.arch_name + "=";
  return std::ranges::any_of(found->second, [&](const std::string& one) {
    return one.starts_with(prefix) &&
           one.find(name, prefix.size()) != std::string::npos;
  });
}

// Layers of one model whose heads differ in width (Gemma 4).
bool MixedHeads(const HfConfig& text) {
  const auto head = text.Integer("head_dim");
  const auto global = text.Integer("global_head_dim");
  return head && global && *head != *global;
}

void Gemma4(State& state) {
  if (!MixedHeads(state.text)) return;
  std::string& backend = state.settings().attention_backend;
  const int capability = state.in->card->capability;
  if (!state.Since(0, 20)) {
    if (backend.empty()) backend = "TRITON_ATTN";
    return;
  }
  // FlashAttention 4 runs on compute capability 9.0 and 10.x.
  const bool fa4 = capability == 90 || capability / 10 == 10;
  if (fa4) {
    const bool own =
        capability == 90 && state.settings().cache_dtype.starts_with("fp8");
    if ((backend.empty() || backend == "FLASH_ATTN") && !own &&
        !state.flash_attn_version) {
      state.flash_attn_version = 4;
    }
  } else if (backend.empty()) {
    backend = "TRITON_ATTN";
  }
}

void Mamba(State& state) {
  ServingSettings& out = state.settings();
  if (out.enable_prefix_caching) {
    if (out.mamba_cache_mode == "none") {
      const bool all = !state.Since(0, 28) && state.arch != nullptr &&
                       state.arch->Is("mamba-prefix-caching");
      out.mamba_cache_mode = all ? "all" : "align";
    }
    if (!out.enable_chunked_prefill) {
      state.Refuse("batch-limits", "enable_chunked_prefill",
                   "caching of prefixes of a state model cuts prefills",
                   "it ends with \"Chunked prefill is required\"",
                   "--enable-chunked-prefill");
    }
    // A block that keeps a state at its end is sized with attention's.
    const bool later = out.is_hybrid && out.mamba_cache_mode == "all";
    if (!out.mamba_block_size && !later) {
      out.mamba_block_size = state.block_size;
    }
  } else {
    out.mamba_cache_mode = "none";
    if (!out.mamba_block_size) out.mamba_block_size = out.max_model_len;
  }
}

// HybridAttentionMambaModelConfig of 0.19: a page of attention is made as large
// as a state, and the state's page padded to it. Later versions do so as the
// worker starts.
void AlignPages(State& state) {
  ServingSettings& out = state.settings();
  const EngineVersion& version = state.facts().version;
  const KvLayers layers = ReadKvLayers(state.out->model, out, *state.in->card,
                                       RulesOf({version.minor, version.patch}));
  if (!layers.fault.empty()) return;
  state.block_size = layers.block_size;
  if (layers.are_states_kept) out.mamba_block_size = layers.block_size;
  for (const KvLayer& layer : layers.layers) {
    if (layer.spec.kind != KvKind::kState || layer.spec.padded_page == 0) {
      continue;
    }
    state.mamba_page_size_padded = layer.spec.padded_page;
  }
}

}  // namespace

void ResolveAttention(State& state) {
  std::string backend = state.Text("attention_backend");
  if (const ConfigValue* config = state.Flag("attention_config");
      config != nullptr && config->Find("backend") != nullptr) {
    const std::string inner(config->Find("backend")->AsString().value_or(""));
    if (!backend.empty() && !inner.empty()) {
      state.Refuse("attention-backend", "attention_backend",
                   "the attention backend is set twice",
                   "--attention-backend and --attention-config.backend exclude "
                   "each other",
                   fmt::format("--attention-backend {}", inner));
    }
    if (backend.empty()) backend = inner;
  }
  for (char& c : backend) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (backend == "AUTO") backend.clear();
  const auto known = state.facts().lists.find("attention_backends");
  if (!backend.empty() && known != state.facts().lists.end() &&
      std::ranges::find(known->second, backend) == known->second.end()) {
    const std::vector<std::string_view> names(known->second.begin(),
                                              known->second.end());
    const auto near = NearestNames(backend, names, 1);
    state.Refuse("attention-backend", "attention_backend",
                 fmt::format("vLLM {} has no attention backend {}",
                             state.facts().version.ToString(), backend),
                 "it ends with \"Unknown attention backend\"",
                 near.empty() ? "leave it out"
                              : fmt::format("--attention-backend {}", near[0]));
  }
  state.settings().attention_backend = backend;
  state.settings().moe_backend = state.Text("moe_backend");
  const std::string& cache = state.settings().cache_dtype;
  if (cache.starts_with("turboquant_") || cache == "ultraquant_4bit") {
    state.flash_attn_version = 2;
  }
  if (state.Truth("enable_dbo") && state.all2all != "deepep_low_latency" &&
      state.all2all != "deepep_high_throughput" && state.all2all != "nixl_ep") {
    state.Refuse("attention-backend", "enable_dbo",
                 fmt::format("--enable-dbo with {}", state.all2all),
                 "microbatches need the DeepEP or NIXL kernels",
                 "--all2all-backend deepep_low_latency");
  }
}

void ResolveHooks(State& state) {
  ServingSettings& out = state.settings();
  const std::string& arch = state.arch_name;
  // The tokenizer that a class brings.
  state.tokenizer_mode = state.Text("tokenizer_mode");
  if (state.tokenizer_mode.empty()) state.tokenizer_mode = "auto";
  if (state.tokenizer_mode == "auto") {
    if (arch == "DeepseekV32ForCausalLM") {
      state.tokenizer_mode = "deepseek_v32";
    } else if (state.Since(0, 20) && arch.starts_with("DeepseekV4For")) {
      state.tokenizer_mode = "deepseek_v4";
    } else if (arch == "DeepseekV41ForCausalLM") {
      state.tokenizer_mode = "deepseek_v41";
    } else if (arch == "KimiK3ForConditionalGeneration") {
      state.tokenizer_mode = "kimi_k3";
    } else if (arch == "MoonshotKimiaForCausalLM") {
      state.tokenizer_mode = "kimi_audio";
    } else if (arch.starts_with("InklingFor")) {
      state.tokenizer_mode = "inkling";
    } else if (arch == "Grok1ForCausalLM") {
      state.tokenizer_mode = "grok2";
    } else if (arch == "QwenVLForConditionalGeneration") {
      state.tokenizer_mode = "qwen_vl";
    }
  }
  const int family = state.in->card->capability / 10;
  if (HasHook(state, "Gemma4Config")) Gemma4(state);
  if (HasHook(state, "DeepseekV32ForCausalLM") &&
      out.cache_dtype == "bfloat16") {
    out.cache_dtype = "auto";
  }
  if (HasHook(state, "GlmMoeDsaForCausalLM") && out.cache_dtype == "auto" &&
      family == 10) {
    out.cache_dtype = "fp8_e4m3";
  }
  if (HasHook(state, "Glm5NextModelConfig") && out.cache_dtype == "auto" &&
      family == 10 && state.text.Get("index_topk") != nullptr) {
    out.cache_dtype = "fp8";
  }
  if (HasHook(state, "NemotronHForCausalLMConfig") &&
      out.mamba_ssm_cache_dtype == "auto") {
    const std::string said = state.config.Text("mamba_ssm_cache_dtype");
    out.mamba_ssm_cache_dtype = !said.empty()        ? said
                                : state.Since(0, 20) ? "float32"
                                                     : "float16";
  }
  if ((HasHook(state, "Qwen3_5For") || HasHook(state, "ColQwen3_5")) &&
      out.mamba_ssm_cache_dtype == "auto") {
    const std::string said = state.text.Text("mamba_ssm_dtype");
    if (!said.empty()) out.mamba_ssm_cache_dtype = said;
  }
  if (HasHook(state, "GptOssForCausalLMConfig")) state.graph_limit = 1024;
  const std::string& cache = out.cache_dtype;
  if ((cache == "float16" || cache == "bfloat16") && state.Since(0, 33) &&
      cache != out.dtype) {
    state.Refuse("kv-cache-dtype", "kv_cache_dtype",
                 fmt::format("a KV cache of {} beside {}", cache, out.dtype),
                 "the attention kernels take the model's own precision",
                 "--kv-cache-dtype auto");
  }
  if (out.is_hybrid || HasHook(state, "MambaModelConfig")) Mamba(state);
  if (out.is_hybrid && !state.Since(0, 20)) AlignPages(state);
  if (out.mamba_block_size && !out.enable_prefix_caching &&
      *out.mamba_block_size != out.max_model_len &&
      state.Given("mamba_block_size")) {
    state.Refuse("batch-limits", "mamba_block_size",
                 "--mamba-block-size without caching of prefixes",
                 "it is refused", "--enable-prefix-caching");
  }
  if (out.lora && state.arch != nullptr && !state.arch->Is("lora")) {
    if (state.Since(0, 33)) {
      state.Refuse("lora", "enable_lora",
                   fmt::format("{} takes no adapters", arch),
                   "its class does not implement SupportsLoRA",
                   "leave --enable-lora out");
    } else {
      state.Warn(
          "lora", "enable_lora", fmt::format("{} takes no adapters", arch),
          "the start ends as the model is loaded", "leave --enable-lora out");
    }
  }
  out.async_scheduling = true;
  if (out.speculative) {
    const std::string& method = out.speculative->method;
    // The runner of 0.33 takes them all; a draft model was taken from 0.28.
    const bool bars = !state.Since(0, 33) &&
                      (method == "ngram" || method == "medusa" ||
                       method == "mlp_speculator" || method == "suffix" ||
                       (method == "draft_model" && !state.Since(0, 28)));
    if (bars) out.async_scheduling = false;
  }
  if (out.is_pooling && state.Since(0, 20)) out.async_scheduling = false;
  // RayExecutorV2, the default since 0.21, is one of several processes.
  if (state.executor == "ray" && !state.Since(0, 21)) {
    out.async_scheduling = false;
  }
  out.async_scheduling =
      state.Choice("async_scheduling").value_or(out.async_scheduling);
  const bool chunked_local = state.text.Get("attention_chunk_size") != nullptr;
  const auto hybrid = state.Choice("disable_hybrid_kv_cache_manager");
  const bool needs =
      chunked_local &&
      !(state.Environment(
          "VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE")) &&
      state.in->launch->Environment(
          "VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE") != nullptr;
  const bool transfers =
      state.Flag("kv_transfer_config") != nullptr && !state.Since(0, 22);
  out.disable_hybrid_kv_cache_manager = hybrid.value_or(needs || transfers);
  if (state.prefix_lm && out.is_multimodal) state.disable_chunked_mm = true;
  out.enforce_eager = state.Truth("enforce_eager");
  out.skip_mm_profiling = state.Truth("skip_mm_profiling");
  out.language_model_only = state.Truth("language_model_only");
  if (const ConfigValue* limit = state.Flag("limit_mm_per_prompt")) {
    for (const auto& [name, value] : limit->members()) {
      const ConfigValue* count =
          value.is_object() ? value.Find("count") : &value;
      if (count != nullptr) {
        out.limit_mm_per_prompt.emplace_back(name,
                                             count->AsInteger().value_or(0));
      }
    }
  }
}

}  // namespace foretell::vllm
