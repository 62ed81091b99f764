#include "models/layers/bart_stack.h"

#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/causal_mask.h"
#include "models/layers/dropout.h"

namespace foretell {
namespace {

// The table of positions begins with rows that no position reads.
constexpr int64_t kOffset = 2;

std::optional<LayerNorm> Norm(bool is_there, const Module& at,
                              std::string_view name,
                              const BartStackConfig& config) {
  if (!is_there) return std::nullopt;
  return LayerNorm(at.Child(name, RegionKind::kNorm), config.layer.width, 1e-5);
}

template <class Layer>
std::vector<Layer> MakeLayers(const Module& at, const BartStackConfig& config) {
  const Module list = at.Child("layers");
  std::vector<Layer> layers;
  for (int64_t index = 0; index < config.layers; ++index) {
    layers.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
  }
  return layers;
}

void CheckLayerDrop(const Module& module, const BartStackConfig& config) {
  if (config.layer_drop > 0 && module.builder().execution().training) {
    module.builder().Fail("which layers a step runs is drawn at random");
  }
}

}  // namespace

BartEmbedding::BartEmbedding(const Module& at, const BartStackConfig& config)
    : module(at),
      scale(config.embedding_scale),
      scales_outside(config.form.scales_outside),
      weight(at.Parameter("weight", {config.vocabulary, config.layer.width})) {
  at.MarkInputEmbeddings();
}

Tensor BartEmbedding::Forward(const Tensor& ids) const {
  const auto read = [&] {
    const Scope scope = module.Enter();
    Tensor rows = EmbeddingOp(module.builder().Read(weight), ids);
    if (!scales_outside) rows = MulScalar(rows, scale);
    RequireInputGradient(module, rows);
    return rows;
  };
  Tensor rows = read();
  return scales_outside ? MulScalar(std::move(rows), scale) : rows;
}

BartPositions::BartPositions(const Module& at, const BartStackConfig& config)
    : module(at), places(config.form.places), padding(config.padding) {
  const int64_t rows =
      config.positions + (places == BartPlaces::kFrozen ? 0 : kOffset);
  const Shape sizes = {rows, config.layer.width};
  if (places == BartPlaces::kCounted) {
    at.Buffer("weights", sizes, at.builder().dtype(), false);
    weights = at.builder().graph().buffers.back().value;
    return;
  }
  weight = at.Parameter("weight", sizes);
  if (places != BartPlaces::kFrozen) return;
  Graph& graph = at.builder().graph();
  const ValueId value = graph.parameters[weight->index].value;
  graph.values[value.index].requires_grad = false;
}

Tensor BartPositions::Count(const Tensor& ids, int64_t past) const {
  Builder& builder = module.builder();
  if (!padding) {
    builder.Fail("positions cannot be counted without pad_token_id");
    return ids;
  }
  const Tensor table = builder.Read(*weights);
  if (*padding + 1 + ids.size(1) + past > table.size(0)) {
    builder.Fail("the sequence is longer than the table of positions");
    return ids;
  }
  const auto own = static_cast<double>(*padding);
  const auto number = [&] {
    const Tensor mask = To(NeScalar(ids, own), DType::kInt32);
    const Tensor counted = Mul(AddScalar(To(Cumsum(mask, 1), DType::kInt32),
                                         static_cast<double>(past)),
                               mask);
    return AddScalar(To(counted, DType::kInt64), own);
  };
  const Tensor numbers = number();
  const Tensor rows = IndexSelect(table, View(numbers, {-1}));
  return Detach(View(rows, {ids.size(0), ids.size(1), table.size(1)}));
}

Tensor BartPositions::ForEncoder(const Tensor& ids) const {
  const Scope scope = module.Enter();
  if (places == BartPlaces::kCounted) return Count(ids, 0);
  Builder& builder = module.builder();
  Tensor numbers = ArangeFrom(builder, 0, ids.size(1));
  if (places == BartPlaces::kFrozen) {
    return EmbeddingOp(builder.Read(*weight), numbers);
  }
  numbers = Expand(numbers, {ids.size(0), -1});
  return EmbeddingOp(builder.Read(*weight),
                     AddScalar(numbers, static_cast<double>(kOffset)));
}

Tensor BartPositions::ForDecoder(const Tensor& ids, const Tensor& numbers,
                                 int64_t past) const {
  const Scope scope = module.Enter();
  if (places == BartPlaces::kCounted) return Count(ids, past);
  Builder& builder = module.builder();
  if (places == BartPlaces::kFrozen) {
    return EmbeddingOp(builder.Read(*weight), numbers);
  }
  const Tensor row = Unsqueeze(numbers, 0);
  return EmbeddingOp(builder.Read(*weight),
                     AddScalar(row, static_cast<double>(kOffset)));
}

BartEncoder::BartEncoder(const Module& at, const BartStackConfig& settings)
    : module(at),
      config(settings),
      embed_tokens(at.Child("embed_tokens", RegionKind::kEmbedding), config),
      embed_positions(at.Child("embed_positions", RegionKind::kEmbedding),
                      config),
      layers(MakeLayers<BartEncoderLayer>(at, config)),
      layernorm_embedding(
          Norm(config.form.embedding_norm, at, "layernorm_embedding", config)),
      layer_norm(Norm(config.form.last_norm, at, "layer_norm", config)) {}

Tensor BartEncoder::Forward(const Tensor& ids, const Tensor& padding,
                            std::string_view attention) const {
  const Scope scope = module.Enter();
  CheckLayerDrop(module, config);
  const Tensor embedded = embed_tokens.Forward(ids);
  // Positions of a learned table take their number from a part of the words.
  if (config.form.places == BartPlaces::kLearned) Select(embedded, 2, -1);
  const Tensor placed = embed_positions.ForEncoder(ids);
  Tensor hidden = Add(embedded, placed);
  if (layernorm_embedding) hidden = layernorm_embedding->Forward(hidden);
  hidden = ApplyDropout(hidden, config.layer.dropout);
  if (!padding.empty()) LookThroughMask(padding);
  for (const BartEncoderLayer& layer : layers) {
    hidden = layer.Forward(hidden, attention);
  }
  return layer_norm ? layer_norm->Forward(hidden) : hidden;
}

BartDecoder::BartDecoder(const Module& at, const BartStackConfig& settings)
    : module(at),
      config(settings),
      embed_tokens(at.Child("embed_tokens", RegionKind::kEmbedding), config),
      embed_positions(at.Child("embed_positions", RegionKind::kEmbedding),
                      config),
      layers(MakeLayers<BartDecoderLayer>(at, config)),
      layernorm_embedding(
          Norm(config.form.embedding_norm, at, "layernorm_embedding", config)),
      layer_norm(Norm(config.form.last_norm, at, "layer_norm", config)) {}

Tensor BartDecoder::Forward(const Tensor& ids, const Tensor& encoded,
                            const Tensor& padding, std::string_view attention,
                            EncoderDecoderCache& cache) const {
  const Scope scope = module.Enter();
  CheckLayerDrop(module, config);
  Builder& builder = module.builder();
  const Tensor embedded = embed_tokens.Forward(ids);
  const int64_t batch = embedded.size(0);
  const int64_t length = embedded.size(1);
  Tensor numbers;
  if (config.form.places != BartPlaces::kCounted) {
    numbers =
        AddScalar(Arange(builder, length), static_cast<double>(cache.past));
  }
  Tensor ones = Ones(builder, {batch, cache.past + length}, DType::kFloat32);
  const Tensor mask =
      CausalMaskOver(ones, embedded, attention, {.past = cache.past});
  if (!config.form.keeps_ones) ones = Tensor();
  if (!padding.empty()) LookThroughMask(padding);
  const Tensor placed = embed_positions.ForDecoder(ids, numbers, cache.past);
  if (config.form.reuses_places) numbers = Tensor();
  Tensor hidden = Add(embedded, placed);
  if (layernorm_embedding) hidden = layernorm_embedding->Forward(hidden);
  hidden = ApplyDropout(hidden, config.layer.dropout);
  for (size_t i = 0; i < layers.size(); ++i) {
    hidden =
        layers[i].Forward(hidden, mask, encoded, attention, cache.Layer(i));
  }
  return layer_norm ? layer_norm->Forward(hidden) : hidden;
}

}  // namespace foretell
