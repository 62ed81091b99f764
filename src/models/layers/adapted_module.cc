#include "models/layers/adapted_module.h"

#include <utility>

#include "graph/autocast.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"

namespace foretell {

AdaptedModule::AdaptedModule(const Module& module)
    : builder_(&module.builder()) {
  RegionId core = module.region();
  for (const ParameterAdapter& adapter : builder_->graph().parameter_adapters) {
    if (adapter.module != module.region()) continue;
    const Scope scope(*builder_, adapter.wrapper);
    deltas_.push_back(Compute(adapter));
    const Tensor weight = builder_->Read(adapter.parameter);
    SetTo(weight, weight);
    Sum(deltas_.back());
    core = adapter.base;
  }
  scope_.emplace(*builder_, core);
}

AdaptedModule::Delta AdaptedModule::Compute(
    const ParameterAdapter& adapter) const {
  Delta delta;
  delta.adapter = &adapter;
  const DType dtype = builder_->Read(adapter.parameter).dtype();
  Tensor a = builder_->Read(adapter.a);
  Tensor b = builder_->Read(adapter.b);
  if (adapter.slices == 1) {
    Tensor product = MulScalar(Mm(std::move(b), std::move(a)), adapter.scaling);
    delta.whole = To(std::move(product), dtype);
    return delta;
  }
  a = Reshape(a, {adapter.slices, -1, a.size(1)});
  b = Permute(Reshape(b, {b.size(0), -1, adapter.slices}), {2, 0, 1});
  if (adapter.by_input) {
    delta.left = To(Transpose(a, -2, -1), dtype);
    delta.right = To(Transpose(b, -2, -1), dtype);
  } else {
    delta.left = To(b, dtype);
    delta.right = To(a, dtype);
  }
  return delta;
}

Tensor AdaptedModule::Sum(const Delta& delta) const {
  Tensor weight = builder_->Read(delta.adapter->parameter);
  if (!delta.whole.empty()) return Add(std::move(weight), delta.whole);
  const AutocastScope exactly(*builder_, std::nullopt);
  return Baddbmm(std::move(weight), delta.left, delta.right,
                 delta.adapter->scaling);
}

Tensor AdaptedModule::Read(ParameterId parameter) {
  for (Delta& delta : deltas_) {
    if (delta.adapter->parameter != parameter) continue;
    if (delta.sum.empty()) delta.sum = Sum(delta);
    return delta.sum;
  }
  return builder_->Read(parameter);
}

}  // namespace foretell
