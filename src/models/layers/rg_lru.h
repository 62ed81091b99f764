// RecurrentGemma's recurrent block: a short convolution and a real-gated linear
// recurrence, token by token, beside a branch that weighs the result.
//
// The block itself keeps the state of the last step, also in training, where
// nothing reads it: what a step leaves lives until the next one replaces it.
// Source: transformers 5.23, models/recurrent_gemma/
// modeling_recurrent_gemma.py (RecurrentGemmaRecurrentBlock,
// RecurrentGemmaRglru).
#ifndef FORETELL_MODELS_LAYERS_RG_LRU_H_
#define FORETELL_MODELS_LAYERS_RG_LRU_H_

#include <cstdint>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/short_convolution.h"

namespace foretell {

struct RgLruConfig {
  int64_t hidden = 0;
  int64_t width = 0;  // of the recurrence
  int64_t heads = 0;  // blocks of its gates
  int64_t kernel = 0;
  Activation activation = Activation::kGeluTanh;
};

struct RgLru {
  RgLru(const Module& at, const RgLruConfig& config);
  // x [b, s, width] -> the same. `state` [b, width] float32 is that of the
  // tokens before, or empty, and becomes that of all.
  Tensor Forward(const Tensor& x, const Tensor& position_ids,
                 Tensor& state) const;

  Module module;
  RgLruConfig config;
  ParameterId recurrent_param;  // [width]
  ParameterId input_gate_weight;
  ParameterId input_gate_bias;
  ParameterId recurrent_gate_weight;
  ParameterId recurrent_gate_bias;

 private:
  Tensor Gate(const Tensor& by_head, ParameterId weight, ParameterId bias,
              const Shape& shape, Tensor& product) const;
};

struct RecurrentBlock {
  RecurrentBlock(const Module& at, const RgLruConfig& config);
  // `cache` holds what the block itself keeps; `keeps` as it generates.
  Tensor Forward(const Tensor& input, const Tensor& position_ids, bool keeps,
                 RecurrentCache& cache) const;

  Module module;
  RgLruConfig config;
  Linear linear_y;
  Linear linear_x;
  Linear linear_out;
  Module conv_region;
  DepthwiseConv1d conv_1d;
  RgLru rg_lru;
  ActivationModule act_fn;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_RG_LRU_H_
