#include "passes/backward.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "graph/tape.h"
#include "graph/view_write.h"
#include "passes/recompute.h"

namespace foretell {
namespace {

// A node of the engine: an operation's, or the accumulation of a leaf.
struct Node {
  bool is_leaf = false;
  uint32_t index = 0;  // of the operation, or among the leaves

  // Leaves go before all operations, later operations before earlier ones.
  uint64_t Sequence() const {
    return is_leaf ? std::numeric_limits<uint64_t>::max() : index;
  }
};

struct Less {
  bool operator()(const Node& a, const Node& b) const {
    return a.Sequence() < b.Sequence();
  }
};

// at::sum_to: axes that broadcasting added or widened are summed away. What is
// summed goes before its sum is seen as another shape.
Tensor SumTo(Tensor gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  if (shape.rank() == 0) return SumAll(std::move(gradient));
  const int leading = gradient.shape().rank() - shape.rank();
  Shape axes;
  for (int axis = 0; axis < leading; ++axis) axes.Append(axis);
  for (int axis = leading; axis < gradient.shape().rank(); ++axis) {
    if (shape[axis - leading] == 1 && gradient.size(axis) != 1) {
      axes.Append(axis);
    }
  }
  if (axes.rank() > 0) gradient = SumAxes(std::move(gradient), axes, true);
  return leading > 0 ? View(std::move(gradient), shape) : gradient;
}

class Engine {
 public:
  Engine(const Tensor& loss, std::vector<LeafGradient> held)
      : builder_(&loss.builder()),
        graph_(&builder_->graph()),
        leaves_(std::move(held)) {
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      leaf_of_[leaves_[i].leaf.index] = i;
    }
  }

  std::vector<LeafGradient> Run(const Tensor& loss) {
    const OperationId root = builder_->tape().MakerOf(loss.id());
    if (!root.valid()) {
      builder_->Fail("the loss takes no gradient");
      return std::move(leaves_);
    }
    const Execution execution = builder_->execution();
    Execution silent = execution;
    silent.gradients = false;
    silent.autocast.reset();
    builder_->set_execution(silent);
    // Python holds the first gradient until the call returns.
    const Tensor first = OnesLike(loss);
    CountDependencies(root);
    buffers_[root.index] = {};
    const Node start{false, root.index};
    Tensor given = first;
    Arrive(start, OutputOf(root, loss.id()), given);
    queue_.push(start);
    while (!queue_.empty() && builder_->failure().empty()) {
      const Node node = queue_.top();
      queue_.pop();
      if (node.is_leaf) {
        Accumulate(node.index);
      } else {
        Evaluate(OperationId{node.index});
      }
    }
    builder_->set_execution(execution);
    return std::move(leaves_);
  }

 private:
  const Operation& At(OperationId id) const {
    return graph_->operations[id.index];
  }

  // Which output of the operation the value is.
  size_t OutputOf(OperationId operation, ValueId value) const {
    // The one gradient of such a node is the whole tensor's.
    if (builder_->tape().ViewWriteOf(operation) != nullptr) return 0;
    const auto outputs = graph_->OutputsOf(At(operation));
    size_t at = 0;
    while (at < outputs.size() && outputs[at] != value) ++at;
    return at;
  }

  // Where the gradient of an input goes; nothing where it takes none.
  std::optional<Node> Next(ValueId input) {
    if (!(*graph_)[input].requires_grad) return std::nullopt;
    const OperationId maker = builder_->tape().MakerOf(input);
    if (maker.valid()) return Node{false, maker.index};
    const auto [at, is_new] = leaf_of_.try_emplace(
        input.index, static_cast<uint32_t>(leaves_.size()));
    if (is_new) leaves_.push_back({input, Tensor()});
    return Node{true, at->second};
  }

  int32_t& DependenciesOf(const Node& node) {
    auto& counts = node.is_leaf ? leaf_dependencies_ : dependencies_;
    if (counts.size() <= node.index) counts.resize(node.index + size_t{1});
    return counts[node.index];
  }

