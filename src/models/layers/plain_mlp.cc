#include "models/layers/plain_mlp.h"

namespace foretell {

PlainMlp::PlainMlp(const Module& at, const PlainMlpNames& names, int64_t hidden,
                   int64_t intermediate, bool bias, Activation activation)
    : module(at),
      up(at.Child(names.up, RegionKind::kLinear), hidden, intermediate, bias),
      down(at.Child(names.down, RegionKind::kLinear), intermediate, hidden,
           bias),
      act(at.Child(names.activation), activation) {}

Tensor PlainMlp::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = up.Forward(hidden);
  hidden = act.Forward(hidden);
  return down.Forward(hidden);
}

}  // namespace foretell
