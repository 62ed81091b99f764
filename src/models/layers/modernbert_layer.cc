#include "models/layers/modernbert_layer.h"

#include <cmath>
#include <limits>

#include "graph/ops/compare.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/fused.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

Tensor RotateHalf(const Tensor& x) {
  const int64_t half = x.size(-1) / 2;
  const Tensor first = Slice(x, -1, 0, half);
  const Tensor second = Slice(x, -1, half, std::numeric_limits<int64_t>::max());
  return Cat2(Neg(second), first, -1);
}

// x cos + rotate_half(x) sin, in float32.
Tensor TurnHeads(const Tensor& x, const Tensor& cosines, const Tensor& sines) {
  const auto straight = [&] { return Mul(To(x, DType::kFloat32), cosines); };
  const auto rotate = [&] { return RotateHalf(To(x, DType::kFloat32)); };
  const auto across = [&] { return Mul(rotate(), sines); };
  const Tensor kept = straight();
  const Tensor turned = across();
  return Add(kept, turned);
}

std::pair<Tensor, Tensor> TurnBoth(const Tensor& q, const Tensor& k,
                                   Tensor cosines, Tensor sines) {
  const DType dtype = q.dtype();
  cosines = Unsqueeze(std::move(cosines), 1);
  sines = Unsqueeze(std::move(sines), 1);
  const Tensor query = TurnHeads(q, cosines, sines);
  const Tensor key = TurnHeads(k, cosines, sines);
  Tensor turned_query = To(query, dtype);
  Tensor turned_key = To(key, dtype);
  return {std::move(turned_query), std::move(turned_key)};
}

// Four dims, the extent at `axis`.
Tensor Spread(Tensor x, int axis) {
  for (int at = 0; at < 4; ++at) {
    if (at != axis) x = Unsqueeze(x, at);
  }
  return x;
}

std::optional<ValueId> Frequencies(const Module& at, const std::string& kind,
                                   int64_t count) {
  at.Buffer(kind + "_inv_freq", {count}, DType::kFloat32, false);
  const ValueId value = at.builder().graph().buffers.back().value;
  at.Buffer(kind + "_original_inv_freq", {count}, DType::kFloat32, false);
  return value;
}

}  // namespace

ModernBertNorm::ModernBertNorm(const Module& at, const ModernBertConfig& config)
    : module(at),
      weight(at.Parameter("weight", {config.width})),
      bias(config.norm_bias
               ? std::optional(at.Parameter("bias", {config.width}))
               : std::nullopt),
      epsilon(config.norm_epsilon) {}

Tensor ModernBertNorm::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  return NativeLayerNorm(hidden, builder.Read(weight),
                         bias ? builder.Read(*bias) : Tensor(), epsilon);
}

ModernBertAttention::ModernBertAttention(const Module& at,
                                         const ModernBertConfig& config)
    : module(at),
      head_dim(config.head_dim),
      chance(config.attention_dropout),
      wqkv(at.Child("Wqkv", RegionKind::kLinear), config.width,
           3 * config.head_dim * config.heads, config.attention_bias),
      wo(at.Child("Wo", RegionKind::kLinear), config.width, config.width,
         config.attention_bias),
      out_drop(at.Child("out_drop"), config.attention_dropout) {}

Tensor ModernBertAttention::Forward(const Tensor& hidden,
                                    const ModernBertKind& kind,
                                    std::string_view attention) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  Tensor qkv = wqkv.Forward(hidden);
  qkv = View(qkv, {batch, length, 3, -1, head_dim});
  std::vector<Tensor> parts = Unbind(qkv, -3);
  if (parts.size() != 3) return hidden;  // the graph has failed
  for (Tensor& part : parts) part = Transpose(part, 1, 2);
  std::tie(parts[0], parts[1]) =
      TurnBoth(parts[0], parts[1], kind.cosines, kind.sines);
  AttentionCall call;
  call.mask = kind.mask;
  call.dropout = chance;
  call.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  call.causal = false;
  call.attention = attention;
  Tensor out = Contiguous(Attend(parts[0], parts[1], parts[2], call));
  out = Reshape(out, {batch, length, -1});
  out = wo.Forward(out);
  return out_drop.Forward(out);
}

