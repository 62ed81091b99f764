// What autograd records while a forward runs: which operation made a value,
// and the tensors that each operation keeps for its backward.
//
// A record lives while one of its outputs does, or a later record that its
// outputs went into; then it lets go of what it kept. So a branch that reaches
// no loss costs nothing once its last name is gone.
// Source of the rules: torch 2.15, torch/csrc/autograd/function.h (Node),
// saved_variable.cpp.
#ifndef FORETELL_GRAPH_TAPE_H_
#define FORETELL_GRAPH_TAPE_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace foretell {

// A region whose backward runs its forward again instead of keeping what it
// saved: non-reentrant activation checkpointing.
// Source: torch 2.15, torch/utils/checkpoint.py
// (_checkpoint_without_reentrant_generator, _checkpoint_hook).
//
// Where operators are chosen (torch's create_selective_checkpoint_contexts),
// `results` holds what the chosen ones gave; a recomputation takes it from
// there instead of running them again.
struct CheckpointFrame {
  uint32_t first_step = 0;  // of the region, in Graph::steps
  uint32_t end_step = 0;
  uint32_t first_value = 0;
  uint32_t end_value = 0;
  uint32_t left = 0;         // operations that may still ask for a tensor
  std::vector<Tensor> held;  // what the region is called with
  bool is_recomputed = false;
  int64_t products = 0;  // mm that were asked whether they are chosen
  std::map<uint32_t, std::vector<Tensor>> results = {};  // by operation
};

// Which blocks are checkpointed, and what of them is not run again.
//
// By operator, torchtitan's choice: attention kernels, products and their like
// keep their results, every second mm runs again.
// Source: torchtitan 0.3, distributed/activation_checkpoint.py
// (_get_default_save_ops, _get_custom_policy); torch 2.15,
// torch/_functorch/partitioners.py (get_default_op_list,
// compute_intensive_ops).
struct CheckpointPolicy {
  int64_t every = 1;  // block of so many, the last of each
  bool by_operator = false;
};

// Operations [first, end) of Graph::operations.
struct OperationRange {
  uint32_t first = 0;
  uint32_t end = 0;
};

// An operation in place on a view of a tensor that has a gradient from then
// on: its node gets the whole tensor's gradient (torch's CopySlices).
struct ViewWriteRecord {
  ValueId base;     // the tensor as it was, in place of the first input
  ValueId rebased;  // and as it is
  std::vector<OperationId> views;  // that led from it to the view, in order
};

class Tape {
 public:
  explicit Tape(Graph& graph) : graph_(&graph) {}

  // `operation` has a backward node; its inputs are already in the graph.
  void Record(OperationId operation);
  // A tensor that was made a leaf, held by the node that accumulates its
  // gradient for as long as a record leads there; or one that a node holds
  // beside what it saves.
  void HoldLeaf(OperationId operation, Tensor leaf) {
    leaves_.emplace(operation.index, std::move(leaf));
  }
  bool Has(OperationId operation) const;
  // The operation whose backward node takes the value's gradient; none for
  // parameters and for values that have no gradient.
  OperationId MakerOf(ValueId value) const;
  void SetMaker(ValueId value, OperationId operation);

  // The node of `operation`, whose output is the view as written, becomes that
  // of the whole tensor.
  void RecordViewWrite(OperationId operation, ViewWriteRecord record);
  // Null where it is none.
  const ViewWriteRecord* ViewWriteOf(OperationId operation) const;
  // What the value was before it was written through a view; none for others.
  ValueId BeforeViewWrite(ValueId value) const;
  // The value whose gradient the node gives for an input.
  ValueId EdgeOf(OperationId operation, size_t input) const;

  // Holds the next of Graph::saved.
  void Keep(Tensor tensor) { kept_.push_back(std::move(tensor)); }
  // A recomputation will give the next of Graph::saved; it may be the first
  // of its operation.
  void KeepInFrame(bool is_first);
  void SetKept(uint32_t saved, Tensor tensor) {
    kept_[saved] = std::move(tensor);
  }

  void set_policy(const CheckpointPolicy& policy) { policy_ = policy; }
  // Whether the next block is one of those that are checkpointed.
  bool TakesNextBlock() { return ++blocks_ % policy_.every == 0; }
  // Whether the frame keeps what an operation of the row gives.
  bool KeepsResult(const OperationRow& row);
  void KeepResult(OperationId operation, Tensor result) {
    frames_.back().results[operation.index].push_back(std::move(result));
  }

  // Between these, what is recorded keeps nothing but the frame's `held`.
  void BeginFrame(std::vector<Tensor> held);
  void EndFrame();
  bool in_frame() const { return in_frame_; }
  // The frame of an operation's record; null where it has none.
  CheckpointFrame* FrameOf(OperationId operation);
  // In the order of Graph::SavedOf.
  std::span<const Tensor> KeptBy(OperationId operation) const;
  void Release(OperationId operation);

  // The value has lost its last name.
  void LoseOutput(ValueId value);

  // What a backward ran again, in order.
  std::vector<OperationRange> recomputed;

 private:
  struct Entry {
    bool exists = false;
    int32_t references = 0;  // outputs with a name, and later records
    uint32_t frame = 0;      // one more than its place; 0: none
  };
  void LeaveFrame(OperationId operation);
  void Drop(OperationId operation);
  std::vector<OperationId> MakersOfInputs(OperationId operation) const;

  Graph* graph_;
  std::vector<Entry> entries_;                       // by operation
  std::vector<OperationId> maker_;                   // by value
  std::vector<Tensor> kept_;                         // by Graph::saved
  std::multimap<uint32_t, Tensor> leaves_;           // by operation
  std::map<uint32_t, ViewWriteRecord> view_writes_;  // by operation
  std::map<uint32_t, ValueId> before_view_write_;    // by value
  std::vector<CheckpointFrame> frames_;
  CheckpointPolicy policy_;
  int64_t blocks_ = 0;  // that asked to be checkpointed
  bool in_frame_ = false;
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_TAPE_H_