  void CountDependencies(OperationId root) {
    std::vector<bool> seen(graph_->operations.size());
    buffers_.resize(graph_->operations.size());
    std::vector<OperationId> left = {root};
    seen[root.index] = true;
    while (!left.empty()) {
      const OperationId one = left.back();
      left.pop_back();
      for (uint32_t i = 0; i < At(one).input_count; ++i) {
        const auto next = Next(builder_->tape().EdgeOf(one, i));
        if (!next) continue;
        ++DependenciesOf(*next);
        if (next->is_leaf || seen[next->index]) continue;
        seen[next->index] = true;
        left.push_back(OperationId{next->index});
      }
    }
  }

  std::vector<Tensor>& BufferOf(const Node& node) {
    if (!node.is_leaf) return buffers_[node.index];
    if (leaf_buffers_.size() <= node.index) {
      leaf_buffers_.resize(node.index + size_t{1});
    }
    return leaf_buffers_[node.index];
  }

  // InputBuffer::add: what is added to an earlier gradient keeps its name.
  void Arrive(const Node& node, size_t at, Tensor& gradient) {
    std::vector<Tensor>& buffer = BufferOf(node);
    if (buffer.empty()) {
      buffer.resize(node.is_leaf ? 1 : At({node.index}).output_count);
    }
    if (gradient.empty()) return;
    Tensor& slot = buffer[at];
    if (slot.empty()) {
      slot = std::move(gradient);
    } else {
      // The earlier one goes once the sum is there.
      Tensor sum = Add(slot, gradient);
      slot = std::move(sum);
    }
  }

  // evaluate_function
  void Evaluate(OperationId id) {
    // Where a leaf's accumulation is counted, too, which follows its node.
    region_ = At(id).region;
    const Scope scope(*builder_, region_);
    std::vector<Tensor> gradients = Call(id, std::move(buffers_[id.index]));
    builder_->tape().Release(id);
    if (!builder_->failure().empty()) return;
    const uint32_t count = At(id).input_count;
    for (uint32_t i = 0; i < count; ++i) {
      const ValueId input = builder_->tape().EdgeOf(id, i);
      const auto next = Next(input);
      if (!next) continue;
      const size_t at =
          next->is_leaf ? 0 : OutputOf(OperationId{next->index}, input);
      Arrive(*next, at, gradients[i]);
      if (--DependenciesOf(*next) == 0) queue_.push(*next);
    }
  }

