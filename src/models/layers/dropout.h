// Dropout in training: as a module (torch.nn.Dropout) and as a function.
//
// A probability of 0 executes nothing and gives the same tensor.
// Source: torch 2.15, aten/src/ATen/native/Dropout.cpp (dropout),
// torch/nn/modules/dropout.py (which refuses what lies outside 0 to 1).
#ifndef FORETELL_MODELS_LAYERS_DROPOUT_H_
#define FORETELL_MODELS_LAYERS_DROPOUT_H_

#include <string_view>

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

// torch.nn.functional.dropout(x, p, training=True)
Tensor ApplyDropout(const Tensor& x, double probability);

struct Dropout {
  Dropout(const Module& at, double p) : module(at), probability(p) {}
  Tensor Forward(const Tensor& x) const;

  Module module;
  double probability;
};

// A probability; a finding where torch.nn.Dropout would refuse it.
double ReadDropout(const ConfigView& config, std::string_view key,
                   double otherwise);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DROPOUT_H_
