#include "models/layers/gated_delta_net.h"

#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/gated_delta_rule.h"

namespace foretell {

LayerState GatedDeltaConfig::State() const {
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = value_heads;
  state.key_dim = key_dim;
  state.value_dim = value_dim;
  state.conv_channels = Channels();
  state.conv_tokens = kernel;
  return state;
}

DeltaNetNorm::DeltaNetNorm(const Module& at, int64_t width, double eps)
    : module(at), weight(at.Parameter("weight", {width})), epsilon(eps) {}

Tensor DeltaNetNorm::Forward(const Tensor& input, const Tensor& gate) const {
  const Scope scope = module.Enter();
  const DType dtype = input.dtype();
  Tensor hidden = To(input, DType::kFloat32);
  const Tensor variance = MeanLast(PowScalar(hidden, 2));
  hidden = Mul(hidden, Rsqrt(AddScalar(variance, epsilon)));
  hidden = Mul(module.builder().Read(weight), To(hidden, dtype));
  const auto opened = [&] { return Silu(To(gate, DType::kFloat32)); };
  hidden = Mul(hidden, opened());
  return To(hidden, dtype);
}

namespace {

std::optional<Linear> MakeLinear(const Module& at, std::string_view name,
                                 bool exists, int64_t in, int64_t out) {
  if (!exists) return std::nullopt;
  return Linear(at.Child(name, RegionKind::kLinear), in, out, false);
}

}  // namespace

GatedDeltaNet::GatedDeltaNet(const Module& at, const GatedDeltaConfig& settings)
    : module(at),
      config(settings),
      dt_bias(at.Parameter("dt_bias", {config.value_heads})),
      a_log(at.Parameter("A_log", {config.value_heads})),
      conv1d(at.Child("conv1d"), config.Channels(), config.kernel, false),
      in_proj_qkvz(MakeLinear(at, "in_proj_qkvz", config.joins_projections,
                              config.hidden,
                              2 * config.KeyWidth() + 2 * config.ValueWidth())),
      in_proj_ba(MakeLinear(at, "in_proj_ba", config.joins_projections,
                            config.hidden, 2 * config.value_heads)),
      norm(at.Child("norm", RegionKind::kNorm), config.value_dim,
           config.norm_epsilon),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.ValueWidth(),
               config.hidden, false),
      in_proj_qkv(MakeLinear(at, "in_proj_qkv", !config.joins_projections,
                             config.hidden, config.Channels())),
      in_proj_z(MakeLinear(at, "in_proj_z", !config.joins_projections,
                           config.hidden, config.ValueWidth())),
      in_proj_b(MakeLinear(at, "in_proj_b", !config.joins_projections,
                           config.hidden, config.value_heads)),
      in_proj_a(MakeLinear(at, "in_proj_a", !config.joins_projections,
                           config.hidden, config.value_heads)) {}

GatedDeltaNet::Projected GatedDeltaNet::Project(const Tensor& hidden) const {
  Projected out;
  out.mixed_bds = in_proj_qkv->Forward(hidden);
  out.mixed_bds = Transpose(out.mixed_bds, 1, 2);
  out.gate_bshv = in_proj_z->Forward(hidden);
  out.gate_bshv = Reshape(
      out.gate_bshv, {hidden.size(0), hidden.size(1), -1, config.value_dim});
  out.beta_bsh = in_proj_b->Forward(hidden);
  out.decay_bsh = in_proj_a->Forward(hidden);
  return out;
}

