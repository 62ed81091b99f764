#include "graph/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/checked.h"
#include "graph/autocast.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "graph/tape.h"

namespace foretell {
namespace {

// No operation of the table gives more outputs than this.
constexpr size_t kMostOutputs = 16;

}  // namespace

Tensor::Tensor(Builder* builder, ValueId id) : builder_(builder), id_(id) {
  Hold();
}
Tensor::Tensor(const Tensor& other) : builder_(other.builder_), id_(other.id_) {
  Hold();
}
Tensor::Tensor(Tensor&& other) noexcept
    : builder_(std::exchange(other.builder_, nullptr)), id_(other.id_) {}

// Holds before it releases, so that self-assignment keeps its value.
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): as said above.
Tensor& Tensor::operator=(const Tensor& other) {
  other.Hold();  // before the release: self-assignment keeps its value
  Release();
  builder_ = other.builder_;
  id_ = other.id_;
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  Release();
  builder_ = std::exchange(other.builder_, nullptr);
  id_ = other.id_;
  return *this;
}

Tensor::~Tensor() { Release(); }

void Tensor::Hold() const {
  if (builder_ != nullptr) builder_->Hold(id_);
}

void Tensor::Release() const {
  if (builder_ != nullptr) builder_->Release(id_);
}

Builder& Tensor::builder() const {
  FORETELL_CHECK(builder_ != nullptr, "an empty tensor was used");
  return *builder_;
}

const Shape& Tensor::shape() const { return builder().ValueOf(id_).shape; }

int64_t Tensor::size(int axis) const {
  const Shape& own = shape();
  const int at = axis < 0 ? axis + own.rank() : axis;
  if (at < 0 || at >= own.rank()) {
    builder().Fail("a tensor of shape " + own.ToString() + " has no axis " +
                   std::to_string(axis));
    return 0;
  }
  return own[at];
}

DType Tensor::dtype() const { return builder().ValueOf(id_).dtype; }

Scope::Scope(Builder& builder, RegionId region) : builder_(&builder) {
  builder_->calls_.push_back({.region = region});
}

Scope::~Scope() {
  Builder::Call ended = std::move(builder_->calls_.back());
  builder_->calls_.pop_back();
  if (ended.levels == 0) return;
  Builder::Call& caller = builder_->calls_.back();
  caller.beside = ended.returning;
  if (ended.levels == 1) return;
  caller.returning = std::move(ended.returning);
  caller.levels = ended.levels - 1;
}

Builder::Builder(Graph& graph, DType dtype)
    : graph_(&graph), dtype_(dtype), tape_(std::make_unique<Tape>(graph)) {
  FORETELL_CHECK(graph.regions.empty(), "a builder starts a new graph");
  graph_->regions.push_back({RegionId{}, "", RegionKind::kModel});
  calls_.push_back({.region = root()});
}

// The graph is finished: names that end now write nothing more.
Builder::~Builder() { is_ending_ = true; }

void Builder::StartPhase(Phase phase) {
  graph_->phases.push_back(
      {phase, static_cast<uint32_t>(graph_->steps.size())});
}

void Builder::ReturnBeside(Tensor tensor, int levels) {
  calls_.back().returning = std::move(tensor);
  calls_.back().levels = levels;
}

RegionId Builder::AddRegion(RegionId parent, std::string_view name,
                            RegionKind kind) {
  graph_->regions.push_back({parent, std::string(name), kind});
  return RegionId{static_cast<uint32_t>(graph_->regions.size() - 1)};
}

// From the first element to the last, as empty_strided() allocates.
StorageId Builder::NewStorage(StorageKind kind, const Shape& shape,
                              const Shape& strides, DType dtype) {
  std::optional<int64_t> span = shape.Elements() == 0 ? 0 : 1;
  for (int axis = 0; axis < shape.rank() && span && *span > 0; ++axis) {
    const auto reach = CheckedMul(shape[axis] - 1, strides[axis]);
    span = reach ? CheckedAdd(*span, *reach) : std::nullopt;
  }
  const auto bytes = span ? CheckedMul(*span, BytesOf(dtype)) : std::nullopt;
  graph_->storages.push_back({kind, bytes.value_or(-1)});
  return StorageId{static_cast<uint32_t>(graph_->storages.size() - 1)};
}

ValueId Builder::NewValue(const Shape& shape, const Shape& strides, DType dtype,
                          StorageId storage) {
  graph_->values.push_back({shape, strides, dtype, storage, false});
  holds_.push_back(0);
  return ValueId{static_cast<uint32_t>(graph_->values.size() - 1)};
}

