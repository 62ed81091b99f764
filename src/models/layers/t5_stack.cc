#include "models/layers/t5_stack.h"

#include <tuple>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// float16 alone is kept from infinity between the branches of a block.
// `limit` is a name of the block, which keeps its last value.
Tensor ClampHalf(const Tensor& hidden, Tensor& limit) {
  if (hidden.dtype() != DType::kFloat16) return hidden;
  Builder& builder = hidden.builder();
  const auto largest = [&] {
    const Tensor any = Any(IsInf(hidden));
    const Tensor most = ScalarTensor(builder, 65504, DType::kFloat32);
    const Tensor less = ScalarTensor(builder, 64504, DType::kFloat32);
    return Where(any, less, most);
  };
  limit = largest();
  return ClampBetween(hidden, Neg(limit), limit);
}

}  // namespace

T5FeedForward::T5FeedForward(const Module& at, const T5LayerConfig& config)
    : module(at),
      wi(at.Child(config.gated ? "wi_0" : "wi", RegionKind::kLinear),
         config.width, config.inner, false),
      wi_1(config.gated
               ? std::optional<Linear>(std::in_place,
                                       at.Child("wi_1", RegionKind::kLinear),
                                       config.width, config.inner, false)
               : std::nullopt),
      wo(at.Child("wo", RegionKind::kLinear), config.inner, config.width,
         false),
      dropout(at.Child("dropout"), config.dropout),
      act(at.Child("act"), config.activation) {}

Tensor T5FeedForward::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  // Both names outlive the product below.
  Tensor gate;
  Tensor linear;
  if (wi_1) {
    gate = act.Forward(wi.Forward(hidden));
    linear = wi_1->Forward(hidden);
    hidden = Mul(gate, linear);
    hidden = dropout.Forward(hidden);
  } else {
    hidden = wi.Forward(hidden);
    hidden = act.Forward(hidden);
    hidden = dropout.Forward(hidden);
  }
  // Also under autocast, which then casts once more.
  hidden = To(std::move(hidden), module.builder().Read(wo.weight).dtype());
  return wo.Forward(hidden);
}

T5Block::Branch::Branch(const Module& at, const T5LayerConfig& config,
                        std::optional<T5Attention> attention_of)
    : module(at),
      attention(attention_of),
      feed_forward(attention ? std::nullopt
                             : std::optional<T5FeedForward>(
                                   std::in_place,
                                   at.Child("DenseReluDense", RegionKind::kMlp),
                                   config)),
      norm(at.Child("layer_norm", RegionKind::kNorm), config.width,
           config.norm_epsilon),
      dropout(at.Child("dropout"), config.dropout) {}

std::vector<T5Block::Branch> T5Block::MakeBranches(const Module& at,
                                                   const T5LayerConfig& config,
                                                   bool is_decoder,
                                                   bool is_first) {
  std::vector<Branch> branches;
  const Module self = at.Child(0);
  branches.emplace_back(
      self, config,
      T5Attention(self.Child("SelfAttention", RegionKind::kAttention), config,
                  is_first || config.bias_everywhere, is_decoder, is_decoder));
  if (is_decoder) {
    const Module cross = at.Child(1);
    branches.emplace_back(
        cross, config,
        T5Attention(cross.Child("EncDecAttention", RegionKind::kAttention),
                    config, false, is_decoder, false));
  }
  branches.emplace_back(at.Child(is_decoder ? 2 : 1), config, std::nullopt);
  return branches;
}

T5Block::T5Block(const Module& at, const T5LayerConfig& config, bool is_decoder,
                 bool is_first)
    : module(at),
      layer_(MakeBranches(at.Child("layer"), config, is_decoder, is_first)) {}

