// Writes a graph as a model's source executes: `Builder`, `Tensor`, `Scope`.
//
// A `Tensor` is a Python name: copying it holds the value once more, and when
// the last copy goes (a variable is reassigned or leaves its scope) the builder
// writes a `drop`. Family code therefore keeps what its PyTorch source keeps.
// A `Scope` is the module whose forward is running.
//
// Operations never throw on sizes that do not go together: the first such
// place is kept as `failure()`, later operations give empty tensors, and the
// caller drops the graph.
//
//   Builder builder(graph, DType::kBFloat16);
//   const Tensor x = builder.Input("input_ids", {1, 64}, DType::kInt64);
#ifndef FORETELL_GRAPH_BUILDER_H_
#define FORETELL_GRAPH_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/library.h"
#include "graph/graph.h"
#include "graph/operation_row.h"

namespace foretell {

class Builder;
class Tape;

// How the model runs: what decides which operations its source executes.
struct Execution {
  bool training = true;   // model.train(): dropout drops
  bool gradients = true;  // autograd records; false under torch.no_grad()
  // Of torch.autocast, where it is on.
  std::optional<DType> autocast = std::nullopt;
  bool checkpoint = false;  // blocks keep their inputs and recompute
  // What the input embeddings give takes a gradient, whatever trains.
  bool inputs_take_gradient = false;
  // Of the card: ten times the major number plus the minor one.
  int capability = 90;
  // Attention by flash-attention's own kernels, for which PyTorch's flash
  // kernel stands.
  bool flash = false;
};

// A name that holds a value. Empty (default-constructed) is Python's None.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  bool empty() const { return builder_ == nullptr; }
  ValueId id() const { return id_; }
  Builder& builder() const;

  // The value's shape and dtype; rank 0 where the graph has failed.
  const Shape& shape() const;
  int64_t size(int axis) const;  // 0 where the graph has failed
  DType dtype() const;

 private:
  friend class Builder;
  Tensor(Builder* builder, ValueId id);
  void Hold() const;
  void Release() const;

  Builder* builder_ = nullptr;
  ValueId id_;
};

// Enters a region for as long as it lives.
class Scope {
 public:
  Scope(Builder& builder, RegionId region);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Builder* builder_;
};

// Around the call of a block: with Execution::checkpoint, its backward runs
// the block's forward again. `arguments` are tensors that the call gives by
// position, which autograd keeps as inputs of the region; `keywords` those
// given by name, which only live as long.
class CheckpointScope {
 public:
  CheckpointScope(Builder& builder, std::initializer_list<Tensor> arguments,
                  std::initializer_list<Tensor> keywords = {});
  ~CheckpointScope();
  CheckpointScope(const CheckpointScope&) = delete;
  CheckpointScope& operator=(const CheckpointScope&) = delete;

 private:
  Builder* builder_;  // null where blocks keep what they save
};

class Builder {
 public:
  // `dtype` is that of the parameters. `graph` must outlive the builder.
  Builder(Graph& graph, DType dtype);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  const Execution& execution() const { return execution_; }
  void set_execution(const Execution& execution) { execution_ = execution; }
  // The version of the library whose source is followed.
  const Library& library() const { return *library_; }
  void set_library(const Library& library) { library_ = &library; }
  // What follows belongs to another part of the step.
  void StartPhase(Phase phase);

  Graph& graph() { return *graph_; }
  DType dtype() const { return dtype_; }
  RegionId root() const { return RegionId{0}; }

  RegionId AddRegion(RegionId parent, std::string_view name, RegionKind kind);
  RegionId current_region() const { return calls_.back().region; }
  // What the running module returns beside its result (attention's weights).
  // Its caller holds it until that returns itself or is given another; with
  // more than one level, callers hand it on.
  void ReturnBeside(Tensor tensor, int levels = 1);

  // A parameter of `region`, in the builder's dtype unless another is given.
  ParameterId AddParameter(RegionId region, std::string_view name,
                           const Shape& shape,
                           std::optional<DType> dtype = std::nullopt);
  // `parameter` becomes another name for `target`'s storage.
  void Tie(ParameterId parameter, ParameterId target);
  // Says that one of `experts` slices in `per_token` serves a token.
  void MarkExperts(ParameterId parameter, int64_t experts, int64_t per_token);
  void AddBuffer(RegionId region, std::string_view name, const Shape& shape,
                 DType dtype, bool persistent);

  // tensor.requires_grad_(): a leaf of autograd from here on.
  void RequireGradient(const Tensor& tensor);

