#include "models/layers/nomic_bert_layer.h"

#include <cmath>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {
namespace {

Linear Projection(const Module& at, std::string_view name, int64_t in,
                  int64_t out) {
  return {at.Child(name, RegionKind::kLinear), in, out, false};
}

ValueId Frequencies(const Module& at, int64_t count) {
  at.Buffer("inv_freq", {count}, DType::kFloat32, false);
  const ValueId value = at.builder().graph().buffers.back().value;
  at.Buffer("original_inv_freq", {count}, DType::kFloat32, false);
  return value;
}

}  // namespace

NomicAttention::NomicAttention(const Module& at, const BertLayerConfig& config)
    : module(at),
      head_dim(config.head_dim),
      dropout(config.attention_dropout),
      q_proj(Projection(at, "q_proj", config.hidden,
                        config.heads * config.head_dim)),
      k_proj(Projection(at, "k_proj", config.hidden,
                        config.heads * config.head_dim)),
      v_proj(Projection(at, "v_proj", config.hidden,
                        config.heads * config.head_dim)),
      o_proj(Projection(at, "o_proj", config.heads * config.head_dim,
                        config.hidden)) {}

Tensor NomicAttention::Forward(const Tensor& hidden, const NomicAngles& angles,
                               std::string_view attention) const {
  const Scope scope = module.Enter();
  Tensor q = SplitHeads(q_proj.Forward(hidden), head_dim);
  Tensor k = SplitHeads(k_proj.Forward(hidden), head_dim);
  const Tensor v = SplitHeads(v_proj.Forward(hidden), head_dim);
  std::tie(q, k) = ApplyRotary(q, k, angles.first, angles.second);
  PlainAttentionCall call;
  call.dropout = dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  call.attention = attention;
  Tensor out = Contiguous(AttendPlainly(q, k, v, call));
  out = Reshape(out, {out.size(0), out.size(1), -1});
  return o_proj.Forward(out);
}

NomicLayer::NomicLayer(const Module& at, const BertLayerConfig& config)
    : module(at),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      post_attention_dropout(at.Child("post_attention_dropout"),
                             config.hidden_dropout),
      post_mlp_dropout(at.Child("post_mlp_dropout"), config.hidden_dropout),
      mlp(at.Child("mlp", RegionKind::kMlp), config.hidden, config.intermediate,
          false, config.activation),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config),
      post_mlp_layernorm(at.Child("post_mlp_layernorm", RegionKind::kNorm),
                         config.hidden, config.norm_epsilon) {}

Tensor NomicLayer::Forward(Tensor hidden, const NomicAngles& angles,
                           const Tensor& positions,
                           std::string_view attention) const {
  const CheckpointScope checkpoint(module.builder(), {hidden},
                                   {angles.first, angles.second, positions});
  const Scope scope = module.Enter();
  Tensor residual = hidden;
  const Tensor attended = self_attn.Forward(hidden, angles, attention);
  hidden = Add(residual, post_attention_dropout.Forward(attended));
  hidden = post_attention_layernorm.Forward(hidden);
  residual = hidden;
  hidden = mlp.Forward(hidden);
  hidden = Add(residual, post_mlp_dropout.Forward(hidden));
  return post_mlp_layernorm.Forward(hidden);
}

NomicBody::NomicBody(const Module& at, const BertConfig& config,
                     const RopeConfig& rope, bool has_pooler)
    : module(at),
      embeddings(at.Child("embeddings")),
      word_embeddings(
          embeddings.Child("word_embeddings", RegionKind::kEmbedding),
          config.vocabulary, config.layer.hidden),
      token_type_embeddings(
          embeddings.Child("token_type_embeddings", RegionKind::kEmbedding),
          config.types, config.layer.hidden),
      norm(embeddings.Child("LayerNorm", RegionKind::kNorm),
           config.layer.hidden, config.layer.norm_epsilon),
      dropout(embeddings.Child("dropout"), config.layer.hidden_dropout),
      pooler([&]() -> std::optional<BertPooler> {
        WholeNumberBuffer(embeddings, "position_ids", config.positions);
        WholeNumberBuffer(embeddings, "token_type_ids", config.positions);
        if (!has_pooler) return std::nullopt;
        return BertPooler(at.Child("pooler"), config.layer.hidden);
      }()),
      rotary_emb(at.Child("rotary_emb")),
      turns_plainly(rope.type == "default"),
      frequencies(Frequencies(rotary_emb, rope.frequencies)),
      layers([&] {
        const Module list = at.Child("layers");
        std::vector<NomicLayer> out;
        for (int64_t index = 0; index < config.layers; ++index) {
          out.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
        }
        return out;
      }()) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor NomicBody::Embed(const Tensor& input_ids) const {
  const Scope scope = embeddings.Enter();
  Tensor embedded = word_embeddings.Forward(input_ids);
  const Tensor types =
      Zeros(module.builder(), input_ids.shape(), DType::kInt64);
  const Tensor typed = token_type_embeddings.Forward(types);
  embedded = Add(embedded, typed);
  embedded = norm.Forward(embedded);
  return dropout.Forward(embedded);
}

NomicAngles NomicBody::Turn(const Tensor& hidden,
                            const Tensor& positions) const {
  const Scope scope = rotary_emb.Enter();
  if (!turns_plainly) {
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
  Tensor cast_cosines = To(cosines, hidden.dtype());
  Tensor cast_sines = To(sines, hidden.dtype());
  return {std::move(cast_cosines), std::move(cast_sines)};
}

BertResults NomicBody::Forward(const Tensor& input_ids,
                               std::string_view attention) const {
  const Scope scope = module.Enter();
  const Tensor positions =
      Unsqueeze(Arange(module.builder(), input_ids.size(1)), 0);
  const Tensor embedded = Embed(input_ids);
  const NomicAngles angles = Turn(embedded, positions);
  BertResults out;
  out.hidden = embedded;
  for (const NomicLayer& layer : layers) {
    out.hidden = layer.Forward(out.hidden, angles, positions, attention);
  }
  if (pooler) out.pooled = pooler->Forward(out.hidden);
  return out;
}

NomicVocabularyHead::NomicVocabularyHead(const Module& at,
                                         const BertConfig& config)
    : module(at),
      bias(at.Parameter("bias", {config.vocabulary})),
      transform(at.Child("transform", RegionKind::kHead)),
      dense(transform.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.layer.hidden, true),
      transform_act_fn(transform.Child("transform_act_fn"),
                       config.layer.activation),
      layer_norm(transform.Child("layer_norm", RegionKind::kNorm),
                 config.layer.hidden, config.layer.norm_epsilon),
      decoder(at.Child("decoder", RegionKind::kHead), config.layer.hidden,
              config.vocabulary, true) {
  decoder.module.MarkOutputEmbeddings();
}

void NomicVocabularyHead::Tie(ParameterId embeddings) const {
  module.builder().Tie(decoder.weight, embeddings);
  module.builder().Tie(*decoder.bias, bias);
}

Tensor NomicVocabularyHead::Transform(Tensor hidden) const {
  const Scope scope = transform.Enter();
  hidden = dense.Forward(hidden);
  hidden = transform_act_fn.Forward(hidden);
  return layer_norm.Forward(hidden);
}

Tensor NomicVocabularyHead::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = Transform(std::move(hidden));
  return decoder.Forward(hidden);
}

}  // namespace foretell
