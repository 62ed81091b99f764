// The weights that one rank of vLLM holds, as its "Model loading took" counts.
//
// In: the tensors of the model's class, the bytes that each takes as loaded,
// and how the launch splits it: tensor parallelism (vocabulary, heads, inner
// sizes, towers), pipeline stages, expert parallelism, copies of key and value
// heads; what the loaded model keeps beside them (tables of rotary positions,
// slots of adapters, a drafter). Out: bytes of the fullest stage, with an
// interval.
// Sources: vllm/model_executor/layers/{linear,vocab_parallel_embedding,
// rotary_embedding}.py, lora/layers/*, models/utils.py (make_layers offloads)
// and quantization/mxfp4.py (padding) of 0.11.2, 0.19.0 and 0.33.0.
// Does not model: repacking that leaves a second copy behind.
#ifndef FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_
#define FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "analysis/parameters.h"
#include "base/dtype.h"
#include "base/figure.h"
#include "engines/vllm/served_config.h"
#include "spec/serving.h"

namespace foretell::vllm {

struct WeightsInput {
  std::vector<TensorGroup> tensors;
  std::vector<double> bytes;  // of all copies of each, as loaded
  bool is_tied = false;       // the head is the embedding
  int64_t layers = 0;         // that stages divide
  int64_t key_value_heads = 0;
  int64_t tower_heads = 0;  // 0: not known, and then they divide
  // MXFP4 experts are padded for the kernels of this card.
  bool are_experts_padded = false;
  int capability = 0;
  bool is_nvidia = true;
  bool is_amd = false;
  DType dtype = DType::kBFloat16;
  double tables = 0;   // bytes that every rank holds
  double copies = 0;   // bytes that layers derive, before splitting
  double drafter = 0;  // bytes of a drafter, before splitting
  double spread = 0.005;
};

Bytes WeightsOfRank(const WeightsInput& in, const ServingSettings& settings);

// Of a part that sees or hears, not of the language model.
bool IsTower(const TensorGroup& tensor);

// The tables of rotary positions that the class's layers share, in bytes.
double RotaryTables(const ServedConfig& config, DType dtype);

// One of a model's own prediction layers, as loaded: a layer of attention and
// its feed-forward part, and the projection that joins two hidden states.
double PredictionLayerBytes(const WeightsInput& in, int64_t hidden,
                            double width);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_MEMORY_WEIGHTS_H_
