#include "models/layers/deberta_layer.h"

#include "graph/ops/convolution.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

LayerNorm Norm(const Module& at, const BertLayerConfig& config) {
  return {at.Child("LayerNorm", RegionKind::kNorm), config.hidden,
          config.norm_epsilon};
}

// The activation is looked up by its name as it runs.
Tensor ActivateByName(std::optional<Activation> activation, const Tensor& x) {
  if (activation) return Activate(*activation, x);
  x.builder().Fail("an activation of an unknown name");
  return x;
}

}  // namespace

DebertaEmbeddings::DebertaEmbeddings(const Module& at,
                                     const DebertaStackConfig& config)
    : module(at),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      config.vocabulary, config.embedding_width),
      position_embeddings(
          config.adds_positions
              ? std::optional<Embedding>(
                    std::in_place,
                    at.Child("position_embeddings", RegionKind::kEmbedding),
                    config.positions, config.embedding_width)
              : std::nullopt),
      token_type_embeddings(
          config.types > 0
              ? std::optional<Embedding>(
                    std::in_place,
                    at.Child("token_type_embeddings", RegionKind::kEmbedding),
                    config.types, config.embedding_width)
              : std::nullopt),
      embed_proj(config.embedding_width != config.layer().hidden
                     ? std::optional<Linear>(
                           std::in_place,
                           at.Child("embed_proj", RegionKind::kEmbedding),
                           config.embedding_width, config.layer().hidden, false)
                     : std::nullopt),
      norm(Norm(at, config.layer())),
      dropout(at.Child("dropout"), config.layer().hidden_dropout),
      position_ids(WholeNumberBuffer(at, "position_ids", config.positions)) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor DebertaEmbeddings::Forward(const Tensor& input_ids, const Tensor& types,
                                  const Tensor& mask) const {
  const Scope scope = module.Enter();
  const int64_t length = input_ids.size(1);
  const Tensor positions =
      SliceRange(module.builder().Read(position_ids), 1, 0, length);
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor placed = position_embeddings
                            ? position_embeddings->Forward(positions)
                            : ZerosLike(words);
  Tensor embedded = words;
  Tensor typed;
  if (position_embeddings) embedded = Add(embedded, placed);
  if (token_type_embeddings) {
    typed = token_type_embeddings->Forward(types);
    embedded = Add(embedded, typed);
  }
  if (embed_proj) embedded = embed_proj->Forward(embedded);
  embedded = norm.Forward(embedded);
  const Tensor kept = To(Unsqueeze(mask, 2), embedded.dtype());
  embedded = Mul(embedded, kept);
  embedded = dropout.Forward(embedded);
  return embedded;
}

DebertaLayer::DebertaLayer(const Module& at, const DebertaLayerConfig& config)
    : module(at),
      attention(at.Child("attention", RegionKind::kAttention)),
      self(attention.Child("self"), config),
      attention_output(attention.Child("output"), config.layer,
                       config.layer.hidden),
      intermediate(at.Child("intermediate", RegionKind::kMlp), config.layer),
      output(at.Child("output", RegionKind::kMlp), config.layer,
             config.layer.intermediate) {}

Tensor DebertaLayer::Forward(const Tensor& hidden, const Tensor& mask,
                             const Tensor& positions,
                             const Tensor& distances) const {
  const CheckpointScope checkpoint(module.builder(), {hidden, mask},
                                   {positions, distances});
  const Scope scope = module.Enter();
  const auto attend = [&] {
    const Scope inner = attention.Enter();
    const Tensor attended = self.Forward(hidden, mask, positions, distances);
    return attention_output.Forward(attended, hidden);
  };
  const Tensor attended = attend();
  const Tensor widened = intermediate.Forward(attended);
  return output.Forward(widened, attended);
}

DebertaConvolution::DebertaConvolution(const Module& at,
                                       const DebertaStackConfig& settings)
    : module(at),
      config(settings.convolution),
      conv(at.Child("conv", RegionKind::kLinear)),
      weight(conv.Parameter(
          "weight", {settings.layer().hidden,
                     settings.layer().hidden / config.groups, config.window})),
      bias(conv.Parameter("bias", {settings.layer().hidden})),
      norm(Norm(at, settings.layer())),
      dropout(at.Child("dropout"), settings.layer().hidden_dropout) {}

