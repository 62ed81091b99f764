// The activations that configurations name ("silu", "gelu_new", …): how a
// configuration states one, and what each executes.
//
// Source: transformers 5.23, activations.py (ACT2CLS).
#ifndef FORETELL_MODELS_LAYERS_ACTIVATION_H_
#define FORETELL_MODELS_LAYERS_ACTIVATION_H_

#include <optional>
#include <string_view>

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

// By what is executed; names that execute the same are one.
enum class Activation {
  kSilu,
  kGelu,         // torch's own, by erf
  kGeluTanh,     // torch's own, by tanh
  kGeluNew,      // written out, by tanh
  kGeluFast,     // written out, x times x instead of a power
  kGeluErf,      // written out, by erf
  kGeluClipped,  // torch's own, between -10 and 10
  kQuickGelu,
  kHardSwish,
  kLaplace,
  kLeakyRelu,
  kLinear,
  kMish,
  kPrelu,  // has a parameter of its own
  kRelu,
  kReluSquared,
  kRelu6,
  kSigmoid,
  kSqrtSoftplus,
  kTanh,
};

std::optional<Activation> ParseActivation(std::string_view name);

// The activation that `name`, the value of `key`, means. A problem, and silu,
// where there is none of that name.
Activation ActivationNamed(const ConfigView& config, std::string_view key,
                           std::string_view name);

// One that no module of the model holds; the graph fails where it would need a
// parameter.
Tensor Activate(Activation kind, const Tensor& x);

// An activation as a module of its own ("act_fn"), where its operations run.
struct ActivationModule {
  ActivationModule(const Module& at, Activation which);
  Tensor Forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return Forward(x); }

  Module module;
  Activation kind;
  std::optional<ParameterId> weight;  // of kPrelu, [1]
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ACTIVATION_H_
