// DistilBERT's configuration and layers: embeddings without segments, and
// blocks of attention and feed-forward with a norm after each.
//
// Source: transformers 5.23, models/distilbert/modeling_distilbert.py
// (Embeddings to Transformer) and configuration_distilbert.py.
#ifndef FORETELL_MODELS_LAYERS_DISTILBERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_DISTILBERT_LAYER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/classification.h"
#include "models/layers/dropout.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "spec/config_view.h"

namespace foretell {

// Of every norm; no key sets it.
inline constexpr double kDistilBertEpsilon = 1e-12;

// What the class's head reads beside the base model's keys.
struct DistilBertNeeds {
  struct Chance {
    std::string_view key;  // empty: that of the layers
    double otherwise = 0;
  };
  bool activation = false;  // outside the layers
  bool labels = false;
  bool answers = false;  // which are two ends
  Chance dropout = {};
};

struct DistilBertConfig {
  int64_t width = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t inner = 0;
  Activation activation = Activation::kGelu;
  double dropout = 0;
  double attention_dropout = 0;
  double head_dropout = 0;
  int64_t chunk = 0;  // tokens that pass the feed-forward at once; 0: all
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

DistilBertConfig ReadDistilBert(const ConfigView& config,
                                const DistilBertNeeds& needs);

struct DistilBertEmbeddings {
  DistilBertEmbeddings(const Module& at, const DistilBertConfig& config);
  // input_ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids) const;

  Module module;
  Embedding word_embeddings;
  Embedding position_embeddings;
  LayerNorm norm;
  Dropout dropout;
  ValueId position_ids;  // [1, positions]
};

struct DistilBertAttention {
  DistilBertAttention(const Module& at, const DistilBertConfig& config);
  Tensor Forward(const Tensor& hidden, std::string_view attention) const;

  Module module;
  int64_t head_dim;
  double dropout;
  Linear q_lin;
  Linear k_lin;
  Linear v_lin;
  Linear out_lin;
};

struct DistilBertFeedForward {
  DistilBertFeedForward(const Module& at, const DistilBertConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  int64_t chunk;
  Dropout dropout;
  Linear lin1;
  Linear lin2;
  ActivationModule activation;

 private:
  Tensor RunChunk(const Tensor& hidden) const;
};

struct DistilBertBlock {
  DistilBertBlock(const Module& at, const DistilBertConfig& config);
  Tensor Forward(const Tensor& hidden, std::string_view attention) const;

  Module module;
  DistilBertAttention attention;
  LayerNorm sa_layer_norm;
  DistilBertFeedForward ffn;
  LayerNorm output_layer_norm;
};

struct DistilBertTransformer {
  DistilBertTransformer(const Module& at, const DistilBertConfig& config);
  Tensor Forward(Tensor hidden, std::string_view attention) const;

  Module module;
  std::vector<DistilBertBlock> layer;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DISTILBERT_LAYER_H_