  // call_function: the node, then validate_outputs.
  std::vector<Tensor> Call(OperationId id, std::vector<Tensor> grads) {
    bool any = false;
    for (const Tensor& grad : grads) any = any || !grad.empty();
    if (!any) {
      // What was kept is unpacked all the same.
      Keepsakes(id);
      return std::vector<Tensor>(At(id).input_count);
    }
    const ViewWriteRecord* const write = builder_->tape().ViewWriteOf(id);
    std::vector<Tensor> gradients = write == nullptr
                                        ? Apply(id, grads)
                                        : ApplyThrough(id, *write, grads[0]);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i].empty()) continue;
      const Value input = (*graph_)[builder_->tape().EdgeOf(id, i)];
      if (!input.requires_grad) continue;
      gradients[i] =
          To(SumTo(std::move(gradients[i]), input.shape), input.dtype);
    }
    return gradients;
  }

  std::vector<Tensor> Apply(OperationId id, std::span<const Tensor> grads) {
    const EmitGradient rule = At(id).row->gradient;
    if (rule == nullptr) {
      builder_->Fail("no backward is known for " +
                     std::string(At(id).row->name));
      return {};
    }
    const std::vector<Tensor> kept = Keepsakes(id);
    Gradient gradient(*builder_, id, grads, kept);
    rule(gradient);
    return gradient.TakeGradients();
  }

  // What the node kept, as its apply() unpacks it.
  std::vector<Tensor> Keepsakes(OperationId id) {
    CheckpointFrame* const frame = builder_->tape().FrameOf(id);
    if (frame != nullptr && !frame->is_recomputed && At(id).saved_count > 0) {
      Recompute(*builder_, *frame);
    }
    std::vector<Tensor> kept;
    const uint32_t inputs = At(id).input_count;
    const uint32_t saved_count = At(id).saved_count;
    for (uint32_t i = 0; i < saved_count; ++i) {
      Tensor tensor = builder_->tape().KeptBy(id)[i];
      const Saved saved = graph_->SavedOf(At(id))[i];
      // What was recomputed for the node is its own from here on.
      if (saved.is_recomputed) {
        builder_->tape().SetKept(At(id).first_saved + i, Tensor());
      }
      kept.push_back(Unpack(id, tensor, saved, inputs));
    }
    return kept;
  }

  // CopySlices: the gradient of the whole tensor, in which the write's own node
  // leaves what is due to what was there before.
  std::vector<Tensor> ApplyThrough(OperationId id, const ViewWriteRecord& write,
                                   const Tensor& grad) {
    const Value base = (*graph_)[write.base];
    const Tensor result =
        CopyInto(NewEmptyStrided(grad, base.shape, base.strides), grad);
    Tensor seen = SeeAgain(result, write.views);
    std::vector<Tensor> given = {CloneContiguous(seen)};
    std::vector<Tensor> gradients = Apply(id, given);
    given.clear();
    if (gradients.empty() || gradients[0].empty()) return gradients;
    CopyInto(std::move(seen), gradients[0]);
    gradients[0] = result;
    return gradients;
  }

  // An output with a gradient comes back as a view of what was kept.
  Tensor Unpack(OperationId id, const Tensor& tensor, const Saved& saved,
                uint32_t inputs) {
    // What a hook gives is wrapped anew where it has a gradient.
    if (saved.is_recomputed) {
      return (*graph_)[saved.value].requires_grad ? Detach(tensor) : tensor;
    }
    if (saved.operand < inputs) return tensor;
    const ValueId output = graph_->OutputsOf(At(id))[saved.operand - inputs];
    return (*graph_)[output].requires_grad ? Detach(tensor) : tensor;
  }

  // AccumulateGrad
  void Accumulate(uint32_t leaf) {
    const Scope scope(*builder_, region_);
    const std::vector<Tensor> arrived = std::move(leaf_buffers_[leaf]);
    const Tensor& gradient = arrived[0];
    if (gradient.empty()) return;
    Tensor& held = leaves_[leaf].gradient;
    if (!held.empty()) {
      held = AddInto(held, gradient);
      return;
    }
    const Value variable = (*graph_)[leaves_[leaf].leaf];
    const Value given = builder_->ValueOf(gradient.id());
    const bool is_only_name = builder_->HoldsOf(gradient.id()) == 1;
    if (is_only_name && ObeysLayout(given, variable)) {
      held = Detach(gradient);
    } else {
      held =
          CopyInto(NewEmptyStrided(gradient, variable.shape, variable.strides),
                   gradient);
    }
  }

  // utils::obeys_layout_contract; a parameter is dense.
  static bool ObeysLayout(const Value& gradient, const Value& variable) {
    for (int axis = 0; axis < variable.shape.rank(); ++axis) {
      if (variable.shape[axis] == 1) continue;
      if (gradient.strides[axis] != variable.strides[axis]) return false;
    }
    return true;
  }

  Builder* builder_;
  Graph* graph_;
  RegionId region_;  // of the operation whose node ran last
  std::vector<LeafGradient> leaves_;
  std::map<uint32_t, uint32_t> leaf_of_;  // value -> its place in leaves_
  std::vector<int32_t> dependencies_;     // by operation
  std::vector<int32_t> leaf_dependencies_;
  std::vector<std::vector<Tensor>> buffers_;  // by operation
  std::vector<std::vector<Tensor>> leaf_buffers_;
  std::priority_queue<Node, std::vector<Node>, Less> queue_;
};

}  // namespace

std::vector<LeafGradient> Backward(const Tensor& loss,
                                   std::vector<LeafGradient> held) {
  return Engine(loss, std::move(held)).Run(loss);
}

}  // namespace foretell
