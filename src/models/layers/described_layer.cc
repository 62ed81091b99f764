#include "models/layers/described_layer.h"

#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/views.h"
#include "models/layers/activation.h"

namespace foretell {
namespace {

// gate and up in one product are twice as wide.
int64_t UpWidth(const DescribedConfig& config) {
  return config.names.gate.empty() ? 2 * config.intermediate
                                   : config.intermediate;
}

}  // namespace

DescribedAttention::DescribedAttention(const Module& at,
                                       const DescribedConfig& settings)
    : module(at), config(settings) {
  const AttentionConfig& heads = config.attention;
  if (config.names.qkv.empty()) {
    split.emplace(at, heads);
    return;
  }
  qkv.emplace(at.Child(config.names.qkv, RegionKind::kLinear), heads.hidden,
              (heads.heads + 2 * heads.kv_heads) * heads.head_dim,
              heads.qkv_bias);
  output.emplace(at.Child(config.names.output, RegionKind::kLinear),
                 heads.heads * heads.head_dim, heads.hidden, heads.output_bias);
}

std::vector<Tensor> DescribedAttention::Parts(const Tensor& hidden) const {
  const AttentionConfig& heads = config.attention;
  const Tensor joined = qkv->Forward(hidden);
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t groups = heads.heads / heads.kv_heads;
  std::vector<Tensor> parts;
  if (config.groups_heads) {
    const Tensor rows = View(
        joined, {batch, length, heads.kv_heads, groups + 2, heads.head_dim});
    parts = SplitSizes(rows, {groups, 1, 1}, 3);
  } else {
    const int64_t width = heads.kv_heads * heads.head_dim;
    parts =
        SplitSizes(joined, {heads.heads * heads.head_dim, width, width}, -1);
  }
  for (Tensor& part : parts) {
    part = Transpose(Reshape(part, {batch, length, -1, heads.head_dim}), 1, 2);
  }
  return parts;
}

Tensor DescribedAttention::Forward(const Tensor& hidden,
                                   const DecoderContext& context,
                                   CachedLayer* cached) const {
  if (split) {
    return split->Forward(hidden, context.rotary, context.mask,
                          context.attention, cached);
  }
  const Scope scope = module.Enter();
  std::vector<Tensor> parts = Parts(hidden);
  if (parts.size() != 3) return hidden;  // the graph has failed already
  Tensor q = std::move(parts[0]);
  Tensor k = std::move(parts[1]);
  Tensor v = std::move(parts[2]);
  if (config.attention.turn != nullptr) {
    std::tie(q, k) = config.attention.turn(q, k, context.rotary.first,
                                           context.rotary.second);
  }
  const Tensor out = AttendOverCache(config.attention, q, k, v, context.mask,
                                     context.attention, cached);
  return output->Forward(out);
}

DescribedMlp::DescribedMlp(const Module& at, const DescribedConfig& settings)
    : module(at),
      config(settings),
      gate(config.names.gate.empty()
               ? std::nullopt
               : std::optional<Linear>(
                     std::in_place,
                     at.Child(config.names.gate, RegionKind::kLinear),
                     config.attention.hidden, config.intermediate,
                     config.mlp_bias)),
      up(at.Child(config.names.up, RegionKind::kLinear),
         config.attention.hidden, UpWidth(config), config.mlp_bias),
      down(at.Child(config.names.down, RegionKind::kLinear),
           config.intermediate, config.attention.hidden, config.mlp_bias) {}

Tensor DescribedMlp::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  if (gate) {
    Tensor gated = Activate(config.activation, gate->Forward(hidden));
    return down.Forward(Mul(std::move(gated), up.Forward(hidden)));
  }
  const Tensor both = up.Forward(hidden);
  const std::vector<Tensor> halves = Split(both, config.intermediate, -1);
  if (halves.size() != 2) return hidden;  // the graph has failed already
  return down.Forward(Mul(Activate(config.activation, halves[0]), halves[1]));
}

}  // namespace foretell