ModernBertFeedForward::ModernBertFeedForward(const Module& at,
                                             const ModernBertConfig& config)
    : module(at),
      inner(config.inner),
      wi(at.Child("Wi", RegionKind::kLinear), config.width, 2 * config.inner,
         config.mlp_bias),
      act(at.Child("act"), config.activation),
      drop(at.Child("drop"), config.mlp_dropout),
      wo(at.Child("Wo", RegionKind::kLinear), config.inner, config.width,
         config.mlp_bias) {}

Tensor ModernBertFeedForward::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  if (inner == 0) {
    module.builder().Fail("the feed-forward has no width");
    return hidden;
  }
  const std::vector<Tensor> parts = Split(wi.Forward(hidden), inner, -1);
  if (parts.size() != 2) return hidden;  // the graph has failed
  const auto gate = [&] { return Mul(act.Forward(parts[0]), parts[1]); };
  const auto dropped = [&] { return drop.Forward(gate()); };
  return wo.Forward(dropped());
}

ModernBertLayer::ModernBertLayer(const Module& at,
                                 const ModernBertConfig& config, bool is_first)
    : module(at),
      attn_norm(is_first
                    ? std::nullopt
                    : std::optional<ModernBertNorm>(
                          std::in_place,
                          at.Child("attn_norm", RegionKind::kNorm), config)),
      attn(at.Child("attn", RegionKind::kAttention), config),
      mlp_norm(at.Child("mlp_norm", RegionKind::kNorm), config),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor ModernBertLayer::Forward(Tensor hidden, const ModernBertKind& kind,
                                std::string_view attention) const {
  const CheckpointScope checkpoint(module.builder(), {hidden},
                                   {kind.mask, kind.cosines, kind.sines});
  const Scope scope = module.Enter();
  const auto attend = [&] {
    const Tensor normed = attn_norm ? attn_norm->Forward(hidden) : hidden;
    return attn.Forward(normed, kind, attention);
  };
  const Tensor attended = attend();
  hidden = Add(hidden, attended);
  const auto feed = [&] {
    const Tensor normed = mlp_norm.Forward(hidden);
    return mlp.Forward(normed);
  };
  return Add(hidden, feed());
}

ModernBertBody::ModernBertBody(const Module& at,
                               const ModernBertConfig& settings)
    : module(at),
      config(settings),
      tok_embeddings(at.Child("embeddings")
                         .Child("tok_embeddings", RegionKind::kEmbedding),
                     config.vocabulary, config.width),
      norm(at.Child("embeddings").Child("norm", RegionKind::kNorm), config),
      drop(at.Child("embeddings").Child("drop"), config.embedding_dropout),
      layers([&] {
        const Module list = at.Child("layers");
        std::vector<ModernBertLayer> out;
        for (int64_t index = 0; index < config.layers; ++index) {
          out.emplace_back(list.Child(index, RegionKind::kBlock), config,
                           index == 0);
        }
        return out;
      }()),
      final_norm(at.Child("final_norm", RegionKind::kNorm), config),
      rotary_emb(at.Child("rotary_emb")) {
  tok_embeddings.module.MarkInputEmbeddings();
  if (config.any_full) {
    full_frequencies =
        Frequencies(rotary_emb, "full_attention", config.frequencies);
  }
  if (config.any_window) {
    window_frequencies =
        Frequencies(rotary_emb, "sliding_attention", config.frequencies);
  }
}

