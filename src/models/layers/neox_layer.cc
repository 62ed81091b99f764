#include "models/layers/neox_layer.h"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"
#include "models/layers/rope.h"

namespace foretell {

NeoxAttention::NeoxAttention(const Module& at, const NeoxLayerConfig& config)
    : module(at),
      head_dim(config.heads.head_dim),
      dropout(config.attention_dropout),
      query_key_value(at.Child("query_key_value", RegionKind::kLinear),
                      config.heads.hidden, 3 * config.heads.hidden,
                      config.bias),
      dense(at.Child("dense", RegionKind::kLinear), config.heads.hidden,
            config.heads.hidden, config.bias) {}

Tensor NeoxAttention::Forward(const Tensor& hidden,
                              const NeoxContext& context) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const auto project = [&] {
    const Tensor x = query_key_value.Forward(hidden);
    return Transpose(View(x, {batch, length, -1, 3 * head_dim}), 1, 2);
  };
  const Tensor qkv = project();
  std::vector<Tensor> parts = Split(qkv, head_dim, -1);
  if (parts.size() != 3) {
    module.builder().Fail("heads of queries, keys and values do not part");
    return hidden;
  }
  Tensor q = std::move(parts[0]);
  Tensor k = std::move(parts[1]);
  Tensor v = std::move(parts[2]);
  std::tie(q, k) = ApplyRenamedPartialRotary(q, k, context.rotary.first,
                                             context.rotary.second);
  if (CachedLayer* cached = context.cache->NextLayer()) {
    std::tie(k, v) = FillCache(*cached, k, v, 0);
  }
  AttentionCall call;
  call.mask = context.mask;
  call.dropout = dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  call.attention = context.attention;
  Tensor out = Attend(q, k, v, call);
  out = Reshape(out, {batch, length, -1});
  return dense.Forward(out);
}

NeoxMlp::NeoxMlp(const Module& at, const NeoxLayerConfig& config)
    : module(at),
      dense_h_to_4h(at.Child("dense_h_to_4h", RegionKind::kLinear),
                    config.heads.hidden, config.inner, true),
      dense_4h_to_h(at.Child("dense_4h_to_h", RegionKind::kLinear),
                    config.inner, config.heads.hidden, true),
      act(at.Child("act"), config.activation) {}

Tensor NeoxMlp::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  Tensor hidden = dense_h_to_4h.Forward(input);
  hidden = act.Forward(hidden);
  return dense_4h_to_h.Forward(hidden);
}

NeoxLayer::NeoxLayer(const Module& at, const NeoxLayerConfig& config)
    : module(at),
      is_parallel(config.is_parallel),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.heads.hidden, config.norm_epsilon),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.heads.hidden, config.norm_epsilon),
      post_attention_dropout(at.Child("post_attention_dropout"),
                             config.hidden_dropout),
      post_mlp_dropout(at.Child("post_mlp_dropout"), config.hidden_dropout),
      attention(at.Child("attention", RegionKind::kAttention), config),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor NeoxLayer::Forward(const Tensor& hidden,
                          const NeoxContext& context) const {
  const CheckpointScope checkpoint(
      module.builder(), {hidden},
      {context.mask, context.position_ids, context.rotary.first,
       context.rotary.second});
  const Scope scope = module.Enter();
  Tensor attended = attention.Forward(input_layernorm.Forward(hidden), context);
  attended = post_attention_dropout.Forward(attended);
  if (!is_parallel) attended = Add(attended, hidden);
  const Tensor& read = is_parallel ? hidden : attended;
  Tensor forwarded = mlp.Forward(post_attention_layernorm.Forward(read));
  forwarded = post_mlp_dropout.Forward(forwarded);
  if (!is_parallel) return Add(forwarded, attended);
  return Add(Add(forwarded, attended), hidden);
}

}  // namespace foretell
