// One row of the table of operations: what an operation is called, what it
// does, and what its outputs and FLOPs follow from.
//
// Rows stand in graph/ops/<kind>.cc, a function per operation beside each in
// graph/ops/<kind>.h, so that family code reads like its PyTorch source.
// A new operation is one new row with its recorded cases.
#ifndef FORETELL_GRAPH_OPERATION_ROW_H_
#define FORETELL_GRAPH_OPERATION_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "graph/graph.h"

namespace foretell {

struct OperationOutput {
  Shape shape;
  Shape strides;
  DType dtype = DType::kFloat32;
  int shares = -1;  // index of the input whose storage it shares; -1: its own
};

// What an inference function sees of an operation: inputs and attributes.
class OperationArguments {
 public:
  OperationArguments(std::span<const Value* const> inputs,
                     std::span<const Attribute> attributes)
      : inputs_(inputs), attributes_(attributes) {}

  size_t input_count() const { return inputs_.size(); }
  size_t attribute_count() const { return attributes_.size(); }
  std::span<const Value* const> inputs() const { return inputs_; }
  const Value& input(size_t index) const;
  int64_t Integer(size_t index) const;
  bool Flag(size_t index) const;
  DType Type(size_t index) const;
  const Shape& Sizes(size_t index) const;

 private:
  std::span<const Value* const> inputs_;
  std::span<const Attribute> attributes_;
};

// Fills the outputs. A non-empty result says why the inputs do not go
// together; the builder then refuses the model.
using InferOutputs = std::string (*)(const OperationArguments& arguments,
                                     std::vector<OperationOutput>& outputs);

// FLOPs as torch.utils.flop_counter counts them (a multiply-add is two);
// nothing past 2^63 - 1.
using CountFlops = std::optional<int64_t> (*)(std::span<const Value> inputs,
                                              std::span<const Value> outputs);

// One value that an operation's backward reads, and that autograd therefore
// keeps (torch 2.15, torchgen/packaged/autograd/derivatives.yaml: what a
// formula names beside `grad` and sizes).
struct Save {
  int8_t input = -1;   // one of these two
  int8_t output = -1;  // kept as a detached view, which shows as aten.detach
  // Kept only where one of these inputs takes a gradient (bit i: input i);
  // 0: whenever any input does.
  uint32_t when = 0;
  bool rest = false;  // all further inputs as well
  // Kept as a copy made before an operation in place writes over it.
  bool copied = false;
  // Held by the node itself, for as long as it lives, and not among what it
  // saves: an attribute that Python code has set on its context.
  bool attached = false;
};

// The row keeps its first input, as silu does.
inline constexpr Save kSavesInput[] = {{.input = 0}};

// The row keeps its first output, as sigmoid does.
inline constexpr Save kSavesResult[] = {{.output = 0}};

class Gradient;
// Writes the operations of a backward node: see graph/gradient.h.
using EmitGradient = void (*)(Gradient& gradient);

// Whether the result of an operation has a gradient.
enum class Differentiable : uint8_t { kYes, kNo };

// What torch.autocast does to the inputs of an operation that is called by
// itself (graph/autocast.h).
enum class AutocastPolicy : uint8_t { kNone, kLower, kFloat32 };

struct OperationRow {
  std::string_view name;  // PyTorch's: "aten.mm.default"
  std::string_view doc;   // one sentence, shapes included
  InferOutputs infer = nullptr;
  CountFlops flops = nullptr;  // null where the counter registers nothing
  std::span<const Save> saves = {};
  EmitGradient gradient = nullptr;
  Differentiable differentiable = Differentiable::kYes;
  // Outputs from this one on have no gradient; -1: all have.
  int differentiable_outputs = -1;
  AutocastPolicy autocast = AutocastPolicy::kNone;
};

// The whole table, by name.
std::span<const OperationRow* const> AllOperations();
const OperationRow* FindOperation(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPERATION_ROW_H_
