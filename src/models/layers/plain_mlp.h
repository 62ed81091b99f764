// A feed-forward without a gate: two products and an activation between them.
//
// Source: transformers 5.23, models/{starcoder2,phi,persimmon,nemotron}/
// modeling_*.py (Starcoder2MLP, PhiMLP, PersimmonMLP, NemotronMLP), which name
// its parts differently.
#ifndef FORETELL_MODELS_LAYERS_PLAIN_MLP_H_
#define FORETELL_MODELS_LAYERS_PLAIN_MLP_H_

#include <cstdint>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct PlainMlpNames {
  std::string_view up;
  std::string_view down;
  std::string_view activation;
};

struct PlainMlp {
  PlainMlp(const Module& at, const PlainMlpNames& names, int64_t hidden,
           int64_t intermediate, bool bias, Activation activation);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear up;
  Linear down;
  ActivationModule act;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PLAIN_MLP_H_