// fix_query_key_value_ordering: the projections' results lie group by group,
// one for each head of keys.
GatedDeltaNet::Projected GatedDeltaNet::ProjectJoined(
    const Tensor& hidden) const {
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t groups = config.key_heads;
  const int64_t each = config.value_heads / groups;
  const int64_t values = each * config.value_dim;
  Projected out;
  out.whole = in_proj_qkvz->Forward(hidden);
  out.whole_rest = in_proj_ba->Forward(hidden);
  Tensor query;
  Tensor key;
  Tensor value;
  const auto order = [&] {
    const Tensor qkvz = View(
        out.whole, {batch, length, groups, 2 * config.key_dim + 2 * values});
    const Tensor ba = View(out.whole_rest, {batch, length, groups, 2 * each});
    const std::vector<Tensor> four =
        SplitSizes(qkvz, {config.key_dim, config.key_dim, values, values}, 3);
    const std::vector<Tensor> two = SplitSizes(ba, {each, each}, 3);
    if (four.size() != 4 || two.size() != 2) return false;
    query = four[0];
    key = four[1];
    value = Reshape(four[2], {batch, length, -1, config.value_dim});
    out.gate_bshv = Reshape(four[3], {batch, length, -1, config.value_dim});
    out.beta_bsh = Reshape(two[0], {batch, length, config.value_heads});
    out.decay_bsh = Reshape(two[1], {batch, length, config.value_heads});
    return true;
  };
  if (!order()) return out;  // the graph has failed already
  for (const Tensor* part : {&query, &key, &value}) {
    out.parts.push_back(Reshape(*part, {batch, length, -1}));
  }
  out.mixed_bds = Cat(out.parts, -1);
  out.mixed_bds = Transpose(out.mixed_bds, 1, 2);
  return out;
}

Tensor GatedDeltaNet::Convolve(Tensor mixed_bds, int64_t length,
                               CachedLayer* cached) const {
  const auto activate = [this](const Tensor& x) {
    return Activate(config.activation, x);
  };
  RecurrentCache* cache = cached != nullptr ? &cached->recurrent : nullptr;
  if (cache != nullptr && cache->IsFilled() && length == 1) {
    return UpdateConvolution(module, conv1d, activate, mixed_bds, *cache);
  }
  if (cache != nullptr) {
    mixed_bds = FillConvCache(mixed_bds, config.kernel, *cache);
  }
  mixed_bds = CausalConvolution(module, conv1d, activate, mixed_bds);
  return cache != nullptr ? LatestTokens(mixed_bds, length) : mixed_bds;
}

Tensor GatedDeltaNet::Forward(const Tensor& hidden, CachedLayer* cached) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const bool goes_on = cached != nullptr && cached->recurrent.IsFilled();
  Projected projected =
      config.joins_projections ? ProjectJoined(hidden) : Project(hidden);
  if (!builder.failure().empty()) return hidden;
  Tensor mixed = Convolve(std::move(projected.mixed_bds), length, cached);
  mixed = Transpose(mixed, 1, 2);
  const std::vector<Tensor> parts = SplitSizes(
      mixed, {config.KeyWidth(), config.KeyWidth(), config.ValueWidth()}, -1);
  if (parts.size() != 3) return hidden;  // the graph has failed already
  projected.parts.clear();
  GatedDeltaInputs inputs;
  inputs.query_bsgk = Reshape(parts[0], {batch, length, -1, config.key_dim});
  inputs.key_bsgk = Reshape(parts[1], {batch, length, -1, config.key_dim});
  inputs.value_bshv = Reshape(parts[2], {batch, length, -1, config.value_dim});
  inputs.beta_bsh = Sigmoid(projected.beta_bsh);
  const auto decay = [&] {
    const auto rate = [&] {
      const auto raised = [&] {
        return Exp(To(builder.Read(a_log), DType::kFloat32));
      };
      return Neg(raised());
    };
    const Tensor rates = rate();
    const auto step = [&] {
      const auto shifted = [&] {
        return Add(To(projected.decay_bsh, DType::kFloat32),
                   builder.Read(dt_bias));
      };
      return Softplus(shifted());
    };
    return Mul(rates, step());
  };
  inputs.decay_bsh = decay();
  if (goes_on) inputs.state_bhkv = cached->recurrent.recurrent;
  Tensor last;
  Tensor* keeps_last = cached != nullptr ? &last : nullptr;
  Tensor out = goes_on && length == 1 ? RecurrentGatedDelta(inputs, keeps_last)
                                      : ChunkGatedDelta(inputs, keeps_last);
  if (cached != nullptr) {
    if (goes_on) {
      CopyInto(cached->recurrent.recurrent, last);
    } else {
      FillRecurrentCache(last, cached->recurrent);
    }
  }
  const Shape joined = {batch, length, -1};
  out = Reshape(out, {-1, config.value_dim});
  projected.gate_bshv = Reshape(projected.gate_bshv, {-1, config.value_dim});
  out = norm.Forward(out, projected.gate_bshv);
  if (config.joins_projections) {
    out = Reshape(out, {batch, length, config.value_heads, config.value_dim});
  }
  out = Reshape(out, joined);
  return out_proj.Forward(out);
}

}  // namespace foretell
