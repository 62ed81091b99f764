#include "models/layers/mamba_mixer.h"

#include <string_view>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/selective_scan.h"

namespace foretell {

LayerState StateOf(const MambaMixerConfig& config) {
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = config.channels;
  state.key_dim = config.state;
  state.value_dim = 1;
  state.conv_channels = config.channels;
  state.conv_tokens = config.kernel;
  return state;
}

Shape RecurrentExtents(const MambaMixerConfig& config) {
  return {config.channels, config.state};
}

WeightlessRmsNorm::WeightlessRmsNorm(const Module& at, int64_t width,
                                     double eps)
    : module(at), epsilon(eps) {
  at.Buffer("weight", {width}, at.builder().dtype(), /*persistent=*/false);
}

Tensor WeightlessRmsNorm::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  const DType dtype = x.dtype();
  return To(OverRootMeanSquare(To(x, DType::kFloat32), epsilon), dtype);
}

MambaMixer::MambaMixer(const Module& at, const MambaMixerConfig& settings)
    : module(at),
      config(settings),
      a_log(at.Parameter("A_log", {config.channels, config.state})),
      skip(at.Parameter("D", {config.channels})),
      conv1d(at.Child("conv1d"), config.channels, config.kernel,
             config.conv_bias),
      act(at.Child("act"), config.activation),
      in_proj(at.Child("in_proj", RegionKind::kLinear), config.hidden,
              2 * config.channels, config.bias),
      x_proj(at.Child("x_proj", RegionKind::kLinear), config.channels,
             config.rank + 2 * config.state, false),
      dt_proj(at.Child("dt_proj", RegionKind::kLinear), config.rank,
              config.channels, true),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.channels,
               config.hidden, config.bias) {
  if (config.weighted_norm_epsilon) {
    const auto weigh = [&](std::optional<RmsNorm>& norm, std::string_view name,
                           int64_t width) {
      norm.emplace(at.Child(name, RegionKind::kNorm), width,
                   *config.weighted_norm_epsilon);
    };
    weigh(dt_weighted_norm, "dt_layernorm", config.rank);
    weigh(b_weighted_norm, "b_layernorm", config.state);
    weigh(c_weighted_norm, "c_layernorm", config.state);
  }
  if (!config.mixer_norm_epsilon) return;
  const auto add = [&](std::optional<WeightlessRmsNorm>& norm,
                       std::string_view name, int64_t width) {
    norm.emplace(at.Child(name, RegionKind::kNorm), width,
                 *config.mixer_norm_epsilon);
  };
  add(dt_layernorm, "dt_layernorm", config.channels);
  add(b_layernorm, "b_layernorm", config.state);
  add(c_layernorm, "c_layernorm", config.state);
}

// In training the mixer first asks for one kernel that does it all, which is
// not there: what remains of the call are its arguments in float32.
void MambaMixer::OfferToKernel() const {
  Builder& builder = module.builder();
  const auto exact = [&](ParameterId parameter) {
    return To(builder.Read(parameter), DType::kFloat32);
  };
  const Tensor bias = config.bias ? exact(*out_proj.bias) : Tensor();
  const Tensor weight = exact(skip);
  const Tensor step_bias = exact(*dt_proj.bias);
}

Tensor MambaMixer::Forward(const Tensor& hidden, RecurrentCache* cache) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const DType dtype = hidden.dtype();
  const Tensor projected_bds = Transpose(in_proj.Forward(hidden), 1, 2);
  const auto exponent = [&] {
    const auto raised = [&] {
      return Exp(To(builder.Read(a_log), DType::kFloat32));
    };
    return Neg(raised());
  };
  const Tensor a_dn = exponent();
  const bool is_filled =
      cache != nullptr && cache->IsFilled() && hidden.size(1) == 1;
  if (config.asks_kernel && builder.execution().training && cache == nullptr) {
    OfferToKernel();
  }
  std::vector<Tensor> halves = Split(projected_bds, config.channels, 1);
  if (!builder.failure().empty()) return hidden;
  Tensor hidden_bds = std::move(halves[0]);
  const Tensor gate_bds = std::move(halves[1]);
  if (is_filled) {
    hidden_bds = UpdateConvolution(module, conv1d, act, hidden_bds, *cache);
  } else {
    if (cache != nullptr) {
      hidden_bds = FillConvCache(hidden_bds, config.kernel, *cache);
    }
    hidden_bds = CausalConvolution(module, conv1d, act, hidden_bds);
    if (cache != nullptr) hidden_bds = LatestTokens(hidden_bds, hidden.size(1));
  }
  const Tensor hidden_bsd = Transpose(hidden_bds, 1, 2);
  hidden_bds = Tensor();
  std::vector<Tensor> parts =
      SplitSizes(x_proj.Forward(hidden_bsd),
                 {config.rank, config.state, config.state}, -1);
  Tensor b_bsn = std::move(parts[1]);
  Tensor c_bsn = std::move(parts[2]);
  Tensor step = std::move(parts[0]);
  if (config.mixer_norm_epsilon) {
    step = dt_layernorm->Forward(step);
    b_bsn = b_layernorm->Forward(b_bsn);
    c_bsn = c_layernorm->Forward(c_bsn);
  } else if (config.weighted_norm_epsilon) {
    step = dt_weighted_norm->Forward(step);
    b_bsn = b_weighted_norm->Forward(b_bsn);
    c_bsn = c_weighted_norm->Forward(c_bsn);
  }
  step = MatrixTimesBatch(builder.Read(dt_proj.weight), Transpose(step, 1, 2));
  const Tensor step_bias = To(builder.Read(*dt_proj.bias), DType::kFloat32);
  Tensor last_bdn;
  const auto advance = [&] {
    const auto first = [](const Tensor& x, int axis) {
      return Select(x, axis, 0);
    };
    SelectiveStepInputs inputs;
    inputs.hidden_bd = first(Transpose(hidden_bsd, 1, 2), 2);
    inputs.step_bd = first(step, 2);
    inputs.a_dn = a_dn;
    inputs.b_bn = first(b_bsn, 1);
    inputs.c_bn = first(c_bsn, 1);
    inputs.skip_d = builder.Read(skip);
    inputs.gate_bd = first(gate_bds, 2);
    inputs.step_bias_d = step_bias;
    return Unsqueeze(SelectiveStep(inputs, cache->recurrent), -1);
  };
  const auto scan = [&] {
    Tensor hidden_again_bds = Transpose(hidden_bsd, 1, 2);
    Tensor b_bns = Transpose(b_bsn, 1, 2);
    Tensor c_bns = Transpose(c_bsn, 1, 2);
    return SelectiveScan({.hidden_bds = std::move(hidden_again_bds),
                          .step_bds = step,
                          .a_dn = a_dn,
                          .b_bns = std::move(b_bns),
                          .c_bns = std::move(c_bns),
                          .skip_d = To(builder.Read(skip), DType::kFloat32),
                          .gate_bds = gate_bds,
                          .step_bias_d = step_bias},
                         cache != nullptr ? &last_bdn : nullptr);
  };
  const Tensor scanned_bds = is_filled ? advance() : scan();
  if (cache != nullptr && !is_filled) FillRecurrentCache(last_bdn, *cache);
  const Tensor scanned_bsd = Transpose(scanned_bds, 1, 2);
  return out_proj.Forward(To(scanned_bsd, dtype));
}

}  // namespace foretell
