#include "models/layers/mamba2_mixer.h"

#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/chunk_scan.h"
#include "models/layers/functional.h"

namespace foretell {

LayerState StateOf(const Mamba2Config& config) {
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = config.heads;
  state.key_dim = config.state;
  state.value_dim = config.head_dim;
  state.conv_channels = config.ConvChannels();
  state.conv_tokens = config.kernel;
  return state;
}

Shape RecurrentExtents(const Mamba2Config& config) {
  return {config.heads, config.head_dim, config.state};
}

GatedRmsNorm::GatedRmsNorm(const Module& at, int64_t width,
                           const Mamba2Config& config)
    : module(at),
      weight(at.Parameter("weight", {width})),
      kind(config.norm),
      groups(config.groups),
      epsilon(config.norm_epsilon) {}

Tensor GatedRmsNorm::Forward(const Tensor& x, const Tensor& gate) const {
  const Scope scope = module.Enter();
  if (groups <= 0 || x.shape().rank() == 0) return x;
  if (kind != MixerNorm::kGated) return ForwardAroundGate(x, gate);
  Tensor hidden = To(x, DType::kFloat32);
  const auto open = [&] {
    return Mul(hidden, Silu(To(gate, DType::kFloat32)));
  };
  hidden = open();
  const Shape flat = x.shape();
  Shape grouped = flat;
  grouped.Set(-1, groups);
  grouped.Append(flat[-1] / groups);
  Tensor group = View(hidden, grouped);
  const Tensor variance = MeanLast(PowScalar(group, 2));
  group = Mul(group, Rsqrt(AddScalar(variance, epsilon)));
  hidden = View(group, flat);
  return Mul(module.builder().Read(weight), To(hidden, x.dtype()));
}

// FalconH1RMSNormGated: each step takes the place of the one before.
Tensor GatedRmsNorm::ForwardAroundGate(const Tensor& x,
                                       const Tensor& gate) const {
  Tensor hidden = x;
  const auto open = [&] {
    const auto gated = [&] { return Silu(To(gate, DType::kFloat32)); };
    return Mul(hidden, gated());
  };
  if (kind == MixerNorm::kAfterGate) hidden = open();
  const Shape flat = x.shape();
  const int64_t width = flat[-1] / groups;
  hidden = To(hidden, DType::kFloat32);
  hidden = View(hidden, {flat[0], flat[1], groups, width});
  const Tensor variance = MeanLast(PowScalar(hidden, 2));
  hidden = Mul(hidden, Rsqrt(AddScalar(variance, epsilon)));
  hidden = Mul(View(module.builder().Read(weight), {groups, width}), hidden);
  hidden = View(hidden, flat);
  if (kind == MixerNorm::kBeforeGate) hidden = open();
  return To(hidden, x.dtype());
}

Mamba2Mixer::Mamba2Mixer(const Module& at, const Mamba2Config& settings)
    : module(at),
      config(settings),
      dt_bias(at.Parameter("dt_bias", {config.heads})),
      a_log(at.Parameter("A_log", {config.heads})),
      skip(at.Parameter("D", {config.heads})),
      act(at.Child("act"), config.activation),
      conv1d(at.Child("conv1d"), config.ConvChannels(), config.kernel,
             config.conv_bias),
      in_proj(at.Child("in_proj", RegionKind::kLinear), config.hidden,
              config.channels + config.ConvChannels() + config.heads,
              config.in_bias),
      norm(config.norm == MixerNorm::kNone
               ? std::nullopt
               : std::optional<GatedRmsNorm>(
                     std::in_place, at.Child("norm", RegionKind::kNorm),
                     config.channels, config)),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.channels,
               config.hidden, config.out_bias) {
  if (!config.scales_projection) return;
  const int64_t width = config.channels + config.ConvChannels() + config.heads;
  at.Buffer("mup_vector", {1, 1, width}, at.builder().dtype(), false);
  mup_vector = at.builder().graph().buffers.back().value;
}