ParameterId Builder::AddParameter(RegionId region, std::string_view name,
                                  const Shape& shape,
                                  std::optional<DType> dtype) {
  const Shape strides = ContiguousStrides(shape);
  const DType own = dtype.value_or(dtype_);
  const StorageId storage =
      NewStorage(StorageKind::kParameter, shape, strides, own);
  const ValueId value = NewValue(shape, strides, own, storage);
  graph_->values[value.index].requires_grad = true;
  Parameter parameter;
  parameter.region = region;
  parameter.name = std::string(name);
  parameter.value = value;
  graph_->parameters.push_back(std::move(parameter));
  return ParameterId{static_cast<uint32_t>(graph_->parameters.size() - 1)};
}

void Builder::Tie(ParameterId parameter, ParameterId target) {
  // A chain of ties ends at the parameter that owns the storage.
  while ((*graph_)[target].tied_to) target = *(*graph_)[target].tied_to;
  if (parameter == target) return;
  Parameter& tied = graph_->parameters[parameter.index];
  tied.tied_to = target;
  tied.value = (*graph_)[target].value;
}

void Builder::MarkExperts(ParameterId parameter, int64_t experts,
                          int64_t per_token) {
  graph_->parameters[parameter.index].experts = experts;
  graph_->parameters[parameter.index].experts_per_token = per_token;
}

void Builder::AddBuffer(RegionId region, std::string_view name,
                        const Shape& shape, DType dtype, bool persistent) {
  const Shape strides = ContiguousStrides(shape);
  const StorageId storage =
      NewStorage(StorageKind::kBuffer, shape, strides, dtype);
  const ValueId value = NewValue(shape, strides, dtype, storage);
  graph_->buffers.push_back({region, std::string(name), value, persistent});
}

void Builder::RequireGradient(const Tensor& tensor) {
  graph_->values[tensor.id().index].requires_grad = true;
}

Tensor Builder::Read(ParameterId parameter) {
  return Tensor(this, (*graph_)[parameter].value);
}

Tensor Builder::Read(ValueId value) { return Tensor(this, value); }

Tensor Builder::Input(const Shape& shape, DType dtype) {
  const Shape strides = ContiguousStrides(shape);
  const StorageId storage =
      NewStorage(StorageKind::kInput, shape, strides, dtype);
  const ValueId value = NewValue(shape, strides, dtype, storage);
  graph_->inputs.push_back(value);
  return Tensor(this, value);
}

Tensor Builder::Constant(const Shape& shape, DType dtype) {
  const Shape strides = ContiguousStrides(shape);
  const StorageId storage =
      NewStorage(StorageKind::kActivation, shape, strides, dtype);
  return Tensor(this, NewValue(shape, strides, dtype, storage));
}

Tensor Builder::Lasting(const Shape& shape, DType dtype) {
  const Shape strides = ContiguousStrides(shape);
  const StorageId storage =
      NewStorage(StorageKind::kLasting, shape, strides, dtype);
  const ValueId value = NewValue(shape, strides, dtype, storage);
  Hold(value);  // the module's own name, never released
  return Tensor(this, value);
}

Tensor Builder::State(const Shape& shape, const Shape& strides, DType dtype) {
  const StorageId storage =
      NewStorage(StorageKind::kState, shape, strides, dtype);
  return Tensor(this, NewValue(shape, strides, dtype, storage));
}

Tensor Builder::StateLike(ValueId parameter) {
  Value value = ValueOf(parameter);
  const int64_t bytes = graph_->storages[value.storage.index].bytes;
  value.storage = StorageId{static_cast<uint32_t>(graph_->storages.size())};
  value.requires_grad = false;
  graph_->storages.push_back({StorageKind::kState, bytes});
  const ValueId id{static_cast<uint32_t>(graph_->values.size())};
  graph_->values.push_back(value);
  holds_.push_back(0);
  return Tensor(this, id);
}

Tensor Builder::CutBefore(const Tensor& tensor, int axis, int64_t extent) {
  const Value value = ValueOf(tensor.id());
  Shape shape = value.shape;
  shape.Set(axis, extent);
  return Tensor(this,
                NewValue(shape, value.strides, value.dtype, value.storage));
}

Tensor Builder::Rebased(const Tensor& base) {
  const Value value = ValueOf(base.id());
  const ValueId id =
      NewValue(value.shape, value.strides, value.dtype, value.storage);
  graph_->values[id.index].requires_grad = true;
  return Tensor(this, id);
}

void Builder::Output(const Tensor& tensor) {
  graph_->outputs.push_back(tensor.id());
  Hold(tensor.id());  // the caller's own name, never released here
}

void Builder::Fail(const std::string& reason) {
  if (!failure_.empty()) return;
  const std::string path = graph_->PathOf(current_region());
  failure_ = path.empty() ? reason : path + ": " + reason;
}

void Builder::Assume(const std::string& what) {
  auto& all = graph_->assumptions;
  if (std::ranges::find(all, what) == all.end()) all.push_back(what);
}

