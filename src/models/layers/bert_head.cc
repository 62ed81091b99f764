#include "models/layers/bert_head.h"

namespace foretell {

BertTransform::BertTransform(const Module& at, const BertLayerConfig& config,
                             int64_t width)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), config.hidden, width, true),
      transform_act_fn(at.Child("transform_act_fn"), config.activation),
      norm(at.Child("LayerNorm", RegionKind::kNorm), width,
           config.norm_epsilon) {}

Tensor BertTransform::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = dense.Forward(hidden);
  hidden = transform_act_fn.Forward(hidden);
  return norm.Forward(hidden);
}

BertVocabularyHead::BertVocabularyHead(const Module& at,
                                       const BertLayerConfig& config,
                                       int64_t vocabulary, int64_t width)
    : module(at),
      bias(at.Parameter("bias", {vocabulary})),
      transform(at.Child("transform", RegionKind::kHead), config, width),
      decoder(at.Child("decoder", RegionKind::kHead), width, vocabulary, true) {
  decoder.module.MarkOutputEmbeddings();
}

void BertVocabularyHead::Tie(ParameterId embeddings) const {
  module.builder().Tie(decoder.weight, embeddings);
  module.builder().Tie(*decoder.bias, bias);
}

Tensor BertVocabularyHead::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = transform.Forward(hidden);
  return decoder.Forward(hidden);
}

}  // namespace foretell