  Tensor Read(ParameterId parameter);
  Tensor Read(ValueId value);
  Tensor Input(const Shape& shape, DType dtype);
  // Its first `extent` entries along an axis, cut before the step began.
  Tensor CutBefore(const Tensor& tensor, int axis, int64_t extent);
  void Output(const Tensor& tensor);
  // What a tensor holds once something was written through a view of it: the
  // same storage, with its own place in autograd (graph/view_write.h).
  Tensor Rebased(const Tensor& base);
  // What an optimizer has kept since an earlier step: it lives from the start,
  // until its last name goes.
  Tensor State(const Shape& shape, const Shape& strides, DType dtype);
  // The same of a parameter's shape, layout and dtype.
  Tensor StateLike(ValueId parameter);
  // A tensor of numbers that Python itself holds (torch.tensor([0, 1])): no
  // operation gives it.
  Tensor Constant(const Shape& shape, DType dtype);
  // A tensor that an earlier step made and a module keeps as a plain attribute:
  // it lives throughout.
  Tensor Lasting(const Shape& shape, DType dtype);

  // The general form; graph/ops has a function per operation.
  Tensor Emit(const OperationRow& row, std::initializer_list<Tensor> inputs,
              std::initializer_list<Attribute> attributes = {});
  std::vector<Tensor> EmitMany(const OperationRow& row,
                               std::span<const Tensor> inputs,
                               std::span<const Attribute> attributes);

  // "model.layers.0.self_attn: aten.mm.default: [1, 3] and [4, 5]"; empty
  // while all sizes go together.
  const std::string& failure() const { return failure_; }
  // Keeps the first reason.
  void Fail(const std::string& reason);

  // Notes what is assumed where a size depends on data.
  void Assume(const std::string& what);

  const Value& ValueOf(ValueId id) const { return (*graph_)[id]; }

  // What autograd has recorded; passes/backward reads it.
  Tape& tape() { return *tape_; }
  // What torch.autocast has cast once for all (graph/autocast.h).
  std::map<ValueId, Tensor>& autocast_casts() { return autocast_casts_; }
  // How many names and records hold a value.
  int32_t HoldsOf(ValueId id) const { return holds_[id.index]; }

 private:
  friend class CheckpointScope;
  friend class Scope;
  friend class Tensor;
  // A module whose forward is running.
  struct Call {
    RegionId region;
    Tensor beside = {};     // what a module that it called returned beside
    Tensor returning = {};  // what it will itself
    int levels = 0;
  };
  ValueId NewValue(const Shape& shape, const Shape& strides, DType dtype,
                   StorageId storage);
  StorageId NewStorage(StorageKind kind, const Shape& shape,
                       const Shape& strides, DType dtype);
  void KeepNext(const Tensor& tensor, uint32_t operand, Operation& of);
  bool Records(const OperationRow& row, std::span<const Tensor> inputs) const;
  void HoldLeaves(OperationId operation, std::span<const Tensor> inputs);
  bool Applies(const Save& save, std::span<const Tensor> inputs) const;
  // Copies of the inputs that the operation writes over and yet keeps.
  std::vector<Tensor> CopiesToSave(const OperationRow& row,
                                   std::span<const Tensor> inputs);
  void SaveInputs(const OperationRow& row, std::span<const Tensor> inputs,
                  std::span<const Tensor> copies);
  void SaveOutputs(const OperationRow& row, OperationId operation);
  // False where the graph has failed.
  bool Infer(const OperationRow& row, std::span<const Tensor> inputs,
             std::span<const Attribute> attributes,
             std::vector<OperationOutput>& outputs);
  // The operation, whose outputs are each held once; nothing where the graph
  // has failed.
  std::optional<OperationId> Write(const OperationRow& row,
                                   std::span<const Tensor> inputs,
                                   std::span<const Attribute> attributes);
  ValueId OutputOf(OperationId id, size_t index) const;
  Tensor Adopt(ValueId id);
  void Hold(ValueId id);
  void Release(ValueId id);

  Graph* graph_;
  DType dtype_;
  std::vector<Call> calls_;     // of modules, the outermost first
  std::vector<int32_t> holds_;  // names per value; parameters are never dropped
  std::string failure_;
  ValueId poison_;  // stands for values that cannot exist
  Execution execution_;
  const Library* library_ = &NewestLibrary();
  std::unique_ptr<Tape> tape_;
  std::map<ValueId, Tensor> autocast_casts_;
  bool is_ending_ = false;
  // Lists that operations fill one after another.
  std::vector<const Value*> input_values_;
  std::vector<OperationOutput> spare_outputs_;
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_BUILDER_H_
