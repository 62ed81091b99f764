#include "models/layers/rg_lru.h"

#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/bounded_sqrt.h"
#include "graph/ops/convolution.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// _rnn_scan over more than one token.
Tensor Scan(const Tensor& hidden, const Tensor& gates, const Tensor& reset,
            Tensor& kept) {
  Builder& builder = hidden.builder();
  const Tensor lasting = Mul(gates, BitwiseNot(reset));
  Tensor state = kept;  // the block's own lasts until the scan is over
  if (state.empty()) {
    const auto shape = [&] { return Select(hidden, 1, 0).shape(); };
    const Shape one = shape();
    state = Zeros(builder, one, DType::kFloat32);
  }
  Tensor out = ZerosLike(hidden);
  const int64_t tokens = hidden.size(1);
  for (int64_t i = 0; i < tokens; ++i) {
    const auto decay = [&] {
      const Tensor gate = To(Select(lasting, 1, i), DType::kFloat32);
      return Mul(gate, state);
    };
    state = decay();
    const auto add = [&] {
      const Tensor added = To(Select(hidden, 1, i), DType::kFloat32);
      return Add(state, added);
    };
    state = add();
    const Tensor written = To(state, hidden.dtype());
    out = WriteThrough(out, Select(out, 1, i), [&](Tensor view) {
            return CopyInto(std::move(view), written);
          }).base;
    if (!builder.failure().empty()) break;
  }
  kept = state;
  return out;
}

}  // namespace

RgLru::RgLru(const Module& at, const RgLruConfig& settings)
    : module(at),
      config(settings),
      recurrent_param(at.Parameter("recurrent_param", {config.width})),
      input_gate_weight(at.Parameter("input_gate_weight",
                                     {config.heads, config.width / config.heads,
                                      config.width / config.heads})),
      input_gate_bias(at.Parameter(
          "input_gate_bias", {config.heads, config.width / config.heads})),
      recurrent_gate_weight(at.Parameter(
          "recurrent_gate_weight", {config.heads, config.width / config.heads,
                                    config.width / config.heads})),
      recurrent_gate_bias(at.Parameter(
          "recurrent_gate_bias", {config.heads, config.width / config.heads})) {
}

Tensor RgLru::Gate(const Tensor& by_head, ParameterId weight, ParameterId bias,
                   const Shape& shape, Tensor& product) const {
  Builder& builder = module.builder();
  product =
      Baddbmm(Unsqueeze(builder.Read(bias), 1), by_head, builder.Read(weight));
  const auto join = [&] { return Reshape(Transpose(product, 0, 1), shape); };
  return Sigmoid(join());
}

Tensor RgLru::Forward(const Tensor& x, const Tensor& position_ids,
                      Tensor& state) const {
  const Scope scope = module.Enter();
  const Shape shape = {x.size(0), x.size(1), x.size(2)};
  const Tensor reset = EqScalar(Unsqueeze(position_ids, 2), 0);
  Tensor by_head = Reshape(
      x, {shape[0] * shape[1], config.heads, config.width / config.heads});
  by_head = Permute(by_head, {1, 0, 2});
  Tensor product;  // one name for both
  const Tensor input_gate =
      Gate(by_head, input_gate_weight, input_gate_bias, shape, product);
  Tensor gate =
      Gate(by_head, recurrent_gate_weight, recurrent_gate_bias, shape, product);
  const auto logarithm = [&] {
    const Tensor scaled = MulScalar(gate, -8);
    return Mul(scaled, Softplus(module.builder().Read(recurrent_param)));
  };
  const Tensor log_gate = logarithm();
  gate = Exp(log_gate);
  const Tensor squared = Exp(MulScalar(log_gate, 2));
  const Tensor gated = Mul(x, input_gate);
  Tensor factor = BoundedSqrt(RsubScalar(squared, 1));
  const auto bound = [&] {
    const Tensor goes_on = BitwiseNot(reset);
    return Add(reset, Mul(goes_on, factor));
  };
  factor = bound();
  const auto normalize = [&] { return Mul(gated, To(factor, x.dtype())); };
  const Tensor normalized = normalize();
  return Scan(normalized, gate, reset, state);
}

RecurrentBlock::RecurrentBlock(const Module& at, const RgLruConfig& settings)
    : module(at),
      config(settings),
      linear_y(at.Child("linear_y", RegionKind::kLinear), config.hidden,
               config.width, true),
      linear_x(at.Child("linear_x", RegionKind::kLinear), config.hidden,
               config.width, true),
      linear_out(at.Child("linear_out", RegionKind::kLinear), config.width,
                 config.hidden, true),
      conv_region(at.Child("conv_1d")),
      conv_1d(conv_region, config.width, config.kernel, true),
      rg_lru(at.Child("rg_lru", RegionKind::kMixer), config),
      act_fn(at.Child("act_fn"), config.activation) {}

Tensor RecurrentBlock::Forward(const Tensor& input, const Tensor& position_ids,
                               bool keeps, RecurrentCache& cache) const {
  const Scope scope = module.Enter();
  const int64_t length = input.size(1);
  Tensor y = linear_y.Forward(input);
  y = act_fn.Forward(y);
  Tensor x = linear_x.Forward(input);
  x = Transpose(x, 1, 2);
  if (keeps) {
    cache.conv_bdk = ConstantPad(x, config.kernel - length - 1, 0, 0);
  } else {
    cache = {};
  }
  const auto convolve = [&] {
    const Scope inside = conv_region.Enter();
    Builder& builder = module.builder();
    return Convolution(x, builder.Read(conv_1d.weight),
                       builder.Read(*conv_1d.bias),
                       {.stride = {1},
                        .padding = {config.kernel - 1},
                        .dilation = {1},
                        .groups = config.width});
  };
  const auto cut = [&] { return SliceRange(convolve(), 2, 0, length); };
  x = cut();
  const auto recur = [&] {
    const Tensor turned = Transpose(x, 1, 2);
    return rg_lru.Forward(turned, position_ids, cache.recurrent);
  };
  x = recur();
  Tensor hidden = Mul(x, y);
  hidden = linear_out.Forward(hidden);
  return hidden;
}

}  // namespace foretell
