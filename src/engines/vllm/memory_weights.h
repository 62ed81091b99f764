// Bytes of weights that each rank of a vLLM launch loads.
//
// In: a model's tensors under the names of its checkpoint, the settings of a
// launch and how its weights are quantized. Out: the "Loading weights took"
// line of the heaviest stage of the pipeline.
// Does not model: weights of a drafter, LoRA slots (memory_account.h), kernels
// that pad what they repack.
// Source: vllm/model_executor/layers/{linear,vocab_parallel_embedding}.py and
// the stages of vllm/distributed/utils.py.
#ifndef FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_
#define FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/parameters.h"
#include "base/figure.h"
#include "spec/serving.h"

namespace foretell::vllm {

struct WeightFormat {
  std::string name;              // "fp8", "int4", …; empty: as the dtype
  double bytes = 0;              // of an element of a quantized linear layer
  bool is_experts_only = false;  // mxfp4 checkpoints: the rest stays as it is
};

// By a quantization's name: "fp8", "gptq_marlin", "compressed-tensors W4A16",
// "modelopt_fp4", "mxfp4", "bitsandbytes". `bits` where the configuration
// says how wide, else 0.
WeightFormat FormatOf(const std::string& quantization, int64_t bits);

struct WeightsInput {
  std::vector<TensorGroup> tensors;
  bool is_tied = false;  // the head is the embedding
  int64_t layers = 0;    // that stages divide
  int64_t key_value_heads = 0;
  DType dtype = DType::kBFloat16;
  WeightFormat format;
  // The table of rotary positions, which loading counts too: rows and width.
  int64_t positions = 0;
  int64_t rotary_dim = 0;
};

Bytes WeightsOfRank(const WeightsInput& in, const ServingSettings& settings);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_
