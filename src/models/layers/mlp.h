// Feed-forward layers.
//
// Source: transformers 5.23, models/llama/modeling_llama.py (LlamaMLP), which
// Mistral, Qwen2, Qwen3 and Gemma share, models/phi3/modeling_phi3.py
// (Phi3MLP).
#ifndef FORETELL_MODELS_LAYERS_MLP_H_
#define FORETELL_MODELS_LAYERS_MLP_H_

#include <cstdint>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

// down_proj(act_fn(gate_proj(x)) * up_proj(x))
struct GatedMlp {
  GatedMlp(const Module& at, int64_t hidden, int64_t intermediate, bool bias,
           Activation activation);
  Tensor Forward(const Tensor& x) const;

  Module module;
  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  ActivationModule act_fn;
};

// down_proj(up * activation_fn(gate)), gate and up being the halves of
// gate_up_proj(x).
struct FusedGatedMlp {
  FusedGatedMlp(const Module& at, int64_t hidden, int64_t intermediate,
                Activation activation);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  Linear gate_up_proj;
  Linear down_proj;
  ActivationModule activation_fn;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MLP_H_