Tensor T5Block::Attend(const Branch& branch, const Tensor& hidden,
                       const Tensor& states, T5AttentionCall call,
                       Tensor& bias) const {
  const Scope scope = branch.module.Enter();
  const Tensor normed = branch.norm.Forward(hidden);
  Tensor out;
  call.position_bias = bias;
  std::tie(out, bias) =
      branch.attention->Forward(normed, states.empty() ? normed : states, call);
  return Add(hidden, branch.dropout.Forward(out));
}

void T5Block::Forward(const T5StackInputs& inputs, size_t index,
                      T5BlockState& state) const {
  const CheckpointScope checkpoint(module.builder(),
                                   {state.hidden, inputs.mask, state.bias,
                                    inputs.encoder_hidden, state.cross_bias});
  const Scope scope = module.Enter();
  EncoderDecoderCache* cache = inputs.cache;
  CachedPair* cached = cache != nullptr ? cache->Layer(index) : nullptr;
  T5AttentionCall call;
  call.mask = inputs.mask;
  call.attention = inputs.attention;
  if (cached != nullptr) call.cached = &cached->own;
  if (cache != nullptr) call.past = cache->past;
  Tensor limit;
  Tensor hidden =
      Attend(layer_.front(), state.hidden, Tensor(), call, state.bias);
  hidden = ClampHalf(hidden, limit);
  if (layer_.size() > 2 && !inputs.encoder_hidden.empty()) {
    call.mask = Tensor();
    call.is_cross = true;
    if (cached != nullptr) call.cached = &cached->cross;
    hidden = Attend(layer_[1], hidden, inputs.encoder_hidden, call,
                    state.cross_bias);
    hidden = ClampHalf(hidden, limit);
  }
  {
    const Branch& branch = layer_.back();
    const Scope inner = branch.module.Enter();
    Tensor forwarded = branch.norm.Forward(hidden);
    forwarded = branch.feed_forward->Forward(forwarded);
    hidden = Add(hidden, branch.dropout.Forward(forwarded));
  }
  state.hidden = ClampHalf(hidden, limit);
}

T5Stack::T5Stack(const Module& at, const T5LayerConfig& config,
                 int64_t vocabulary, int64_t layers, bool in_decoder)
    : module(at),
      is_decoder(in_decoder),
      embed_tokens(at.Child("embed_tokens", RegionKind::kEmbedding), vocabulary,
                   config.width),
      block([&] {
        const Module list = at.Child("block");
        std::vector<T5Block> blocks;
        for (int64_t index = 0; index < layers; ++index) {
          blocks.emplace_back(list.Child(index, RegionKind::kBlock), config,
                              in_decoder, index == 0);
        }
        return blocks;
      }()),
      final_layer_norm(at.Child("final_layer_norm", RegionKind::kNorm),
                       config.width, config.norm_epsilon),
      dropout(at.Child("dropout"), config.dropout) {
  embed_tokens.module.MarkInputEmbeddings();
}

Tensor T5Stack::Forward(const Tensor& ids, const Tensor& encoder_hidden,
                        std::string_view attention, const Tensor& padding,
                        EncoderDecoderCache* cache) const {
  const Scope scope = module.Enter();
  const Tensor embedded = embed_tokens.Forward(ids);
  T5StackInputs inputs;
  if (!module.builder().library().has_t5_sdpa) attention = "eager";
  inputs.attention = attention;
  inputs.encoder_hidden = encoder_hidden;
  inputs.cache = cache;
  if (is_decoder) {
    inputs.mask = CausalMask(embedded, Tensor(), attention, 0,
                             cache != nullptr ? cache->past : 0);
  }
  const bool looks = !is_decoder || !encoder_hidden.empty();
  if (looks && !padding.empty()) LookThroughMask(padding);
  T5BlockState state;
  state.hidden = dropout.Forward(embedded);
  for (size_t i = 0; i < block.size(); ++i) block[i].Forward(inputs, i, state);
  state.hidden = final_layer_norm.Forward(state.hidden);
  return dropout.Forward(state.hidden);
}

}  // namespace foretell
