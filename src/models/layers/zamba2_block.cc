#include "models/layers/zamba2_block.h"

#include <cmath>
#include <tuple>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/rope.h"

namespace foretell {

AdapterList::AdapterList(const Module& at, const Zamba2BlockConfig& config,
                         int64_t block, int64_t in, int64_t out) {
  for (int64_t index = 0; index < config.adapters; ++index) {
    pairs.emplace_back();
    if (index % config.blocks != block) continue;
    const Module module = at.Child(index);
    const auto add = [&](int64_t place, int64_t from, int64_t to) {
      return Linear(module.Child(place, RegionKind::kLinear), from, to, false);
    };
    pairs.back().emplace(Pair{module, add(0, in, config.adapter_rank),
                              add(1, config.adapter_rank, out)});
  }
}

Tensor AdapterList::Forward(const Tensor& x, int64_t index) const {
  const auto at = static_cast<size_t>(index);
  if (at >= pairs.size() || !pairs[at]) {
    x.builder().Fail("a layer has no adapter of the block that it uses");
    return x;
  }
  const Scope scope = pairs[at]->module.Enter();
  Tensor out = pairs[at]->down.Forward(x);
  out = pairs[at]->up.Forward(out);
  return out;
}

Zamba2Attention::Zamba2Attention(const Module& at,
                                 const Zamba2BlockConfig& settings,
                                 int64_t block)
    : module(at),
      config(settings),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.heads * config.attention.head_dim, false),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.kv_heads * config.attention.head_dim, false),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.kv_heads * config.attention.head_dim, false),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.attention.heads * config.attention.head_dim, config.hidden,
             false) {
  if (!config.adapts_attention) return;
  const int64_t width = config.attention.hidden;
  q_adapters.emplace(at.Child("linear_q_adapter_list"), config, block, width,
                     width);
  k_adapters.emplace(at.Child("linear_k_adapter_list"), config, block, width,
                     width);
  v_adapters.emplace(at.Child("linear_v_adapter_list"), config, block, width,
                     width);
}

Tensor Zamba2Attention::Forward(const Tensor& hidden, int64_t adapter,
                                const std::pair<Tensor, Tensor>& rotary,
                                const Tensor& mask, std::string_view attention,
                                CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const AttentionConfig& heads = config.attention;
  Tensor q = q_proj.Forward(hidden);
  Tensor k = k_proj.Forward(hidden);
  Tensor v = v_proj.Forward(hidden);
  if (q_adapters) {
    q = Add(q, q_adapters->Forward(hidden, adapter));
    k = Add(k, k_adapters->Forward(hidden, adapter));
    v = Add(v, v_adapters->Forward(hidden, adapter));
  }
  for (Tensor* x : {&q, &k, &v}) {
    *x = Transpose(View(*x, {batch, length, -1, heads.head_dim}), 1, 2);
  }
  if (config.turns) {
    std::tie(q, k) = ApplyRotary(q, k, rotary.first, rotary.second);
  }
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  AttentionCall call;
  call.mask = mask;
  call.dropout = heads.dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(heads.head_dim) / 2);
  call.attention = attention;
  const Tensor out = Attend(q, k, v, call);
  return o_proj.Forward(Reshape(out, {batch, length, -1}));
}

Zamba2Mlp::Zamba2Mlp(const Module& at, const Zamba2BlockConfig& config,
                     int64_t block)
    : module(at),
      intermediate(config.intermediate),
      gate_up_proj(at.Child("gate_up_proj", RegionKind::kLinear), config.hidden,
                   2 * intermediate, config.mlp_bias),
      down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                config.hidden, config.mlp_bias),
      act_fn(at.Child("act_fn"), config.activation),
      adapters(at.Child("gate_up_proj_adapter_list"), config, block,
               config.hidden, 2 * intermediate) {}

Tensor Zamba2Mlp::Forward(const Tensor& input, int64_t adapter) const {
  const Scope scope = module.Enter();
  Tensor both = gate_up_proj.Forward(input);
  both = Add(both, adapters.Forward(input, adapter));
  const std::vector<Tensor> halves = Split(both, intermediate, -1);
  if (halves.size() != 2) return input;  // the graph has failed already
  both = Tensor();
  const auto open = [&] { return Mul(act_fn.Forward(halves[0]), halves[1]); };
  const Tensor hidden = open();
  return down_proj.Forward(hidden);
}

Zamba2Block::Zamba2Block(const Module& at, const Zamba2BlockConfig& config,
                         int64_t block)
    : module(at),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config, block),
      feed_forward(at.Child("feed_forward", RegionKind::kMlp), config, block),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.attention.hidden, config.norm_epsilon),
      pre_ff_layernorm(at.Child("pre_ff_layernorm", RegionKind::kNorm),
                       config.hidden, config.norm_epsilon) {}

Tensor Zamba2Block::Forward(const Tensor& input, const Tensor& embedded,
                            int64_t adapter,
                            const std::pair<Tensor, Tensor>& rotary,
                            const Tensor& mask, std::string_view attention,
                            CachedLayer* cached) const {
  const Scope scope = module.Enter();
  Tensor hidden = Cat2(input, embedded, -1);
  hidden = input_layernorm.Forward(hidden);
  hidden = self_attn.Forward(hidden, adapter, rotary, mask, attention, cached);
  hidden = pre_ff_layernorm.Forward(hidden);
  hidden = feed_forward.Forward(hidden, adapter);
  return hidden;
}

}  // namespace foretell
