#include "models/layers/bart_stack.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/causal_mask.h"
#include "models/layers/dropout.h"

namespace foretell {
namespace {

// The table of positions begins with rows that no position reads.
constexpr int64_t kOffset = 2;

Embedding Positions(const Module& at, const BartStackConfig& config) {
  return {at.Child("embed_positions", RegionKind::kEmbedding),
          config.positions + kOffset, config.layer.width};
}

LayerNorm EmbeddingNorm(const Module& at, const BartStackConfig& config) {
  return {at.Child("layernorm_embedding", RegionKind::kNorm),
          config.layer.width, 1e-5};
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
  if (config.layer_drop > 0) {
    module.builder().Fail("which layers a step runs is drawn at random");
  }
}

}  // namespace

BartEmbedding::BartEmbedding(const Module& at, const BartStackConfig& config)
    : module(at),
      scale(config.embedding_scale),
      weight(at.Parameter("weight", {config.vocabulary, config.layer.width})) {
  at.MarkInputEmbeddings();
}

Tensor BartEmbedding::Forward(const Tensor& ids) const {
  const Scope scope = module.Enter();
  Tensor rows =
      MulScalar(EmbeddingOp(module.builder().Read(weight), ids), scale);
  RequireInputGradient(module, rows);
  return rows;
}

BartEncoder::BartEncoder(const Module& at, const BartStackConfig& settings)
    : module(at),
      config(settings),
      embed_tokens(at.Child("embed_tokens", RegionKind::kEmbedding), config),
      embed_positions(Positions(at, config)),
      layers(MakeLayers<BartEncoderLayer>(at, config)),
      layernorm_embedding(EmbeddingNorm(at, config)) {}

Tensor BartEncoder::Forward(const Tensor& ids,
                            std::string_view attention) const {
  const Scope scope = module.Enter();
  CheckLayerDrop(module, config);
  Builder& builder = module.builder();
  const Tensor embedded = embed_tokens.Forward(ids);
  const Tensor shape_of = Select(embedded, 2, -1);
  const auto place = [&] {
    const Scope inner = embed_positions.module.Enter();
    const Tensor positions = Expand(ArangeFrom(builder, 0, shape_of.size(1)),
                                    {shape_of.size(0), -1});
    return EmbeddingOp(builder.Read(embed_positions.weight),
                       AddScalar(positions, static_cast<double>(kOffset)));
  };
  const Tensor placed = place();
  Tensor hidden = Add(embedded, placed);
  hidden = layernorm_embedding.Forward(hidden);
  hidden = ApplyDropout(hidden, config.layer.dropout);
  for (const BartEncoderLayer& layer : layers) {
    hidden = layer.Forward(hidden, attention);
  }
  return hidden;
}

BartDecoder::BartDecoder(const Module& at, const BartStackConfig& settings)
    : module(at),
      config(settings),
      embed_tokens(at.Child("embed_tokens", RegionKind::kEmbedding), config),
      embed_positions(Positions(at, config)),
      layers(MakeLayers<BartDecoderLayer>(at, config)),
      layernorm_embedding(EmbeddingNorm(at, config)) {}

Tensor BartDecoder::Forward(const Tensor& ids, const Tensor& encoded,
                            std::string_view attention) const {
  const Scope scope = module.Enter();
  CheckLayerDrop(module, config);
  Builder& builder = module.builder();
  const Tensor embedded = embed_tokens.Forward(ids);
  const int64_t batch = embedded.size(0);
  const int64_t length = embedded.size(1);
  const Tensor positions = AddScalar(Arange(builder, length), 0);
  Tensor mask = Ones(builder, {batch, length}, DType::kFloat32);
  mask = CausalMaskOver(mask, embedded, attention);
  const auto place = [&] {
    const Scope inner = embed_positions.module.Enter();
    const Tensor row = Unsqueeze(positions, 0);
    return EmbeddingOp(builder.Read(embed_positions.weight),
                       AddScalar(row, static_cast<double>(kOffset)));
  };
  const Tensor placed = place();
  Tensor hidden = Add(embedded, placed);
  hidden = layernorm_embedding.Forward(hidden);
  hidden = ApplyDropout(hidden, config.layer.dropout);
  for (const BartDecoderLayer& layer : layers) {
    hidden = layer.Forward(hidden, mask, encoded, attention);
  }
  return hidden;
}

}  // namespace foretell
