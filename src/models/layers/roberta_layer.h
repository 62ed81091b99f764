// What RoBERTa has in place of BERT's: embeddings whose positions are counted
// from the tokens, a head over the vocabulary, and a head for sequences.
//
// Source: transformers 5.23, models/roberta/modeling_roberta.py
// (RobertaEmbeddings, RobertaLMHead, RobertaClassificationHead); xlm_roberta
// has the same.
#ifndef FORETELL_MODELS_LAYERS_ROBERTA_LAYER_H_
#define FORETELL_MODELS_LAYERS_ROBERTA_LAYER_H_

#include <cstdint>

#include <optional>

#include "models/layers/bert_layer.h"
#include "models/layers/read_bert.h"

namespace foretell {

// Position numbers begin behind the padding token's; padding keeps its own.
struct RobertaEmbeddings {
  RobertaEmbeddings(const Module& at, const BertConfig& config);
  // input_ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids) const;

  Module module;
  std::optional<int64_t> padding;
  Embedding word_embeddings;
  Embedding token_type_embeddings;
  LayerNorm norm;
  Dropout dropout;
  ValueId token_type_ids;  // [1, positions], zeros
  Embedding position_embeddings;

 private:
  Tensor CountPositions(const Tensor& input_ids) const;
};

// A dense layer, gelu whatever the layers' activation, a norm, and the decoder.
struct RobertaVocabularyHead {
  RobertaVocabularyHead(const Module& at, const BertConfig& config);
  // To the table of word embeddings, or that to the decoder where the head is
  // registered first; the decoder's bias to the head's own.
  void Tie(ParameterId embeddings, bool is_first) const;
  // [b, s, width] -> [b, s, vocabulary]
  Tensor Forward(const Tensor& features) const;

  Module module;
  ParameterId bias;
  Linear dense;
  LayerNorm norm;
  Linear decoder;
};

struct RobertaSequenceHead {
  RobertaSequenceHead(const Module& at, const BertConfig& config);
  // [b, s, width] -> [b, labels], of each row's first token.
  Tensor Forward(const Tensor& features) const;

  Module module;
  Linear dense;
  Dropout dropout;
  Linear out_proj;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ROBERTA_LAYER_H_
