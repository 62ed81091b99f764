#include "models/layers/selective_scan.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// How much of the state lasts and how much each token adds, for every token.
struct Discrete {
  Tensor a_bdsn;
  Tensor b_bdsn;
  Tensor added_bdsn;
};

Discrete Discretize(const SelectiveScanInputs& inputs, const Tensor& step_bds,
                    const Tensor& b_bsn) {
  Discrete out;
  const auto decay = [&] {
    Tensor a = Unsqueeze(Unsqueeze(inputs.a_dn, 0), 2);
    return Mul(std::move(a), Unsqueeze(step_bds, 3));
  };
  out.a_bdsn = Exp(decay());
  const auto weigh = [&] {
    const Tensor step = Unsqueeze(step_bds, 3);
    const Tensor b = To(Unsqueeze(b_bsn, 1), DType::kFloat32);
    return Mul(step, b);
  };
  out.b_bdsn = weigh();
  const auto add = [&] {
    const Tensor hidden = Unsqueeze(inputs.hidden_bds, 3);
    return Mul(out.b_bdsn, To(hidden, DType::kFloat32));
  };
  out.added_bdsn = add();
  return out;
}

// The state after a token, from the one before it.
Tensor Advance(const Discrete& discrete, int64_t token,
               const Tensor& state_bdn) {
  const Tensor lasting = Mul(Select(discrete.a_bdsn, 2, token), state_bdn);
  return Add(lasting, Select(discrete.added_bdsn, 2, token));
}

// What is read from the state: [b, d].
Tensor ReadOut(const Tensor& state_bdn, const Tensor& c_bsn, int64_t token,
               DType dtype) {
  const auto read = [&] {
    const Tensor state = To(state_bdn, dtype);
    return Matmul(state, Unsqueeze(Select(c_bsn, 1, token), -1));
  };
  return Select(read(), 2, 0);
}

}  // namespace

Tensor SelectiveScan(const SelectiveScanInputs& inputs, Tensor* last_bdn) {
  Tensor step_bds = inputs.step_bds;
  const auto shift = [&] {
    const Tensor bias = To(inputs.step_bias_d, step_bds.dtype());
    return Add(step_bds, Unsqueeze(bias, 1));
  };
  step_bds = shift();
  step_bds = Softplus(step_bds);
  const Tensor b_bsn = Transpose(inputs.b_bns, 1, 2);
  const Tensor c_bsn = Transpose(inputs.c_bns, 1, 2);
  const Discrete discrete = Discretize(inputs, step_bds, b_bsn);
  const Tensor& hidden = inputs.hidden_bds;
  Tensor state_bdn = Zeros(
      hidden.builder(), {hidden.size(0), hidden.size(1), inputs.a_dn.size(-1)},
      hidden.dtype());
  const int64_t tokens = hidden.size(2);
  std::vector<Tensor> outputs;
  outputs.reserve(static_cast<size_t>(tokens));
  for (int64_t token = 0; token < tokens; ++token) {
    state_bdn = Advance(discrete, token, state_bdn);
    outputs.push_back(ReadOut(state_bdn, c_bsn, token, hidden.dtype()));
    if (!hidden.builder().failure().empty()) break;
  }
  if (outputs.empty()) return hidden;  // the graph has failed already
  Tensor output_bds = Stack(outputs, -1);
  const auto skip = [&] {
    const Tensor weight = Unsqueeze(Unsqueeze(inputs.skip_d, 0), 2);
    return Add(output_bds, Mul(hidden, weight));
  };
  output_bds = skip();
  output_bds = Mul(output_bds, Silu(inputs.gate_bds));
  if (last_bdn != nullptr) *last_bdn = state_bdn;
  return output_bds;
}

Tensor SelectiveStep(const SelectiveStepInputs& inputs,
                     const Tensor& state_bdn) {
  const DType dtype = inputs.hidden_bd.dtype();
  Tensor step = inputs.step_bd;
  const auto shift = [&] {
    return Add(step, To(inputs.step_bias_d, step.dtype()));
  };
  step = shift();
  step = Softplus(step);
  const auto wide = [&] { return Unsqueeze(To(step, DType::kFloat32), 2); };
  const auto decay = [&] { return Mul(wide(), inputs.a_dn); };
  const Tensor lasting = Exp(decay());
  const auto weigh = [&] {
    const Tensor b = To(inputs.b_bn, DType::kFloat32);
    return Mul(wide(), Unsqueeze(b, 1));
  };
  const Tensor weighed = weigh();
  const auto add = [&] {
    const Tensor hidden = To(inputs.hidden_bd, DType::kFloat32);
    return Mul(weighed, Unsqueeze(hidden, 2));
  };
  const Tensor added = add();
  const auto advance = [&] {
    return Add(Mul(To(state_bdn, DType::kFloat32), lasting), added);
  };
  const Tensor state = advance();
  CopyInto(state_bdn, To(state, state_bdn.dtype()));
  const auto read = [&] {
    const Tensor c = inputs.c_bn;
    return Matmul(To(state, c.dtype()), Unsqueeze(c, 2));
  };
  const auto read_out = [&] { return SqueezeAxis(read(), -1); };
  Tensor out = read_out();
  const auto skip = [&] {
    return Add(out, Mul(inputs.hidden_bd, inputs.skip_d));
  };
  out = skip();
  const auto gate = [&] { return Mul(out, Silu(inputs.gate_bd)); };
  out = gate();
  return To(out, dtype);
}

}  // namespace foretell
