// A module whose parameters may have low-rank adapters of their own, as long as
// its forward runs: fused experts and routers, which are no linear layers.
//
// peft wraps the module once for each such parameter, computes the delta's two
// factors, tries the sum once as it registers it, and adds it anew where the
// parameter is first read. Without adapters this is the module's scope alone.
// Source: peft 0.21, tuners/lora/layer.py (ParamWrapper, _LoraFactorsProxy);
// torch 2.15, torch/nn/utils/parametrize.py.
#ifndef FORETELL_MODELS_LAYERS_ADAPTED_MODULE_H_
#define FORETELL_MODELS_LAYERS_ADAPTED_MODULE_H_

#include <optional>
#include <vector>

#include "models/layers/module.h"

namespace foretell {

class AdaptedModule {
 public:
  // Runs the wrappers and enters the module.
  explicit AdaptedModule(const Module& module);

  // The parameter, or its sum with the delta, which is kept until the module
  // has run.
  Tensor Read(ParameterId parameter);

 private:
  struct Delta {
    const ParameterAdapter* adapter = nullptr;
    // A delta of one slice, or its two factors.
    Tensor whole;
    Tensor left;
    Tensor right;
    Tensor sum;
  };
  Delta Compute(const ParameterAdapter& adapter) const;
  Tensor Sum(const Delta& delta) const;

  Builder* builder_;
  std::vector<Delta> deltas_;
  std::optional<Scope> scope_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ADAPTED_MODULE_H_
