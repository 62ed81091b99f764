#include "models/layers/roberta_layer.h"

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"

namespace foretell {

RobertaEmbeddings::RobertaEmbeddings(const Module& at, const BertConfig& config)
    : module(at),
      padding(config.padding),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      config.vocabulary, config.layer.hidden),
      token_type_embeddings(
          at.Child("token_type_embeddings", RegionKind::kEmbedding),
          config.types, config.layer.hidden),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.layer.hidden,
           config.layer.norm_epsilon),
      dropout(at.Child("dropout"), config.layer.hidden_dropout),
      token_type_ids([&] {
        WholeNumberBuffer(at, "position_ids", config.positions);
        return WholeNumberBuffer(at, "token_type_ids", config.positions);
      }()),
      position_embeddings(
          at.Child("position_embeddings", RegionKind::kEmbedding),
          config.positions, config.layer.hidden) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor RobertaEmbeddings::CountPositions(const Tensor& input_ids) const {
  if (!padding) {
    module.builder().Fail("positions cannot be counted without pad_token_id");
    return input_ids;
  }
  const auto own = static_cast<double>(*padding);
  const Tensor mask = To(NeScalar(input_ids, own), DType::kInt32);
  const Tensor counted =
      Mul(AddScalar(To(Cumsum(mask, 1), DType::kInt32), 0), mask);
  return AddScalar(To(counted, DType::kInt64), own);
}

Tensor RobertaEmbeddings::Forward(const Tensor& input_ids) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = input_ids.size(0);
  const int64_t length = input_ids.size(1);
  const Tensor positions = CountPositions(input_ids);
  Tensor types = builder.Read(token_type_ids);
  if (builder.library().gathers_token_types) {
    types = Expand(std::move(types), {batch, -1});
    types = Gather(std::move(types), 1, positions);
  } else {
    types = Slice(types, 1, 0, length);
  }
  const Tensor all_types = Expand(types, {batch, length});
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor typed = token_type_embeddings.Forward(all_types);
  Tensor embedded = Add(words, typed);
  const Tensor placed = position_embeddings.Forward(positions);
  embedded = Add(embedded, placed);
  embedded = norm.Forward(embedded);
  return dropout.Forward(embedded);
}

RobertaVocabularyHead::RobertaVocabularyHead(const Module& at,
                                             const BertConfig& config)
    : module(at),
      bias(at.Parameter("bias", {config.vocabulary})),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.layer.hidden, true),
      norm(at.Child("layer_norm", RegionKind::kNorm), config.layer.hidden,
           config.layer.norm_epsilon),
      decoder(at.Child("decoder", RegionKind::kHead), config.layer.hidden,
              config.vocabulary, true) {
  decoder.module.MarkOutputEmbeddings();
}

void RobertaVocabularyHead::Tie(ParameterId embeddings, bool is_first) const {
  const ParameterId target = is_first ? decoder.weight : embeddings;
  module.builder().Tie(is_first ? embeddings : decoder.weight, target);
  module.builder().Tie(*decoder.bias, bias);
}

Tensor RobertaVocabularyHead::Forward(const Tensor& features) const {
  const Scope scope = module.Enter();
  Tensor x = dense.Forward(features);
  x = Gelu(x);
  x = norm.Forward(x);
  return decoder.Forward(x);
}

RobertaSequenceHead::RobertaSequenceHead(const Module& at,
                                         const BertConfig& config)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.layer.hidden, true),
      dropout(at.Child("dropout"), config.classifier_dropout),
      out_proj(at.Child("out_proj", RegionKind::kHead), config.layer.hidden,
               config.labels.count, true) {}

Tensor RobertaSequenceHead::Forward(const Tensor& features) const {
  const Scope scope = module.Enter();
  Tensor x = Select(features, 1, 0);
  x = dropout.Forward(x);
  x = dense.Forward(x);
  x = Tanh(x);
  x = dropout.Forward(x);
  return out_proj.Forward(x);
}

}  // namespace foretell
