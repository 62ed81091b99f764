// BERT's head over the vocabulary: a dense layer, a norm, and the decoder,
// whose weight and bias have two names each where embeddings are tied.
//
// Source: transformers 5.23, models/bert/modeling_bert.py
// (BertPredictionHeadTransform, BertLMPredictionHead).
#ifndef FORETELL_MODELS_LAYERS_BERT_HEAD_H_
#define FORETELL_MODELS_LAYERS_BERT_HEAD_H_

#include <cstdint>

#include "models/layers/bert_layer.h"

namespace foretell {

// To `width`, which is the layers' own but in DeBERTa.
struct BertTransform {
  BertTransform(const Module& at, const BertLayerConfig& config, int64_t width);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear dense;
  ActivationModule transform_act_fn;
  LayerNorm norm;
};

struct BertVocabularyHead {
  BertVocabularyHead(const Module& at, const BertLayerConfig& config,
                     int64_t vocabulary, int64_t width);
  // To the table of word embeddings; the bias to the head's own.
  void Tie(ParameterId embeddings) const;
  // [b, s, width] -> [b, s, vocabulary]
  Tensor Forward(Tensor hidden) const;

  Module module;
  ParameterId bias;
  BertTransform transform;
  Linear decoder;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BERT_HEAD_H_
