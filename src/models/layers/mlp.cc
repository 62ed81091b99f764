#include "models/layers/mlp.h"

#include "graph/ops/elementwise.h"

namespace foretell {

GatedMlp::GatedMlp(const Module& at, int64_t hidden, int64_t intermediate,
                   bool bias, Activation activation)
    : module(at),
      gate_proj(at.Child("gate_proj", RegionKind::kLinear), hidden,
                intermediate, bias),
      up_proj(at.Child("up_proj", RegionKind::kLinear), hidden, intermediate,
              bias),
      down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                hidden, bias),
      act_fn(at.Child("act_fn"), activation) {}

Tensor GatedMlp::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  const Tensor gate = act_fn.Forward(gate_proj.Forward(x));
  return down_proj.Forward(Mul(gate, up_proj.Forward(x)));
}

}  // namespace foretell
