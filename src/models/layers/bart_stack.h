// BART's encoder and decoder: embeddings that a factor scales, learned
// positions behind two rows that nothing reads, and a norm over their sum.
//
// Source: transformers 5.23, models/bart/modeling_bart.py
// (BartScaledWordEmbedding, BartLearnedPositionalEmbedding, BartEncoder,
// BartDecoder).
#ifndef FORETELL_MODELS_LAYERS_BART_STACK_H_
#define FORETELL_MODELS_LAYERS_BART_STACK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/layers/bart_layer.h"

namespace foretell {

struct BartStackConfig {
  BartLayerConfig layer;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  double embedding_scale = 1;
  double layer_drop = 0;  // the chance that a step leaves a layer out
};

struct BartEmbedding {
  BartEmbedding(const Module& at, const BartStackConfig& config);
  // ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& ids) const;

  Module module;
  double scale;
  ParameterId weight;
};

struct BartEncoder {
  BartEncoder(const Module& at, const BartStackConfig& config);
  // ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& ids, std::string_view attention) const;

  Module module;
  BartStackConfig config;
  BartEmbedding embed_tokens;
  Embedding embed_positions;
  std::vector<BartEncoderLayer> layers;
  LayerNorm layernorm_embedding;
};

struct BartDecoder {
  BartDecoder(const Module& at, const BartStackConfig& config);
  // ids [b, s], encoded [b, t, width] or empty -> [b, s, width]
  Tensor Forward(const Tensor& ids, const Tensor& encoded,
                 std::string_view attention) const;

  Module module;
  BartStackConfig config;
  BartEmbedding embed_tokens;
  Embedding embed_positions;
  std::vector<BartDecoderLayer> layers;
  LayerNorm layernorm_embedding;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BART_STACK_H_
