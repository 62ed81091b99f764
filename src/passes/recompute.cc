#include "passes/recompute.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/ops/views.h"

namespace foretell {
namespace {

class Replay {
 public:
  Replay(Builder& builder, CheckpointFrame& frame)
      : builder_(builder),
        graph_(builder.graph()),
        frame_(frame),
        again_(frame.end_value - frame.first_value) {}

  void Run() {
    CountSaves();
    // Tensors stay named in the stopped call until the stop is handled.
    for (uint32_t at = frame_.first_step; at < frame_.end_step; ++at) {
      const Step step = graph_.steps[at];
      if (step.kind == Step::Kind::kDrop) {
        if (IsOwn(ValueId{step.index})) Of(ValueId{step.index}) = Tensor();
      } else if (!RunAgain(step.index)) {
        return;
      }
    }
  }

 private:
  bool IsOwn(ValueId id) const {
    return id.index >= frame_.first_value && id.index < frame_.end_value;
  }
  Tensor& Of(ValueId id) { return again_[id.index - frame_.first_value]; }

  void CountSaves() {
    for (uint32_t at = frame_.first_step; at < frame_.end_step; ++at) {
      const Step step = graph_.steps[at];
      if (step.kind == Step::Kind::kDrop) continue;
      left_ += graph_.operations[step.index].saved_count;
    }
  }

  // What the region was called with, or the tensor of this run.
  Tensor Input(ValueId id) {
    if (!IsOwn(id)) return builder_.Read(id);
    Tensor& own = Of(id);
    const ValueId before = builder_.tape().BeforeViewWrite(id);
    if (own.empty() && before.valid()) return Input(before);
    if (own.empty()) {
      // Numbers that Python holds: no operation of the region made them.
      const Value value = graph_[id];
      own = builder_.Constant(value.shape, value.dtype);
    }
    return own;
  }

  // False once nothing more is needed.
  bool RunAgain(uint32_t index) {
    const Operation operation = graph_.operations[index];
    const Scope scope(builder_, operation.region);
    std::vector<Tensor> inputs;
    for (uint32_t i = 0; i < operation.input_count; ++i) {
      inputs.push_back(Input(graph_.InputsOf(operation)[i]));
    }
    if (!Keep(index, inputs, 0)) return false;
    const std::vector<Tensor> outputs = ResultsOf(index, inputs);
    if (!builder_.failure().empty()) return false;
    inputs.clear();
    for (uint32_t i = 0; i < operation.output_count; ++i) {
      Of(graph_.OutputsOf(operation)[i]) = outputs[i];
    }
    return Keep(index, outputs, operation.input_count);
  }

  // What the frame kept of the operation, else what running it again gives.
  std::vector<Tensor> ResultsOf(uint32_t index,
                                std::span<const Tensor> inputs) {
    const auto kept = frame_.results.find(index);
    if (kept != frame_.results.end()) return std::move(kept->second);
    const Operation operation = graph_.operations[index];
    const auto stated = graph_.AttributesOf(operation);
    const std::vector<Attribute> attributes(stated.begin(), stated.end());
    return builder_.EmitMany(*operation.row, inputs, attributes);
  }

  // Keeps those of `tensors`, operands from `first` on, that the record of the
  // operation names. False after the last that the region needs.
  bool Keep(uint32_t index, std::span<const Tensor> tensors, uint32_t first) {
    const Operation operation = graph_.operations[index];
    for (uint32_t i = 0; i < operation.saved_count; ++i) {
      const uint32_t at = operation.first_saved + i;
      const Saved saved = graph_.saved[at];
      if (saved.operand < first || saved.operand >= first + tensors.size()) {
        continue;
      }
      // An operation that copies what it keeps has made the copy before.
      const bool is_own = IsOwn(saved.value) && !Of(saved.value).empty();
      const Tensor& tensor =
          is_own ? Of(saved.value) : tensors[saved.operand - first];
      const bool has_gradient = graph_[saved.value].requires_grad;
      Tensor kept = has_gradient ? Detach(tensor) : tensor;
      // Nobody asks for what a record kept that ended within the forward.
      if (builder_.tape().Has(OperationId{index})) {
        builder_.tape().SetKept(at, std::move(kept));
      }
      if (--left_ == 0) return false;
    }
    return true;
  }

  Builder& builder_;
  Graph& graph_;
  CheckpointFrame& frame_;
  std::vector<Tensor> again_;  // by value of the region
  uint32_t left_ = 0;
};

}  // namespace

void Recompute(Builder& builder, CheckpointFrame& frame) {
  frame.is_recomputed = true;
  const auto first = static_cast<uint32_t>(builder.graph().operations.size());
  Replay(builder, frame).Run();
  const auto end = static_cast<uint32_t>(builder.graph().operations.size());
  builder.tape().recomputed.push_back({first, end});
}

}  // namespace foretell
