#include "passes/optimizer.h"

#include <array>
#include <utility>

#include "graph/ops/in_place.h"
#include "passes/optimizer_kinds.h"

namespace foretell {
namespace {

// In the order of the enumeration, as tools/pytorch/record.py names them.
constexpr std::array<std::string_view, 6> kNames = {
    "none", "sgd", "adamw_fused", "adamw_foreach", "adamw_loop", "adafactor"};

OptimizerResult RunStep(Builder& builder, const OptimizerOptions& options,
                        std::span<const LeafGradient> gradients) {
  switch (options.kind) {
    case OptimizerKind::kNone:
      break;
    case OptimizerKind::kSgd:
      return StepSgd(builder, gradients);
    case OptimizerKind::kAdamwFused:
    case OptimizerKind::kAdamwForeach:
    case OptimizerKind::kAdamwLoop:
      return StepAdamW(builder, options, gradients);
    case OptimizerKind::kAdafactor:
      return StepAdafactor(builder, options, gradients);
  }
  return {};
}

}  // namespace

std::string_view NameOf(OptimizerKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<OptimizerKind> ParseOptimizerKind(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<OptimizerKind>(i);
  }
  return std::nullopt;
}

OptimizerResult StepSgd(Builder& builder,
                        std::span<const LeafGradient> gradients) {
  for (const LeafGradient& one : gradients) {
    AddInto(builder.Read(one.leaf), one.gradient);
  }
  return {};
}

OptimizerResult Optimize(Builder& builder, const OptimizerOptions& options,
                         std::vector<LeafGradient>& gradients) {
  if (options.kind == OptimizerKind::kNone) return {};
  const Execution outside = builder.execution();
  Execution execution = outside;
  execution.gradients = false;  // torch.no_grad()
  execution.autocast.reset();   // the forward's alone
  builder.set_execution(execution);
  OptimizerResult result = RunStep(builder, options, gradients);
  builder.set_execution(outside);
  gradients.clear();
  return result;
}

}  // namespace foretell
