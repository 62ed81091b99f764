// What a training tool does where a record of a run does not say it.
//
// In: words of a record. Out: the setting that the named tool's release of
// that time has by default; nothing where no such rule is known.
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/pytorch/device_memory.h"

namespace foretell {

// The newest transformers six weeks before a day ("2024-07-24", "2024-07"):
// "4.41", since a run is older than the text that reports it. Empty where the
// text does not begin with a year and a month.
// Source: the release dates of the package index. The six weeks are an
// assumption: records that name both lag by 28 days (4.48.1 on 2025-02-07) and
// by more where a tool holds a version back.
std::string TransformersAt(std::string_view date);

// Whether a tool's batches have one size. torchtitan, Megatron and the
// benchmarks of fms-acceleration fill every batch; peft's comparison pads to a
// length that most of its batches reach. ms-swift 2 evaluates between steps.
// Source: their data loaders.
BatchSizes SizesOfTool(std::string_view framework, std::string_view date);

struct SizesByDefault {
  int64_t batch = 0;  // 0: none
  int64_t sequence = 0;
};
// ms-swift 2: --batch_size 1, --max_length 2048. torchtitan: batch 1 of 8,192
// tokens in its Llama 3 8B recipe. ColossalChat: none.
// Source: ms-swift 2.2, swift/llm/utils/argument.py; torchtitan,
// train_configs/llama3_8b.toml.
SizesByDefault DefaultSizesOf(std::string_view framework);

// How a tool sets up FSDP.
struct ShardingByDefault {
  bool reduces_each = true;   // else the last micro-step's gradients alone
  bool reduces_wide = false;  // in float32
  bool has_end_units = false;
  bool frozen_apart = true;
};
// transformers' Trainer, and what is built on accelerate, reduces the last
// micro-step's gradients alone (Trainer's no_sync), in the dtype that computes,
// and wraps adapters by peft's policy. litgpt: the same (no_backward_sync), but
// whole blocks. torchtitan reduces each in float32, with units for the ends
// since July 2025 (commit 83e694105); torchtune reduces each, as plain PyTorch
// does. Source: transformers 5.23, trainer.py; accelerate 1.15,
// utils/dataclasses.py; litgpt 0.5, finetune/full.py, finetune/lora.py;
// torchtitan, models/llama3/infra/parallelize.py; torchtune 0.6,
// training/_distributed.py.
ShardingByDefault ShardingOfTool(std::string_view framework,
                                 std::string_view date);

// torchtune's, ms-swift's, LLaMA-Factory's and Unsloth's recipes recompute;
// transformers' Trainer does not.
bool RecomputesByDefault(std::string_view framework);

struct NamedOptimizer {
  std::string_view step;  // passes/optimizer writes it
  std::string_view rule;  // engines/pytorch/optimizer_memory has it
};
// By the name that a record gives it.
std::optional<NamedOptimizer> OptimizerOf(std::string_view name);

// What a tool's name for adapted layers means in transformers' modules. litgpt
// names parts ("q", "mlp"), whatever the model calls them; its head stays
// without an adapter here.
std::vector<std::string_view> ModulesOf(std::string_view framework,
                                        std::string_view name);

// The layers that get adapters where none are named: peft's own choice for
// most models, queries and values.
// Source: peft 0.13, utils/constants.py
// (TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING).
std::vector<std::string> DefaultTargets();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_
