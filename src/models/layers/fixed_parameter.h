// A parameter that no step trains: torch.nn.Parameter with requires_grad=False.
//
// It is one of the model's all the same: counted, stored and moved with it.
// Source: torch 2.15, torch/nn/parameter.py.
#ifndef FORETELL_MODELS_LAYERS_FIXED_PARAMETER_H_
#define FORETELL_MODELS_LAYERS_FIXED_PARAMETER_H_

#include <optional>
#include <string_view>

#include "models/layers/module.h"

namespace foretell {

inline ParameterId FixedParameter(const Module& at, std::string_view name,
                                  const Shape& shape,
                                  std::optional<DType> dtype = std::nullopt) {
  Builder& builder = at.builder();
  const ParameterId id = builder.AddParameter(at.region(), name, shape, dtype);
  Parameter& parameter = builder.graph().parameters[id.index];
  parameter.trainable = false;
  builder.graph().values[parameter.value.index].requires_grad = false;
  return id;
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_FIXED_PARAMETER_H_