Tensor Builder::Emit(const OperationRow& row,
                     std::initializer_list<Tensor> inputs,
                     std::initializer_list<Attribute> attributes) {
  const auto id = Write(row, std::span(inputs.begin(), inputs.size()),
                        std::span(attributes.begin(), attributes.size()));
  if (!id) return Tensor(this, poison_);
  // Outputs that the caller does not name go at once.
  for (size_t i = 1; i < graph_->operations[id->index].output_count; ++i) {
    Release(OutputOf(*id, i));
  }
  return Adopt(OutputOf(*id, 0));
}

std::vector<Tensor> Builder::EmitMany(const OperationRow& row,
                                      std::span<const Tensor> inputs,
                                      std::span<const Attribute> attributes) {
  const auto id = Write(row, inputs, attributes);
  // As many as any operation gives: the caller takes what it names.
  if (!id) return std::vector<Tensor>(kMostOutputs, Tensor(this, poison_));
  std::vector<Tensor> outputs;
  const size_t count = graph_->operations[id->index].output_count;
  outputs.reserve(count);
  for (size_t i = 0; i < count; ++i) outputs.push_back(Adopt(OutputOf(*id, i)));
  return outputs;
}

bool Builder::Records(const OperationRow& row,
                      std::span<const Tensor> inputs) const {
  if (!execution_.gradients || row.differentiable == Differentiable::kNo) {
    return false;
  }
  return std::ranges::any_of(inputs, [this](const Tensor& input) {
    return ValueOf(input.id()).requires_grad;
  });
}

// Parameters live anyway.
void Builder::HoldLeaves(OperationId operation,
                         std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    const Value& value = ValueOf(input.id());
    if (!value.requires_grad || tape_->MakerOf(input.id()).valid()) continue;
    if (graph_->storages[value.storage.index].kind ==
        StorageKind::kActivation) {
      tape_->HoldLeaf(operation, input);
    }
  }
}

bool Builder::Applies(const Save& save, std::span<const Tensor> inputs) const {
  if (save.input < 0) return false;
  if (save.when == 0) return true;
  uint32_t takes_gradient = 0;
  for (size_t i = 0; i < inputs.size() && i < 32; ++i) {
    if (ValueOf(inputs[i].id()).requires_grad) takes_gradient |= 1U << i;
  }
  return (save.when & takes_gradient) != 0;
}

std::vector<Tensor> Builder::CopiesToSave(const OperationRow& row,
                                          std::span<const Tensor> inputs) {
  std::vector<Tensor> copies;
  for (const Save& save : row.saves) {
    if (!save.copied || !Applies(save, inputs)) continue;
    copies.resize(inputs.size());
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): not negative here.
    const auto at = static_cast<size_t>(save.input);
    copies[at] = CloneContiguous(inputs[at]);
  }
  return copies;
}

void Builder::KeepNext(const Tensor& tensor, uint32_t operand, Operation& of) {
  const bool recomputes = tape_->in_frame();
  graph_->saved.push_back({tensor.id(), operand, recomputes});
  ++of.saved_count;
  if (recomputes) {
    tape_->KeepInFrame(of.saved_count == 1);
  } else {
    tape_->Keep(tensor);
  }
}

void Builder::SaveInputs(const OperationRow& row,
                         std::span<const Tensor> inputs,
                         std::span<const Tensor> copies) {
  for (const Save& save : row.saves) {
    if (!Applies(save, inputs)) continue;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): not negative here.
    const auto first = static_cast<size_t>(save.input);
    const size_t end = save.rest ? inputs.size() : first + 1;
    for (size_t i = first; i < end && i < inputs.size(); ++i) {
      if (save.attached) {
        const auto last = graph_->operations.size() - 1;
        tape_->HoldLeaf(OperationId{static_cast<uint32_t>(last)}, inputs[i]);
        continue;
      }
      const Tensor& kept = save.copied ? copies[i] : inputs[i];
      KeepNext(kept, static_cast<uint32_t>(i), graph_->operations.back());
    }
  }
}

void Builder::SaveOutputs(const OperationRow& row, OperationId operation) {
  const uint32_t inputs = graph_->operations[operation.index].input_count;
  const uint32_t outputs = graph_->operations[operation.index].output_count;
  for (const Save& save : row.saves) {
    if (save.output < 0) continue;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): not negative here.
    const auto at = static_cast<uint32_t>(save.output);
    if (at >= outputs) continue;
    const Tensor output(this, OutputOf(operation, at));
    // Autograd holds a view of its own; what has no gradient it holds itself.
    const bool is_view =
        ValueOf(output.id()).requires_grad && !tape_->in_frame();
    const Tensor kept = is_view ? Detach(output) : output;
    KeepNext(kept, inputs + at, graph_->operations[operation.index]);
  }
}

