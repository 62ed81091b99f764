// The modules of DeepSeek-V4, as far as they hold parameters and buffers.
//
// Source: transformers 5.23, models/deepseek_v4/modeling_deepseek_v4.py.
// Does not model: what any of them executes.
#ifndef FORETELL_MODELS_LAYERS_DEEPSEEK_V4_MODULES_H_
#define FORETELL_MODELS_LAYERS_DEEPSEEK_V4_MODULES_H_

#include <cstdint>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/module.h"
#include "models/model.h"

namespace foretell {

enum class V4Attention { kSliding, kSparse, kHeavy };

struct V4Config {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t q_rank = 0;
  int64_t output_groups = 0;
  int64_t output_rank = 0;
  int64_t index_heads = 0;
  int64_t index_dim = 0;
  int64_t sparse_rate = 0;  // tokens in a compressed entry
  int64_t heavy_rate = 0;
  int64_t streams = 0;
  int64_t frequencies = 0;
  bool mlp_bias = false;
  ExpertsConfig experts;
  std::vector<V4Attention> attentions;
  std::vector<bool> hashes;  // experts by the token's number, layer by layer
};

// Embeddings, layers, a norm, what joins the streams, and lm_head.
class V4Model : public Model {
 public:
  V4Model(const Module& root, const V4Config& config,
          const DecoderConfig& keys);
  // Refuses: it is not modelled.
  Tensor Forward(const ForwardInputs& inputs) override;

 private:
  Module root_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DEEPSEEK_V4_MODULES_H_
