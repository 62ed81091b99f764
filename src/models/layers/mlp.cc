#include "models/layers/mlp.h"

#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"

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
  Tensor gate = act_fn.Forward(gate_proj.Forward(x));
  return down_proj.Forward(Mul(std::move(gate), up_proj.Forward(x)));
}

FusedGatedMlp::FusedGatedMlp(const Module& at, int64_t hidden,
                             int64_t intermediate, Activation activation)
    : module(at),
      gate_up_proj(at.Child("gate_up_proj", RegionKind::kLinear), hidden,
                   2 * intermediate, false),
      down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                hidden, false),
      activation_fn(at.Child("activation_fn"), activation) {}

Tensor FusedGatedMlp::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Tensor up = gate_up_proj.Forward(hidden);
  Tensor gate;
  {
    const std::vector<Tensor> halves = Split(up, up.size(-1) / 2, -1);
    if (halves.size() != 2) return hidden;  // the graph has failed already
    gate = halves[0];
    up = halves[1];
  }
  up = Mul(up, activation_fn.Forward(gate));
  return down_proj.Forward(up);
}

}  // namespace foretell