ValueId Builder::OutputOf(OperationId id, size_t index) const {
  return graph_->OutputsOf(graph_->operations[id.index])[index];
}

// The value is held already.
Tensor Builder::Adopt(ValueId id) {
  Tensor tensor;
  tensor.builder_ = this;
  tensor.id_ = id;
  return tensor;
}

bool Builder::Infer(const OperationRow& row, std::span<const Tensor> inputs,
                    std::span<const Attribute> attributes,
                    std::vector<OperationOutput>& outputs) {
  if (failure_.empty()) {
    input_values_.clear();
    for (const Tensor& input : inputs) {
      input_values_.push_back(&ValueOf(input.id()));
    }
    const std::string reason =
        row.infer(OperationArguments(input_values_, attributes), outputs);
    if (!reason.empty()) Fail(std::string(row.name) + ": " + reason);
  }
  if (failure_.empty()) return true;
  if (!poison_.valid()) {
    poison_ = NewValue({}, {}, dtype_,
                       NewStorage(StorageKind::kActivation, {}, {}, dtype_));
  }
  return false;
}

std::optional<OperationId> Builder::Write(
    const OperationRow& row, std::span<const Tensor> inputs,
    std::span<const Attribute> attributes) {
  if (row.autocast != AutocastPolicy::kNone && execution_.autocast) {
    std::vector<Tensor> cast(inputs.begin(), inputs.end());
    const AutocastCall call(*this, row.autocast, cast);
    return Write(row, cast, attributes);
  }
  // A step has many operations: the list is taken up again by the next. What
  // saving emits meanwhile takes another.
  std::vector<OperationOutput> outputs = std::move(spare_outputs_);
  outputs.clear();
  if (!Infer(row, inputs, attributes, outputs)) return std::nullopt;
  const auto is_differentiable = [&](size_t output) {
    const DType dtype = outputs[output].dtype;
    return (Describe(dtype).is_floating || dtype == DType::kComplex64) &&
           (row.differentiable_outputs < 0 ||
            output < static_cast<size_t>(row.differentiable_outputs));
  };
  const bool takes_gradient = Records(row, inputs);
  std::vector<Tensor> copies;
  if (takes_gradient) copies = CopiesToSave(row, inputs);
  bool records = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    records = records || (takes_gradient && is_differentiable(i));
  }
  const OperationId id{static_cast<uint32_t>(graph_->operations.size())};
  Operation operation;
  operation.row = &row;
  operation.region = current_region();
  operation.first_operand = static_cast<uint32_t>(graph_->operands.size());
  operation.input_count = static_cast<uint32_t>(inputs.size());
  operation.output_count = static_cast<uint32_t>(outputs.size());
  operation.first_attribute = static_cast<uint32_t>(graph_->attributes.size());
  operation.attribute_count = static_cast<uint32_t>(attributes.size());
  operation.first_saved = static_cast<uint32_t>(graph_->saved.size());
  for (const Tensor& input : inputs) graph_->operands.push_back(input.id());
  graph_->attributes.insert(graph_->attributes.end(), attributes.begin(),
                            attributes.end());
  graph_->operations.push_back(operation);
  if (records) {
    tape_->Record(id);
    HoldLeaves(id, inputs);
    SaveInputs(row, inputs, copies);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OperationOutput& output = outputs[i];
    const StorageId storage =
        output.shares >= 0
            ? ValueOf(inputs[static_cast<size_t>(output.shares)].id()).storage
            : NewStorage(StorageKind::kActivation, output.shape, output.strides,
                         output.dtype);
    const ValueId value =
        NewValue(output.shape, output.strides, output.dtype, storage);
    const bool has_gradient = records && is_differentiable(i);
    graph_->values[value.index].requires_grad = has_gradient;
    graph_->operands.push_back(value);
    if (has_gradient) tape_->SetMaker(value, id);
    Hold(value);  // for the caller
  }
  graph_->steps.push_back({Step::Kind::kOperation, id.index});
  spare_outputs_ = std::move(outputs);
  if (records) SaveOutputs(row, id);
  if (!tape_->KeepsResult(row)) return id;
  for (size_t i = 0; i < spare_outputs_.size(); ++i) {
    tape_->KeepResult(id, Tensor(this, OutputOf(id, i)));
  }
  return id;
}

void Builder::Hold(ValueId id) { ++holds_[id.index]; }

void Builder::Release(ValueId id) {
  if (is_ending_ || --holds_[id.index] > 0 || id == poison_) return;
  const StorageKind kind =
      graph_->storages[graph_->values[id.index].storage.index].kind;
  // Parameters and buffers are held by their module, inputs by the caller.
  if (kind == StorageKind::kActivation || kind == StorageKind::kState) {
    graph_->steps.push_back({Step::Kind::kDrop, id.index});
  }
  tape_->LoseOutput(id);
}

}  // namespace foretell
