// ALBERT's layers: BERT's, of which a few serve many times, above embeddings of
// a width of their own.
//
// Source: transformers 5.23, models/albert/modeling_albert.py (AlbertAttention
// to AlbertTransformer, AlbertMLMHead).
#ifndef FORETELL_MODELS_LAYERS_ALBERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_ALBERT_LAYER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/layers/bert_layer.h"
#include "models/layers/read_bert.h"

namespace foretell {

// How the layers are shared.
struct AlbertGroups {
  int64_t groups = 1;  // which take turns over the depth
  int64_t inner = 1;   // layers of a group
};

struct AlbertAttention {
  AlbertAttention(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, std::string_view attention) const;

  Module module;
  BertLayerConfig config;
  Dropout output_dropout;
  Linear query;
  Linear key;
  Linear value;
  Linear dense;
  LayerNorm norm;
};

struct AlbertLayer {
  AlbertLayer(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, std::string_view attention) const;

  Module module;
  int64_t chunk;
  LayerNorm full_layer_layer_norm;
  AlbertAttention attention;
  Linear ffn;
  Linear ffn_output;
  ActivationModule activation;

 private:
  Tensor FeedForward(const Tensor& attended) const;
  Tensor FeedForwardInChunks(const Tensor& attended) const;
};

struct AlbertGroup {
  AlbertGroup(const Module& at, const BertLayerConfig& config, int64_t inner);
  Tensor Forward(Tensor hidden, std::string_view attention) const;

  Module module;
  std::vector<AlbertLayer> albert_layers;
};

struct AlbertTransformer {
  AlbertTransformer(const Module& at, const BertConfig& config,
                    const AlbertGroups& groups);
  // [b, s, width of the tables] -> [b, s, width]
  Tensor Forward(const Tensor& embedded, std::string_view attention) const;

  Module module;
  int64_t depth;
  Linear embedding_hidden_mapping_in;
  std::vector<AlbertGroup> albert_layer_groups;
};

// The head over the vocabulary, back at the width of the tables.
struct AlbertVocabularyHead {
  AlbertVocabularyHead(const Module& at, const BertConfig& config);
  void Tie(ParameterId embeddings) const;
  Tensor Forward(Tensor hidden) const;

  Module module;
  ParameterId bias;
  LayerNorm norm;
  Linear dense;
  Linear decoder;
  ActivationModule activation;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ALBERT_LAYER_H_