Tensor ModernBertBody::Embed(const Tensor& input_ids) const {
  const Scope scope = module.Child("embeddings").Enter();
  const auto normed = [&] {
    return norm.Forward(tok_embeddings.Forward(input_ids));
  };
  return drop.Forward(normed());
}

// Where the sequence is shorter than the window, there is none.
Tensor ModernBertBody::WindowMask(const Tensor& hidden,
                                  std::string_view attention) const {
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  if (length < config.window) return {};
  Builder& builder = module.builder();
  Tensor batch_range = Arange(builder, batch);
  Tensor head_range = Arange(builder, 1);
  Tensor query_range = AddScalar(Arange(builder, length), 0);
  Tensor key_range = AddScalar(Arange(builder, length), 0);
  batch_range = Spread(std::move(batch_range), 0);
  head_range = Spread(std::move(head_range), 1);
  query_range = Spread(std::move(query_range), 2);
  key_range = Spread(std::move(key_range), 3);
  const auto within = [&] {
    const auto distance = [&] { return Abs(Sub(query_range, key_range)); };
    Tensor seen = NewOnes(query_range, {}, DType::kBool);
    seen = BitwiseAnd(seen,
                      LeScalar(distance(), static_cast<double>(config.window)));
    return BitwiseAnd(seen, GeScalar(query_range, 0));
  };
  const Tensor seen = Expand(within(), {batch, -1, length, length});
  if (attention == "sdpa") return seen;
  const Tensor zero = Zeros(builder, {}, hidden.dtype());
  const Tensor smallest =
      ScalarTensor(builder, SmallestOf(hidden.dtype()), hidden.dtype());
  return Where(seen, zero, smallest);
}

void ModernBertBody::Turn(const Tensor& hidden, const Tensor& positions,
                          ValueId frequencies, ModernBertKind& kind) const {
  const Scope scope = rotary_emb.Enter();
  if (!config.turns_plainly) {
    module.builder().Fail("a rope type other than default is not derived");
  }
  const Tensor inverse = module.builder().Read(frequencies);
  const auto multiply = [&] {
    return Mul(To(Unsqueeze(positions, 2), DType::kFloat32), inverse);
  };
  const Tensor angles = multiply();
  const Tensor both = Cat2(angles, angles, -1);
  const auto cosine = [&] { return MulScalar(Cos(both), 1); };
  const auto sine = [&] { return MulScalar(Sin(both), 1); };
  const Tensor cosines = cosine();
  const Tensor sines = sine();
  kind.cosines = To(cosines, hidden.dtype());
  kind.sines = To(sines, hidden.dtype());
}

Tensor ModernBertBody::Forward(const Tensor& input_ids,
                               std::string_view attention) const {
  const Scope scope = module.Enter();
  const Tensor positions =
      Unsqueeze(Arange(module.builder(), input_ids.size(1)), 0);
  // A name that the making of masks keeps to the end.
  const Tensor embedded = Embed(input_ids);
  ModernBertKind full;
  ModernBertKind window;
  window.mask = WindowMask(embedded, attention);
  // In the order of a set of names, which differs from run to run.
  if (full_frequencies) Turn(embedded, positions, *full_frequencies, full);
  if (window_frequencies) {
    Turn(embedded, positions, *window_frequencies, window);
  }
  Tensor hidden = embedded;
  for (size_t index = 0; index < layers.size(); ++index) {
    const bool slides = config.slides[index];
    hidden = layers[index].Forward(hidden, slides ? window : full, attention);
  }
  return final_norm.Forward(hidden);
}

ModernBertHead::ModernBertHead(const Module& at, const ModernBertConfig& config)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), config.width, config.width,
            config.classifier_bias),
      act(at.Child("act"), config.classifier_activation),
      norm(at.Child("norm", RegionKind::kNorm), config) {}

Tensor ModernBertHead::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  const auto activate = [&] { return act.Forward(dense.Forward(hidden)); };
  return norm.Forward(activate());
}

}  // namespace foretell
