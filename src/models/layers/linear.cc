#include "models/layers/linear.h"

#include <algorithm>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/adapted_linear.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"

namespace foretell {

namespace {

Tensor Multiply(Builder& builder, const Tensor& x, ParameterId weight,
                std::optional<ParameterId> bias) {
  return ApplyLinear(x, builder.Read(weight),
                     bias ? builder.Read(*bias) : Tensor());
}

Tensor MultiplyConv1D(Builder& builder, const Tensor& x, ParameterId weight,
                      ParameterId bias) {
  Shape out = x.shape();
  if (out.rank() == 0) return x;
  out.Set(-1, builder.Read(weight).size(1));
  const Tensor rows = View(x, {-1, x.size(-1)});
  return View(Addmm(builder.Read(bias), rows, builder.Read(weight)), out);
}

// DoRA's magnitude; none of other adapters. It follows B (passes/adapters.h).
std::optional<ParameterId> MagnitudeOf(const Graph& graph,
                                       const Adapter& adapter) {
  const ParameterId next{adapter.b.index + 1};
  if (next.index >= graph.parameters.size()) return std::nullopt;
  const RegionId outer = graph[graph[next].region].parent;
  if (!outer.valid() || graph[outer].name != "lora_magnitude_vector") {
    return std::nullopt;
  }
  return next;
}

// The norm of the adapted weight, row by row: no gradient goes through it. The
// identity matrix is no operation here; zeros of its size stand for it.
Tensor NormOfAdapted(Builder& builder, const Adapter& adapter, const Tensor& x,
                     ParameterId weight) {
  const auto adapted = [&] {
    const int64_t in = builder.Read(adapter.a).size(1);
    const Tensor eye = Zeros(builder, {in, in}, x.dtype());
    const Tensor low = Multiply(builder, eye, adapter.a, std::nullopt);
    return To(T(Multiply(builder, low, adapter.b, std::nullopt)), x.dtype());
  };
  const Tensor change = adapted();
  const Tensor whole = To(builder.Read(weight), x.dtype());
  Tensor sum = Add(whole, MulScalar(Detach(change), adapter.scaling));
  return Detach(SumAxes(std::move(sum), {1}, false));
}

// Source: peft 0.21, tuners/lora/dora.py (DoraLinearLayer.forward).
Tensor WithMagnitude(Builder& builder, const Adapter& adapter,
                     ParameterId magnitude, ParameterId weight, const Tensor& x,
                     const Tensor& result) {
  const DType dtype = result.dtype();
  const Tensor cast = To(x, builder.Read(adapter.a).dtype());
  Tensor scale;
  {
    const Tensor norm = NormOfAdapted(builder, adapter, cast, weight);
    scale = Div(builder.Read(magnitude), norm);
  }
  scale = View(std::move(scale), {1, result.size(-1)});
  const auto lower = [&] {
    return Multiply(builder, cast, adapter.a, std::nullopt);
  };
  const Tensor change = Multiply(builder, lower(), adapter.b, std::nullopt);
  Tensor own = Mul(SubScalar(scale, 1), result);
  Tensor other = MulScalar(Mul(scale, change), adapter.scaling);
  Tensor sum = Add(std::move(own), std::move(other));
  return To(Add(result, std::move(sum)), dtype);
}

// `result` is the layer's own; the adapter works in its own dtype.
Tensor WithAdapter(Builder& builder, const Adapter& adapter, const Tensor& x,
                   Tensor result,
                   std::optional<ParameterId> weight = std::nullopt) {
  if (const auto magnitude = MagnitudeOf(builder.graph(), adapter)) {
    if (weight) {
      return WithMagnitude(builder, adapter, *magnitude, *weight, x, result);
    }
    builder.Fail("DoRA of a layer that computes its product in its own way");
  }
  const DType dtype = result.dtype();
  const Tensor cast = To(x, builder.Read(adapter.a).dtype());
  const auto lower = [&] {
    const auto drop = [&] {
      const Scope scope(builder, adapter.dropout_region);
      return ApplyDropout(cast, adapter.dropout);
    };
    const Tensor dropped = drop();
    const Scope scope(builder, adapter.a_region);
    return Multiply(builder, dropped, adapter.a, std::nullopt);
  };
  const auto raise = [&] {
    const Tensor low = lower();
    const Scope scope(builder, adapter.b_region);
    return Multiply(builder, low, adapter.b, std::nullopt);
  };
  result = Add(std::move(result), MulScalar(raise(), adapter.scaling));
  return To(std::move(result), dtype);
}

}  // namespace

Linear::Linear(const Module& at, int64_t in, int64_t out, bool has_bias,
               std::optional<DType> dtype)
    : module(at),
      weight(
          at.builder().AddParameter(at.region(), "weight", {out, in}, dtype)) {
  if (has_bias) {
    bias = at.builder().AddParameter(at.region(), "bias", {out}, dtype);
  }
  at.builder().graph().linears.push_back({at.region(), weight});
}

Tensor RunLinear(const Module& module, const Tensor& x,
                 const std::function<Tensor()>& multiply) {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const Adapter* adapter = builder.graph().AdapterOf(module.region());
  if (adapter == nullptr) return multiply();
  const auto run_base = [&] {
    const Scope base(builder, adapter->base);
    return multiply();
  };
  return WithAdapter(builder, *adapter, x, run_base());
}

Tensor Linear::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const Adapter* adapter = builder.graph().AdapterOf(module.region());
  if (adapter == nullptr) return Multiply(builder, x, weight, bias);
  const auto run_base = [&] {
    const Scope base(builder, adapter->base);
    return Multiply(builder, x, weight, bias);
  };
  return WithAdapter(builder, *adapter, x, run_base(), weight);
}

Conv1D::Conv1D(const Module& at, int64_t in, int64_t out)
    : module(at),
      weight(at.Parameter("weight", {in, out})),
      bias(at.Parameter("bias", {out})) {
  at.builder().graph().linears.push_back({at.region(), weight, true});
}

Tensor Conv1D::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const Adapter* adapter = builder.graph().AdapterOf(module.region());
  if (adapter == nullptr) return MultiplyConv1D(builder, x, weight, bias);
  const auto run_base = [&] {
    const Scope base(builder, adapter->base);
    return MultiplyConv1D(builder, x, weight, bias);
  };
  return WithAdapter(builder, *adapter, x, run_base());
}

void RequireInputGradient(const Module& module, const Tensor& rows) {
  Builder& builder = module.builder();
  if (!builder.execution().inputs_take_gradient) return;
  const auto& inputs = builder.graph().input_embeddings;
  if (std::ranges::find(inputs, module.region()) != inputs.end()) {
    builder.RequireGradient(rows);
  }
}

Embedding::Embedding(const Module& at, int64_t rows, int64_t width,
                     bool is_scaled, bool is_whole)
    : module(at), weight(at.Parameter("weight", {rows, width})) {
  // Else the model scales what the table gives.
  if (!is_scaled || at.builder().library().scales_by_constant) return;
  at.Buffer("embed_scale", {}, is_whole ? DType::kInt64 : at.builder().dtype(),
            false);
  scale = at.builder().graph().buffers.back().value;
}

Tensor Embedding::Forward(const Tensor& indices) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Tensor rows = EmbeddingOp(builder.Read(weight), indices);
  if (scale) {
    const Tensor factor = To(builder.Read(*scale), rows.dtype());
    rows = Mul(std::move(rows), factor);
  }
  RequireInputGradient(module, rows);
  return rows;
}

}  // namespace foretell
