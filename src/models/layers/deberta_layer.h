// DeBERTa's embeddings, layers and encoder: BERT's, but for attention, a mask
// that meets them all, and a convolution beside the first layer in some.
//
// Source: transformers 5.23, models/deberta_v2/modeling_deberta_v2.py
// (DebertaV2Embeddings, DebertaV2Layer, ConvLayer, DebertaV2Encoder,
// DebertaV2LMPredictionHead, ContextPooler).
#ifndef FORETELL_MODELS_LAYERS_DEBERTA_LAYER_H_
#define FORETELL_MODELS_LAYERS_DEBERTA_LAYER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layers/deberta_attention.h"

namespace foretell {

struct DebertaConvolutionConfig {
  int64_t window = 0;  // tokens; 0: there is no convolution
  int64_t groups = 1;
  std::optional<Activation> activation;  // nothing where its name is unknown
};

struct DebertaStackConfig {
  DebertaLayerConfig attention;
  DebertaConvolutionConfig convolution;
  bool norms_distances = false;  // a LayerNorm over the table of distances
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t types = 0;  // 0: no segments
  int64_t embedding_width = 0;
  bool adds_positions = false;  // to the embeddings
  int64_t layers = 0;

  const BertLayerConfig& layer() const { return attention.layer; }
};

struct DebertaEmbeddings {
  DebertaEmbeddings(const Module& at, const DebertaStackConfig& config);
  // input_ids and types [b, s] whole numbers, mask [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids, const Tensor& types,
                 const Tensor& mask) const;

  Module module;
  Embedding word_embeddings;
  std::optional<Embedding> position_embeddings;
  std::optional<Embedding> token_type_embeddings;
  std::optional<Linear> embed_proj;
  LayerNorm norm;
  Dropout dropout;
  ValueId position_ids;  // [1, positions]
};

struct DebertaLayer {
  DebertaLayer(const Module& at, const DebertaLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 const Tensor& positions, const Tensor& distances) const;

  Module module;
  Module attention;
  DebertaSelfAttention self;
  BertOutput attention_output;
  BertIntermediate intermediate;
  BertOutput output;
};

// A convolution over tokens, added to what the first layer gives.
struct DebertaConvolution {
  DebertaConvolution(const Module& at, const DebertaStackConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& residual,
                 const Tensor& mask) const;

  Module module;
  DebertaConvolutionConfig config;
  Module conv;
  ParameterId weight;  // [width, width / groups, window]
  ParameterId bias;
  LayerNorm norm;
  Dropout dropout;
};

struct DebertaEncoder {
  DebertaEncoder(const Module& at, const DebertaStackConfig& config);
  // What each layer gives, behind the embeddings, which come first.
  std::vector<Tensor> Forward(const Tensor& hidden, const Tensor& mask) const;

  Module module;
  DebertaStackConfig config;
  std::vector<DebertaLayer> layer;
  std::optional<Embedding> rel_embeddings;
  std::optional<LayerNorm> norm;
  std::optional<DebertaConvolution> conv;
};

// The head of DeBERTa-v3's own training: the word embeddings serve it as they
// are, without a second name.
struct DebertaVocabularyHead {
  DebertaVocabularyHead(const Module& at, const DebertaStackConfig& config);
  Tensor Forward(Tensor hidden, ParameterId words) const;

  Module module;
  ParameterId bias;
  Linear dense;
  ActivationModule transform_act_fn;
  LayerNorm norm;
};

struct DebertaPooler {
  DebertaPooler(const Module& at, int64_t width, double dropout,
                std::optional<Activation> activation);
  // [b, s, width] -> [b, width], of each row's first token.
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  Linear dense;
  Dropout dropout;
  std::optional<Activation> activation;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DEBERTA_LAYER_H_
