#include "graph/autocast.h"

#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/tape.h"

namespace foretell {
namespace {

bool IsEligible(DType dtype) {
  return Describe(dtype).is_floating && dtype != DType::kFloat64;
}

void SetAutocast(Builder& builder, std::optional<DType> dtype) {
  Execution execution = builder.execution();
  execution.autocast = dtype;
  builder.set_execution(execution);
}

// cached_cast
void Cast(Builder& builder, AutocastPolicy policy, Tensor& x) {
  const DType lower = *builder.execution().autocast;
  const DType to = policy == AutocastPolicy::kLower ? lower : DType::kFloat32;
  if (x.empty() || !IsEligible(x.dtype()) || x.dtype() == to) return;
  const bool is_leaf = builder.ValueOf(x.id()).requires_grad &&
                       !builder.tape().MakerOf(x.id()).valid();
  if (to != lower || x.dtype() != DType::kFloat32 || !is_leaf) {
    x = To(x, to);
    return;
  }
  Tensor& kept = builder.autocast_casts()[x.id()];
  if (kept.empty()) kept = To(x, to);
  x = kept;
}

}  // namespace

AutocastScope::AutocastScope(Builder& builder, std::optional<DType> dtype)
    : builder_(&builder), outer_(builder.execution().autocast) {
  SetAutocast(builder, dtype);
}

AutocastScope::~AutocastScope() {
  SetAutocast(*builder_, outer_);
  if (!outer_) builder_->autocast_casts().clear();
}

AutocastCall::AutocastCall(Builder& builder, AutocastPolicy policy,
                           std::initializer_list<Tensor*> arguments)
    : builder_(&builder), outer_(builder.execution().autocast) {
  if (!outer_) return;
  for (auto at = arguments.end(); at != arguments.begin();) {
    --at;
    Cast(builder, policy, **at);
  }
  SetAutocast(builder, std::nullopt);
}

AutocastCall::AutocastCall(Builder& builder, AutocastPolicy policy,
                           std::span<Tensor> arguments)
    : builder_(&builder), outer_(builder.execution().autocast) {
  if (!outer_) return;
  for (auto at = arguments.rbegin(); at != arguments.rend(); ++at) {
    Cast(builder, policy, *at);
  }
  SetAutocast(builder, std::nullopt);
}

AutocastCall::~AutocastCall() {
  if (outer_) SetAutocast(*builder_, outer_);
}

std::optional<DType> AutocastResult(const Tensor& x) {
  if (!x.builder().execution().autocast || !IsEligible(x.dtype())) {
    return std::nullopt;
  }
  return DType::kFloat32;
}

}  // namespace foretell
