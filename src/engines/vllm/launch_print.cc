// The settings by the engine's own sections and names, as its configuration
// objects hold them: what `score engine_launches` compares.
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

ConfigValue Text(std::string_view text) {
  return ConfigValue::String(std::string(text));
}

ConfigValue TextOrNull(std::string_view text) {
  return text.empty() ? ConfigValue::Null() : Text(text);
}

ConfigValue Number(int64_t number) {
  return ConfigValue::Number(std::to_string(number));
}

ConfigValue NumberOrNull(std::optional<int64_t> number) {
  return number ? Number(*number) : ConfigValue::Null();
}

ConfigValue Truth(bool value) { return ConfigValue::Bool(value); }

ConfigValue List(const std::vector<std::string>& items) {
  ConfigValue out = ConfigValue::Array();
  for (const std::string& item : items) {
    out.mutable_items().push_back(Text(item));
  }
  return out;
}

class Printer {
 public:
  explicit Printer(const State& state)
      : state_(&state), s_(&state.settings()) {}

  void Run() {
    Put("model", Model());
    Put("cache", Cache());
    Put("parallel", Parallel());
    Put("scheduler", Scheduler());
    Put("compilation", Compilation());
    Put("passes", Passes());
    if (state_->Since(0, 12)) Put("attention", Attention());
    if (state_->Since(0, 14)) Put("kernel", Kernel());
    if (s_->lora) Put("lora", Lora());
    if (!state_->quantization_class.empty()) {
      Put("quant_config_class", Text(state_->quantization_class));
    }
    Put("optimization_level", Number(s_->optimization_level));
    if (New()) Put("use_v2_model_runner", Truth(true));
    Put("num_speculative_tokens",
        Number(s_->speculative ? s_->speculative->tokens : 0));
    std::string mode = state_->Text("performance_mode");
    if (mode.empty()) mode = "balanced";
    Put("performance_mode", Text(mode));
    Put("per_rank", PerRank());
  }

 private:
  bool New() const { return state_->Since(0, 20); }

  void Put(std::string_view name, ConfigValue value) {
    state_->out->resolved.Set(name, std::move(value));
  }

