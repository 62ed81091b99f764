#include "models/layers/mamba_block.h"

#include <limits>
#include <utility>
#include <vector>

#include "graph/ops/convolution.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/selective_scan.h"

namespace foretell {
namespace {

// x[:, :, -count:], a slice also where it takes all.
Tensor LastOf(const Tensor& x, int64_t count) {
  return Slice(x, 2, -count, std::numeric_limits<int64_t>::max());
}

// LinearAttentionLayer.update_recurrent_state of cache_utils.py
void FillRecurrentCache(const Tensor& state_bdn, MambaCache& cache) {
  cache.recurrent_bdn = ZerosLike(state_bdn);
  CopyInto(cache.recurrent_bdn, state_bdn);
}

}  // namespace

DepthwiseConv1d::DepthwiseConv1d(const Module& at, int64_t channels,
                                 int64_t kernel, bool has_bias)
    : weight(at.Parameter("weight", {channels, 1, kernel})) {
  if (has_bias) bias = at.Parameter("bias", {channels});
}

MambaMixer::MambaMixer(const Module& at, const MambaBlockConfig& settings)
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
               config.hidden, config.bias) {}

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

// LinearAttentionLayer.update_conv_state of cache_utils.py: the first call. A
// sequence shorter than the window is filled up in front, and goes on so.
Tensor MambaMixer::FillConvCache(const Tensor& hidden_bds,
                                 MambaCache& cache) const {
  cache.conv_bdk = Zeros(module.builder(),
                         {hidden_bds.size(0), config.channels, config.kernel},
                         hidden_bds.dtype());
  const int64_t missing = config.kernel - hidden_bds.size(2);
  const Tensor full =
      missing > 0 ? ConstantPad(hidden_bds, missing, 0, 0) : hidden_bds;
  CopyInto(cache.conv_bdk, LastOf(full, config.kernel));
  return full;
}

// Each token sees itself and the kernel - 1 tokens before it.
Tensor MambaMixer::Convolve(const Tensor& hidden_bds) const {
  Builder& builder = module.builder();
  const Tensor weight = SqueezeAxis(builder.Read(conv1d.weight), 1);
  const Tensor bias = config.conv_bias ? builder.Read(*conv1d.bias) : Tensor();
  const auto convolve = [&] {
    const Tensor hidden = To(hidden_bds, weight.dtype());
    return Convolution(hidden, Unsqueeze(weight, 1), bias,
                       {.stride = {1},
                        .padding = {config.kernel - 1},
                        .dilation = {1},
                        .groups = config.channels});
  };
  const auto cut = [&] {
    return SliceRange(convolve(), 2, 0, hidden_bds.size(2));
  };
  Tensor out = cut();
  out = act.Forward(out);
  return To(out, hidden_bds.dtype());
}

Tensor MambaMixer::Forward(const Tensor& hidden, MambaCache* cache) const {
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
  if (builder.execution().training && cache == nullptr) OfferToKernel();
  std::vector<Tensor> halves = Split(projected_bds, config.channels, 1);
  if (!builder.failure().empty()) return hidden;
  Tensor hidden_bds = std::move(halves[0]);
  const Tensor gate_bds = std::move(halves[1]);
  if (cache != nullptr) hidden_bds = FillConvCache(hidden_bds, *cache);
  hidden_bds = Convolve(hidden_bds);
  if (cache != nullptr) hidden_bds = LastOf(hidden_bds, hidden.size(1));
  const Tensor hidden_bsd = Transpose(hidden_bds, 1, 2);
  hidden_bds = Tensor();
  std::vector<Tensor> parts =
      SplitSizes(x_proj.Forward(hidden_bsd),
                 {config.rank, config.state, config.state}, -1);
  const Tensor b_bsn = std::move(parts[1]);
  const Tensor c_bsn = std::move(parts[2]);
  Tensor step = std::move(parts[0]);
  step = MatrixTimesBatch(builder.Read(dt_proj.weight), Transpose(step, 1, 2));
  const Tensor step_bias = To(builder.Read(*dt_proj.bias), DType::kFloat32);
  Tensor last_bdn;
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
  const Tensor scanned_bds = scan();
  if (cache != nullptr) FillRecurrentCache(last_bdn, *cache);
  const Tensor scanned_bsd = Transpose(scanned_bds, 1, 2);
  return out_proj.Forward(To(scanned_bsd, dtype));
}

MambaBlock::MambaBlock(const Module& at, const MambaBlockConfig& settings)
    : module(at),
      residual_in_float32(settings.residual_in_float32),
      norm(at.Child("norm", RegionKind::kNorm), settings.hidden,
           settings.norm_epsilon),
      mixer(at.Child("mixer", RegionKind::kMixer), settings) {}

Tensor MambaBlock::Forward(const Tensor& input, MambaCache* cache) const {
  const CheckpointScope checkpoint(module.builder(), {input});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = norm.Forward(To(input, module.builder().dtype()));
  if (residual_in_float32) residual = To(residual, DType::kFloat32);
  hidden = mixer.Forward(hidden, cache);
  hidden = Add(residual, hidden);
  return hidden;
}

}  // namespace foretell
