#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/tape.h"

namespace foretell {

CheckpointScope::CheckpointScope(Builder& builder,
                                 std::initializer_list<Tensor> arguments,
                                 std::initializer_list<Tensor> keywords)
    : builder_(nullptr) {
  const Execution& execution = builder.execution();
  if (!execution.checkpoint || !execution.gradients || !execution.training) {
    return;
  }
  if (!builder.tape_->TakesNextBlock()) return;
  builder_ = &builder;
  std::vector<Tensor> held;
  for (const Tensor& one : arguments) {
    if (one.empty()) continue;
    // Kept for the whole region, so for no operation of it.
    builder.graph_->saved.push_back({one.id()});
    builder.tape_->Keep(Tensor());
    held.push_back(one);
  }
  for (const Tensor& one : keywords) {
    if (!one.empty()) held.push_back(one);
  }
  builder.tape_->BeginFrame(std::move(held));
}

CheckpointScope::~CheckpointScope() {
  if (builder_ != nullptr) builder_->tape_->EndFrame();
}

}  // namespace foretell
