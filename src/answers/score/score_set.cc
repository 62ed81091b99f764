#include "answers/score/score_set.h"

#include <algorithm>

#include "answers/score/score_sets.h"

namespace foretell {

std::span<const ScoreSet> ScoreSets() {
  static const auto& sets = *new std::vector<ScoreSet>{
      {.name = "weights_bytes",
       .doc = "Bytes, or stored elements, of a published checkpoint.",
       .model_field = "id",
       .settings = {"id", "component", "kind", "dtype", "architecture"},
       .predict = PredictWeightsBytes,
       .measure = MeasureWeightsBytes,
       .explain = ExplainWeightsBytes},
      {.name = "gguf_bytes",
       .doc = "Bytes of a GGUF file's tensors, of rows of llamacpp_memory.",
       .settings = {"model", "quant"},
       .predict = PredictGgufBytes,
       .measure = MeasureGgufBytes},
      {.name = "training_memory",
       .doc = "Peaks of memory of training runs, and whether they ran.",
       .card_field = "gpu",
       .settings = {"task",
                    "framework",
                    "precision_class",
                    "optimizer",
                    "micro_batch",
                    "grad_accum",
                    "seq_len",
                    "gc_class",
                    "attention_impl",
                    "lora",
                    "quant",
                    "sharding",
                    "offload",
                    "fused_loss",
                    "gpu_mem_gb",
                    "gpu_count",
                    "master_weights",
                    "compile",
                    "source.date",
                    "extra.mean_tokens_per_sample",
                    "extra.variant"},
       .predict = PredictTrainingMemory,
       .measure = MeasureTrainingMemory,
       .finish = FinishTrainingMemory},
      {.name = "engine_kv",
       .doc = "vLLM's own planning of the KV cache for a launch and free "
              "memories.",
       .settings = {"engine", "version", "model", "card", "argv",
                    "plans[].available_bytes"},
       .predict = PredictEngineKv,
       .measure = MeasureEngineKv},
      {.name = "engine_launches",
       .doc =
           "What vLLM's own validation says to a launch: accepted with which "
           "values, or refused.",
       .settings = {"engine", "version", "model", "card", "gpus", "argv"},
       .predict = PredictEngineLaunch,
       .measure = MeasureEngineLaunch,
       .explain = nullptr,
       .finish = FinishEngineLaunches},
      {.name = "launch_failures",
       .doc = "Why a launch that someone reported was refused.",
       .settings = {"engine", "version", "launch", "launch_facts", "model",
                    "gpu", "gpu_count", "source.date"},
       .predict = PredictLaunchFailure,
       .measure = MeasureLaunchFailure},
      {.name = "vllm_memory",
       .doc = "What one start of vLLM printed of its memory, or its refusal.",
       .settings = {"engine_version",
                    "engine_gen",
                    "model",
                    "quantization",
                    "dtype",
                    "gpu",
                    "gpu_count",
                    "tp",
                    "pp",
                    "dp",
                    "ep",
                    "launch",
                    "max_model_len",
                    "max_num_seqs",
                    "max_num_batched_tokens",
                    "gpu_memory_utilization",
                    "kv_cache_dtype",
                    "block_size",
                    "enforce_eager",
                    "total_gpu_memory_gib",
                    "source.date",
                    "measured.kv_available_gib"},
       .predict = PredictVllmMemory,
       .measure = MeasureVllmMemory,
       .finish = FinishVllmMemory},
      {.name = "inference_speed",
       .doc = "Measured inference: first tokens, tokens, rates.",
       .card_field = "gpu",
       .settings = {"engine", "engine_version", "precision", "kv_cache_dtype",
                    "gpu", "gpu_count", "tp", "pp", "dp", "ep",
                    "batch_or_concurrency", "isl", "osl", "extra.layers",
                    "extra.hidden", "extra.heads", "extra.vocab"},
       .predict = PredictInferenceSpeed,
       .measure = MeasureInferenceSpeed},
      {.name = "serving_points",
       .doc = "Served models on data-centre cards, at a concurrency.",
       .card_field = "gpu",
       .settings = {"mode", "framework", "framework_version", "parallel",
                    "quant", "isl", "osl", "concurrency"},
       .predict = PredictServingPoint,
       .measure = MeasureServingPoint},
  };
  return sets;
}

const ScoreSet* FindScoreSet(std::string_view name) {
  const auto sets = ScoreSets();
  const auto set = std::ranges::find(sets, name, &ScoreSet::name);
  return set == sets.end() ? nullptr : &*set;
}

std::vector<std::string_view> ScoreSetNames() {
  std::vector<std::string_view> out;
  for (const ScoreSet& set : ScoreSets()) out.push_back(set.name);
  return out;
}

}  // namespace foretell