Tensor DebertaConvolution::Forward(const Tensor& hidden, const Tensor& residual,
                                   const Tensor& mask) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const auto convolve = [&](const Tensor& x) {
    const Scope inner = conv.Enter();
    return Convolution(x, builder.Read(weight), builder.Read(bias),
                       {.stride = {1},
                        .padding = {(config.window - 1) / 2},
                        .dilation = {1},
                        .groups = config.groups});
  };
  const auto run = [&] {
    Tensor moved = convolve(Contiguous(Permute(hidden, {0, 2, 1})));
    return Contiguous(Permute(std::move(moved), {0, 2, 1}));
  };
  Tensor out = run();
  if (hidden.size(1) == 1) {
    // Nothing was copied then: what is masked is a view of the convolution's
    // own result.
    builder.Fail("a convolution over one token is masked through a view");
    return residual;
  }
  const Tensor hides = To(RsubScalar(mask, 1), DType::kBool);
  out = FillWhere(out, Expand(Unsqueeze(hides, -1), out.shape()), 0);
  out = ActivateByName(config.activation, dropout.Forward(out));
  const Tensor joined = Add(residual, out);
  const Tensor normed = norm.Forward(joined);
  const Tensor kept = To(Unsqueeze(mask, 2), normed.dtype());
  return Mul(normed, kept);
}

DebertaEncoder::DebertaEncoder(const Module& at,
                               const DebertaStackConfig& settings)
    : module(at), config(settings) {
  const Module list = at.Child("layer");
  for (int64_t index = 0; index < config.layers; ++index) {
    layer.emplace_back(list.Child(index, RegionKind::kBlock), config.attention);
  }
  if (config.attention.relative) {
    rel_embeddings.emplace(at.Child("rel_embeddings", RegionKind::kEmbedding),
                           2 * config.attention.span(), config.layer().hidden);
  }
  if (config.norms_distances) norm.emplace(Norm(at, config.layer()));
  if (config.convolution.window > 0) {
    conv.emplace(at.Child("conv", RegionKind::kOther), config);
  }
}

std::vector<Tensor> DebertaEncoder::Forward(const Tensor& hidden,
                                            const Tensor& mask) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const auto pairs = [&] {
    const Tensor rows = Unsqueeze(Unsqueeze(mask, 1), 2);
    return Mul(rows, Unsqueeze(SqueezeAxis(rows, -2), -1));
  };
  const Tensor seen = pairs();
  Tensor positions;
  Tensor distances;
  if (rel_embeddings) {
    positions = RelativePositions(builder, hidden.size(1), config.attention);
    distances = builder.Read(rel_embeddings->weight);
    if (norm) distances = norm->Forward(distances);
  }
  std::vector<Tensor> states = {hidden};
  Tensor next = hidden;
  for (size_t index = 0; index < layer.size(); ++index) {
    next = layer[index].Forward(next, seen, positions, distances);
    if (index == 0 && conv) next = conv->Forward(hidden, next, mask);
    states.push_back(next);
  }
  return states;
}

DebertaVocabularyHead::DebertaVocabularyHead(const Module& at,
                                             const DebertaStackConfig& config)
    : module(at),
      bias(at.Parameter("bias", {config.vocabulary})),
      dense(at.Child("dense", RegionKind::kHead), config.layer().hidden,
            config.layer().hidden, true),
      transform_act_fn(at.Child("transform_act_fn"), config.layer().activation),
      norm(Norm(at, config.layer())) {
  dense.module.MarkOutputEmbeddings();
}

Tensor DebertaVocabularyHead::Forward(Tensor hidden, ParameterId words) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  hidden = dense.Forward(hidden);
  hidden = transform_act_fn.Forward(hidden);
  hidden = norm.Forward(hidden);
  const auto multiply = [&] {
    const Tensor table = T(builder.Read(words));
    Shape out = hidden.shape();
    if (out.rank() == 0) return hidden;  // the graph has failed already
    out.Set(-1, table.size(1));
    const Tensor rows = View(hidden, {-1, hidden.size(-1)});
    return UnsafeView(Mm(rows, table), out);
  };
  return Add(multiply(), builder.Read(bias));
}

DebertaPooler::DebertaPooler(const Module& at, int64_t width,
                             double probability, std::optional<Activation> kind)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), width, width, true),
      dropout(at.Child("dropout"), probability),
      activation(kind) {}

Tensor DebertaPooler::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Tensor first = Select(hidden, 1, 0);
  first = dropout.Forward(first);
  const Tensor pooled = dense.Forward(first);
  return ActivateByName(activation, pooled);
}

}  // namespace foretell