Tensor Mamba2Mixer::ScanAll(const Tensor& hidden, const Tensor& step,
                            const Tensor& a, const Tensor& b, const Tensor& c,
                            RecurrentCache* cache) const {
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t tokens = hidden.size(1);
  const Shape by_group = {batch, tokens, config.groups, config.state};
  Tensor last;
  const auto scan = [&] {
    ChunkScanInputs inputs;
    inputs.hidden_bshp =
        View(hidden, {batch, tokens, config.heads, config.head_dim});
    inputs.step_bsh = step;
    inputs.a_h = a;
    inputs.b_bsgn = View(b, by_group);
    inputs.c_bsgn = View(c, by_group);
    inputs.chunk = config.chunk;
    inputs.skip_h = builder.Read(skip);
    inputs.step_bias_h = builder.Read(dt_bias);
    inputs.least_step = config.least_step;
    inputs.most_step = config.most_step;
    return ChunkScan(inputs, cache != nullptr ? &last : nullptr);
  };
  const Tensor scanned = scan();
  if (cache != nullptr) FillRecurrentCache(last, *cache);
  return Reshape(scanned, {batch, tokens, -1});
}

Tensor Mamba2Mixer::ScanOne(Tensor hidden, Tensor step, Tensor a, Tensor b,
                            Tensor c, const Tensor& gate,
                            const RecurrentCache& cache) const {
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t width = config.head_dim;
  ScanStepInputs inputs;
  inputs.hidden_bhp = View(hidden, {batch, config.heads, width});
  inputs.step_bhp = Expand(Transpose(step, 1, 2), {-1, -1, width});
  inputs.a_hpn =
      Expand(Unsqueeze(Unsqueeze(a, 1), 2), {-1, width, config.state});
  inputs.b_bgn = View(b, {batch, config.groups, config.state});
  inputs.c_bgn = View(c, {batch, config.groups, config.state});
  inputs.skip_hp = Expand(Unsqueeze(builder.Read(skip), 1), {-1, width});
  inputs.step_bias_hp =
      Expand(Unsqueeze(builder.Read(dt_bias), 1), {-1, width});
  if (!norm) inputs.gate_bhp = View(gate, {batch, config.heads, width});
  return View(ScanStep(inputs, cache.recurrent), {batch, 1, -1});
}

Tensor Mamba2Mixer::Forward(const Tensor& hidden, RecurrentCache* cache) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const DType dtype = hidden.dtype();
  const bool is_filled = cache != nullptr && cache->IsFilled();
  const auto project = [&] {
    const Tensor scaled = config.input_multiplier
                              ? MulScalar(hidden, *config.input_multiplier)
                              : hidden;
    return in_proj.Forward(scaled);
  };
  Tensor projected = project();
  if (mup_vector) projected = Mul(projected, builder.Read(*mup_vector));
  const auto exponent = [&] {
    const auto raised = [&] {
      return Exp(To(builder.Read(a_log), DType::kFloat32));
    };
    return Neg(raised());
  };
  const Tensor a = exponent();
  // In training the mixer first asks for one kernel that does it all, which is
  // not there: of the call this view remains.
  if (builder.execution().training && cache == nullptr) {
    SqueezeAxis(builder.Read(conv1d.weight), 1);
  }
  std::vector<Tensor> parts = SplitSizes(
      projected, {config.channels, config.ConvChannels(), config.heads}, -1);
  if (!builder.failure().empty()) return hidden;
  const Tensor gate = std::move(parts[0]);
  const Tensor step = std::move(parts[2]);
  Tensor mixed = Transpose(parts[1], 1, 2);
  parts.clear();
  if (is_filled) {
    mixed = UpdateConvolution(module, conv1d, act, mixed, *cache);
  } else {
    if (cache != nullptr) mixed = FillConvCache(mixed, config.kernel, *cache);
    mixed = CausalConvolution(module, conv1d, act, mixed);
    if (cache != nullptr) mixed = LatestTokens(mixed, hidden.size(1));
  }
  mixed = Transpose(mixed, 1, 2);
  const int64_t width = config.groups * config.state;
  parts = SplitSizes(mixed, {config.channels, width, width}, -1);
  if (!builder.failure().empty()) return hidden;
  Tensor scanned =
      is_filled ? ScanOne(parts[0], step, a, parts[1], parts[2], gate, *cache)
                : ScanAll(parts[0], step, a, parts[1], parts[2], cache);
  if (norm) {
    scanned = norm->Forward(scanned, gate);
  } else if (!is_filled) {
    scanned = Mul(scanned, Silu(gate));
  }
  return out_proj.Forward(To(scanned, dtype));
}

}  // namespace foretell
