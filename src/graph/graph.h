// A step of a model as plain data: values, the operations between them, and
// the tree of regions that lies over the flat list.
//
// One graph holds what PyTorch would execute, in order, under PyTorch's names.
// Everything is addressed by typed 32-bit ids into vectors; there are no
// pointers and no virtual calls. `Builder` writes graphs, passes rewrite them,
// analyses read them.
//
//   value      a tensor as a name sees it: shape, strides, dtype, and the
//              storage it lives in; views share a storage
//   operation  a row of the table in graph/ops, its inputs, outputs, attributes
//   step       an operation, or the `drop` of a value's last name: a tensor
//              lives while a Python name holds it, not until its last use
//   region     a module of the model; a parameter's name is its region's path
//              and its own name
#ifndef FORETELL_GRAPH_GRAPH_H_
#define FORETELL_GRAPH_GRAPH_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace foretell {

struct OperationRow;

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffff;
  uint32_t index = kNone;
  bool valid() const { return index != kNone; }
  friend auto operator<=>(const Id&, const Id&) = default;
};
using StorageId = Id<struct StorageTag>;
using ValueId = Id<struct ValueTag>;
using OperationId = Id<struct OperationTag>;
using RegionId = Id<struct RegionTag>;
using ParameterId = Id<struct ParameterTag>;

// What a part of a model is; checkpoint units, adapter targets and sums by
// part attach to it.
enum class RegionKind : uint8_t {
  kModel,
  kBlock,
  kAttention,
  kMixer,  // of tokens, in place of attention: a scan, a convolution
  kMlp,
  kExperts,
  kRouter,
  kNorm,
  kEmbedding,
  kHead,
  kLinear,
  kOther,
};
std::string_view NameOf(RegionKind kind);  // "attention", "mlp", …

struct Region {
  RegionId parent;   // none for the root
  std::string name;  // "self_attn"; empty for the root
  RegionKind kind = RegionKind::kOther;
};

// From an earlier step: `kState` is an optimizer's, `kLasting` a tensor that
// the model made and keeps, but not as a buffer.
enum class StorageKind : uint8_t {
  kParameter,
  kBuffer,
  kInput,
  kActivation,
  kState,
  kLasting,
};

struct Storage {
  StorageKind kind = StorageKind::kActivation;
  int64_t bytes = 0;  // -1 where the size passes 2^63 - 1
};

struct Value {
  Shape shape;
  Shape strides;  // in elements, one per dim
  DType dtype = DType::kFloat32;
  StorageId storage;
  bool requires_grad = false;
};

// A plain argument of an operation: an axis, a scale, a list of sizes.
using Attribute = std::variant<int64_t, double, bool, DType, Shape>;

struct Operation {
  const OperationRow* row = nullptr;
  RegionId region;
  uint32_t first_operand = 0;  // inputs, then outputs, in Graph::operands
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  uint32_t first_saved = 0;  // in Graph::saved
  uint32_t saved_count = 0;
};

// A value that autograd keeps for the backward of an operation.
struct Saved {
  ValueId value;
  uint32_t operand = 0;  // which of its inputs, then outputs, it is
  // Not kept: the backward runs the region's forward again to get it.
  bool is_recomputed = false;
};

// The part of a training step that the steps from `first_step` on belong to.
enum class Phase : uint8_t { kForward, kBackward, kOptimizer };
std::string_view NameOf(Phase phase);  // "forward", …

struct PhaseStart {
  Phase phase = Phase::kForward;
  uint32_t first_step = 0;
};

struct Step {
  enum class Kind : uint8_t { kOperation, kDrop };
  Kind kind = Kind::kOperation;
  uint32_t index = 0;  // of the operation, or of the dropped value
};

// A parameter under the name that the model's state_dict gives it.
struct Parameter {
  RegionId region;
  std::string name;  // within its region: "weight"
  ValueId value;
  // Set where this name is another parameter's storage ("lm_head.weight").
  std::optional<ParameterId> tied_to;
  // Of `experts` equal slices, this many serve one token; 0 where every
  // element serves every token.
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  bool trainable = true;
};

struct Buffer {
  RegionId region;
  std::string name;
  ValueId value;
  bool persistent = false;  // part of the state_dict
};

// A linear layer, torch's [out, in] or transformers' Conv1D [in, out]: what an
// adapter can lie beside.
struct LinearLayer {
  RegionId region;
  ParameterId weight;
  bool is_conv1d = false;
};

// A low-rank adapter beside a linear layer, whose result becomes
// base(x) + scaling B(A(dropout(x))).
struct Adapter {
  RegionId region;  // of the layer
  RegionId base;    // holds the layer's own weight from then on
  RegionId dropout_region;
  RegionId a_region;
  RegionId b_region;
  ParameterId a;  // [rank, in]
  ParameterId b;  // [out, rank]
  double scaling = 1;
  double dropout = 0;
};

// A low-rank adapter of a parameter that no linear layer holds: whoever reads
// it gets weight + scaling * delta, with a delta for each of `slices`.
struct ParameterAdapter {
  ParameterId parameter;
  RegionId module;   // that holds the parameter, as the model's source has it
  RegionId wrapper;  // runs the module within
  RegionId base;     // what it wraps: the next wrapper, or the module itself
  ParameterId a;     // [slices * rank, in]
  ParameterId b;     // [out, slices * rank]
  int64_t slices = 1;
  bool by_input = false;  // stored as [slices, in, out]
  double scaling = 1;
};

struct Graph {
  std::vector<Region> regions;  // the root first
  std::vector<Storage> storages;
  std::vector<Value> values;
  std::vector<Operation> operations;
  std::vector<ValueId> operands;
  std::vector<Attribute> attributes;
  std::vector<Saved> saved;
  std::vector<Step> steps;
  std::vector<PhaseStart> phases;     // empty: all of it is a forward
  std::vector<Parameter> parameters;  // in the order the model makes them
  std::vector<Buffer> buffers;
  std::vector<LinearLayer> linears;
  std::vector<RegionId> input_embeddings;     // tables that look tokens up
  std::optional<RegionId> output_embeddings;  // the linear layer of the logits
  std::vector<Adapter> adapters;              // by region
  // The outermost wrapper of a module first.
  std::vector<ParameterAdapter> parameter_adapters;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // What sizes that depend on data were taken to be, each once: for people.
  std::vector<std::string> assumptions;

  const Value& operator[](ValueId id) const;
  const Region& operator[](RegionId id) const;
  const Parameter& operator[](ParameterId id) const;

  std::span<const ValueId> InputsOf(const Operation& operation) const;
  std::span<const ValueId> OutputsOf(const Operation& operation) const;
  std::span<const Attribute> AttributesOf(const Operation& operation) const;
  std::span<const Saved> SavedOf(const Operation& operation) const;

  // Null where none lies beside the region's layer.
  const Adapter* AdapterOf(RegionId region) const;

  // "model.layers.0.self_attn"; empty for the root.
  std::string PathOf(RegionId id) const;
  std::string NameOf(const Parameter& parameter) const;
  std::string NameOf(const Buffer& buffer) const;
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_GRAPH_H_
