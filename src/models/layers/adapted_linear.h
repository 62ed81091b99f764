// A linear layer's forward around products of the class's own: with peft's
// lora.Linear where an adapter stands beside it.
//
// Source: peft 0.21, tuners/lora/layer.py (Linear.forward).
#ifndef FORETELL_MODELS_LAYERS_ADAPTED_LINEAR_H_
#define FORETELL_MODELS_LAYERS_ADAPTED_LINEAR_H_

#include <functional>

#include "models/layers/module.h"

namespace foretell {

// `multiply` gives what the layer without an adapter does.
Tensor RunLinear(const Module& module, const Tensor& x,
                 const std::function<Tensor()>& multiply);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ADAPTED_LINEAR_H_