  ConfigValue Model() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("architectures", List(state_->architectures));
    out.Set("architecture", Text(state_->arch_name));
    out.Set("dtype", Text("torch." + s_->dtype));
    out.Set("max_model_len", Number(s_->max_model_len));
    out.Set("original_max_model_len", NumberOrNull(state_->user_max_len));
    out.Set("quantization", TextOrNull(s_->quantization));
    out.Set("runner_type", Text(state_->runner));
    out.Set("convert_type", Text(state_->convert));
    out.Set("is_multimodal_model", Truth(s_->is_multimodal));
    out.Set("is_hybrid", Truth(s_->is_hybrid));
    out.Set("is_attention_free", Truth(s_->is_attention_free));
    out.Set("is_encoder_decoder", Truth(s_->is_encoder_decoder));
    out.Set("use_mla", Truth(s_->use_mla));
    out.Set("disable_sliding_window", Truth(s_->disable_sliding_window));
    out.Set("disable_cascade_attn", Truth(true));
    out.Set("enforce_eager", Truth(s_->enforce_eager));
    out.Set("tokenizer_mode", Text(state_->tokenizer_mode));
    out.Set("max_logprobs",
            Number(state_->Number("max_logprobs").value_or(20)));
    out.Set("is_moe", Truth(s_->is_moe));
    std::string impl = state_->Text("model_impl");
    out.Set("model_impl", Text(impl.empty() ? "auto" : impl));
    out.Set("attn_type", Text(state_->attn_type));
    out.Set("sliding_window", s_->disable_sliding_window
                                  ? ConfigValue::Null()
                                  : NumberOrNull(state_->sliding_window));
    ConfigValue sampling = ConfigValue::Object();
    if (const ConfigValue* given = state_->Flag("override_generation_config")) {
      for (const std::string_view key :
           {"repetition_penalty", "presence_penalty", "frequency_penalty",
            "temperature", "top_k", "top_p", "min_p", "skip_special_tokens"}) {
        if (const ConfigValue* value = given->Find(key)) {
          sampling.Set(key, *value);
        }
      }
      if (const ConfigValue* value = given->Find("max_new_tokens")) {
        sampling.Set("max_tokens", *value);
      }
    }
    out.Set("derived_diff_sampling", std::move(sampling));
    return out;
  }

  ConfigValue Cache() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("block_size", Number(state_->block_size));
    out.Set("user_specified_block_size",
            Truth(state_->user_block_size.has_value()));
    const ConfigValue* share = state_->Flag("gpu_memory_utilization");
    out.Set("gpu_memory_utilization",
            share == nullptr ? ConfigValue::Number("0.9") : *share);
    out.Set("cache_dtype", Text(s_->cache_dtype));
    out.Set("enable_prefix_caching", Truth(s_->enable_prefix_caching));
    std::string hash = state_->Text("prefix_caching_hash_algo");
    out.Set("prefix_caching_hash_algo", Text(hash.empty() ? "sha256" : hash));
    out.Set("sliding_window", NumberOrNull(state_->cache_sliding_window));
    out.Set("mamba_block_size", NumberOrNull(s_->mamba_block_size));
    out.Set("mamba_cache_dtype", Text(s_->mamba_cache_dtype));
    out.Set("mamba_ssm_cache_dtype", Text(s_->mamba_ssm_cache_dtype));
    out.Set("mamba_page_size_padded",
            NumberOrNull(state_->mamba_page_size_padded));
    out.Set("mamba_cache_mode", Text(s_->mamba_cache_mode));
    out.Set("num_gpu_blocks_override",
            NumberOrNull(s_->num_gpu_blocks_override));
    if (!New()) {
      out.Set("calculate_kv_scales",
              Truth(state_->Truth("calculate_kv_scales")));
    }
    std::vector<std::string> skipped;
    if (const ConfigValue* layers =
            state_->Flag("kv_cache_dtype_skip_layers")) {
      for (const ConfigValue& item : layers->items()) {
        skipped.emplace_back(item.AsString().value_or(item.spelling()));
      }
    }
    // TurboQuant keeps two layers at either end in the model's precision.
    if (s_->cache_dtype.starts_with("turboquant_") && state_->layers > 4) {
      for (const int64_t layer :
           {int64_t{0}, int64_t{1}, state_->layers - 2, state_->layers - 1}) {
        skipped.push_back(std::to_string(layer));
      }
    }
    s_->kv_skip_layers = skipped;
    out.Set("kv_cache_dtype_skip_layers", List(skipped));
    out.Set("is_attention_free", Truth(s_->is_attention_free));
    return out;
  }

  ConfigValue Parallel() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("tensor_parallel_size", Number(s_->tensor_parallel));
    out.Set("pipeline_parallel_size", Number(s_->pipeline_parallel));
    out.Set("data_parallel_size", Number(s_->data_parallel));
    out.Set("data_parallel_size_local", Number(state_->data_parallel_local));
    out.Set("enable_expert_parallel", Truth(s_->expert_parallel));
    out.Set("world_size", Number(state_->world));
    out.Set("distributed_executor_backend", Text(state_->executor));
    out.Set("disable_custom_all_reduce",
            Truth(state_->Truth("disable_custom_all_reduce")));
    out.Set("decode_context_parallel_size",
            Number(s_->decode_context_parallel));
    out.Set("prefill_context_parallel_size",
            Number(s_->prefill_context_parallel));
    out.Set("all2all_backend", Text(state_->all2all));
    out.Set("enable_eplb", Truth(state_->Truth("enable_eplb")));
    out.Set("enable_dbo", Truth(state_->Truth("enable_dbo")));
    out.Set("worker_cls", Text("vllm.v1.worker.gpu_worker.Worker"));
    std::string backend = state_->Text("data_parallel_backend");
    out.Set("data_parallel_backend", Text(backend.empty() ? "mp" : backend));
    out.Set("nnodes", Number(state_->Number("nnodes").value_or(1)));
    return out;
  }

  ConfigValue Scheduler() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("max_num_batched_tokens", Number(s_->max_num_batched_tokens));
    out.Set("max_num_seqs", Number(s_->max_num_seqs));
    out.Set("enable_chunked_prefill", Truth(s_->enable_chunked_prefill));
    if (!New()) {
      out.Set("max_num_partial_prefills",
              Number(state_->Number("max_num_partial_prefills").value_or(1)));
    }
    out.Set("long_prefill_token_threshold", Number(state_->long_prefill));
    out.Set("async_scheduling", Truth(s_->async_scheduling));
    out.Set("disable_hybrid_kv_cache_manager",
            Truth(s_->disable_hybrid_kv_cache_manager));
    out.Set("max_num_encoder_input_tokens", Number(s_->max_num_batched_tokens));
    out.Set("encoder_cache_size", Number(s_->max_num_batched_tokens));
    out.Set("scheduler_cls", TextOrNull(state_->Text("scheduler_cls")));
    std::string policy = state_->Text("scheduling_policy");
    out.Set("policy", Text(policy.empty() ? "fcfs" : policy));
    out.Set("disable_chunked_mm_input", Truth(state_->disable_chunked_mm));
    return out;
  }

  ConfigValue Compilation() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("mode", Number(s_->compilation_mode));
    out.Set("backend", Text("inductor"));
    out.Set("cudagraph_mode", Text(s_->cudagraph_mode));
    ConfigValue sizes = ConfigValue::Array();
    for (const int64_t size : s_->cudagraph_sizes) {
      sizes.mutable_items().push_back(Number(size));
    }
    out.Set("cudagraph_capture_sizes", std::move(sizes));
    out.Set("max_cudagraph_capture_size",
            Number(state_->graph_limit.value_or(0)));
    out.Set("custom_ops", List(state_->custom_ops));
    return out;
  }

  bool Enabled(std::string_view op) const {
    const std::string on = "+" + std::string(op);
    const std::string off = "-" + std::string(op);
    bool all = false;
    bool given = false;
    bool barred = false;
    for (const std::string& one : state_->custom_ops) {
      all = all || one == "all";
      given = given || one == on;
      barred = barred || one == off;
    }
    return all ? !barred : given;
  }

  ConfigValue Passes() const {
    const int level = s_->optimization_level;
    const bool any = level > 0;
    const bool fp8 = Enabled("quant_fp8");
    const bool fp4 = s_->quantization == "modelopt_fp4";
    const int capability = state_->in->card->capability;
    bool reduce = level > 1 && s_->tensor_parallel > 1 &&
                  (capability == 90 || capability / 10 == 10);
    if (!New()) {
      reduce = reduce && s_->data_parallel == 1 && s_->pipeline_parallel == 1;
    }
    ConfigValue out = ConfigValue::Object();
    const auto null_or = [](bool off) {
      return off ? Truth(false) : ConfigValue::Null();
    };
    out.Set("eliminate_noops", Truth(true));
    out.Set("enable_qk_norm_rope_fusion", Truth(false));
    out.Set("fi_allreduce_fusion_max_size_mb", ConfigValue::Null());
    out.Set("fuse_act_quant",
            Truth(any && (Enabled("silu_and_mul") || fp8 || fp4)));
    out.Set("fuse_allreduce_rms", Truth(reduce));
    out.Set("fuse_attn_quant", Truth(false));
    out.Set("fuse_norm_quant", Truth(any && (Enabled("rms_norm") || fp8)));
    out.Set("fuse_rope_kvcache", null_or(level < 2));
    if (New()) {
      out.Set("fuse_act_padding", Truth(false));
      out.Set("fuse_mla_dual_rms_norm", null_or(level == 0));
      out.Set("fuse_qk_norm_rope_kvcache", Truth(false));
      out.Set("fuse_rope_kvcache_cat_mla", Truth(false));
    } else {
      out.Set("enable_sp", Truth(false));
      out.Set("fuse_act_padding", null_or(level == 0));
      out.Set("fuse_gemm_comms", Truth(false));
      out.Set("sp_min_token_num", ConfigValue::Null());
    }
    if (const ConfigValue* config = state_->Flag("compilation_config")) {
      if (const ConfigValue* given = config->Find("pass_config")) {
        for (const auto& [key, value] : given->members()) {
          if (out.Find(key) != nullptr) out.Set(key, value);
        }
      }
    }
    return out;
  }

  // AttentionConfig's fields of that version, most of which nothing changes.
  ConfigValue Attention() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("backend", TextOrNull(s_->attention_backend));
    out.Set("disable_flashinfer_q_quantization", Truth(false));
    out.Set("flash_attn_max_num_splits_for_cuda_graph", Number(32));
    out.Set("flash_attn_version", NumberOrNull(state_->flash_attn_version));
    out.Set("use_prefill_query_quantization", Truth(false));
    out.Set("use_trtllm_attention", ConfigValue::Null());
    if (!New()) {
      out.Set("disable_flashinfer_prefill", Truth(true));
      out.Set("use_cudnn_prefill", Truth(false));
      out.Set("use_prefill_decode_attention", Truth(false));
      out.Set("use_trtllm_ragged_deepseek_prefill", Truth(false));
    } else {
      for (const char* key :
           {"flex_attn_block_m", "flex_attn_block_n", "flex_attn_kv_block_size",
            "flex_attn_q_block_size", "hisparse_config",
            "mla_prefill_backend"}) {
        out.Set(key, ConfigValue::Null());
      }
      out.Set("indexer_kv_dtype", Text("auto"));
      out.Set("indexer_sparse_logits", Truth(false));
      out.Set("indexer_tp_shard_min_rows", Number(65536));
      out.Set("minimax_m3_indexer_cp", Truth(false));
      out.Set("minimax_m3_msa_decode_backend", Text("triton"));
      out.Set("sparse_mla_force_mqa", Truth(false));
      out.Set("sparse_mla_prefill_workspace_factor",
              Number(s_->max_model_len <= 256 * 1024 ? 5 : 2));
      out.Set("tokenspeed_mla_min_split_kv", Number(1));
      out.Set("tq_max_kv_splits_for_cuda_graph", Number(32));
      out.Set("trtllm_ragged_backend", Text("trtllm-gen"));
      out.Set("use_non_causal", Truth(false));
    }
    Given("attention_config", out);
    return out;
  }

  ConfigValue Kernel() const {
    ConfigValue out = ConfigValue::Object();
    const auto tune = state_->Choice("enable_flashinfer_autotune");
    out.Set("enable_flashinfer_autotune",
            Truth(tune.value_or(s_->optimization_level > 0)));
    std::string moe = state_->Text("moe_backend");
    out.Set("moe_backend", Text(moe.empty() ? "auto" : moe));
    if (New()) {
      out.Set("enable_cutedsl_warmup", Truth(true));
      out.Set("enable_jit_warmup", Truth(!s_->enforce_eager));
      out.Set("enable_rocm_segmented_attn_autotune", Truth(false));
      std::string linear = state_->Text("linear_backend");
      out.Set("linear_backend", Text(linear.empty() ? "auto" : linear));
      out.Set("linear_backend_per_quant", ConfigValue::Null());
      out.Set("monokernel", Truth(state_->Truth("monokernel")));
      std::string topk = state_->Text("sparse_indexer_topk_backend");
      out.Set("sparse_indexer_topk_backend",
              Text(topk.empty() ? "auto" : topk));
    }
    Given("kernel_config", out);
    return out;
  }

  // What a JSON flag sets of fields that are plain.
  void Given(std::string_view flag, ConfigValue& out) const {
    const ConfigValue* config = state_->Flag(flag);
    if (config == nullptr || !config->is_object()) return;
    for (const auto& [key, value] : config->members()) {
      if (key != "backend" && out.Find(key) != nullptr) out.Set(key, value);
    }
  }

  ConfigValue Lora() const {
    ConfigValue out = ConfigValue::Object();
    out.Set("max_lora_rank", Number(s_->lora->max_rank));
    out.Set("max_loras", Number(s_->lora->max_loras));
    out.Set("max_cpu_loras", Number(s_->lora->max_cpu_loras));
    out.Set("fully_sharded_loras", Truth(s_->lora->fully_sharded));
    out.Set("lora_dtype", Text("torch." + s_->lora->dtype));
    return out;
  }

  ConfigValue PerRank() const {
    ConfigValue out = ConfigValue::Object();
    const int64_t tp = s_->tensor_parallel;
    out.Set("num_attention_heads", Number(state_->heads / tp));
    out.Set(
        "num_kv_heads",
        Number(s_->use_mla ? 1 : std::max<int64_t>(1, state_->kv_heads / tp)));
    out.Set("head_size", Number(state_->head_size));
    ConfigValue stages = ConfigValue::Array();
    int64_t start = 0;
    for (const int64_t layers : s_->pipeline_layers) {
      ConfigValue one = ConfigValue::Array();
      one.mutable_items().push_back(Number(start));
      one.mutable_items().push_back(Number(start + layers));
      start += layers;
      stages.mutable_items().push_back(std::move(one));
    }
    out.Set("pipeline_partition", std::move(stages));
    return out;
  }

  const State* state_;
  ServingSettings* s_;
};

}  // namespace

void PrintSections(const State& state) { Printer(state).Run(); }

}  // namespace foretell::vllm
