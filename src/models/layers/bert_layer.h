// BERT's layers: embeddings, self attention with its output, a feed-forward,
// their layer and stack, and the pooler.
//
// Source: transformers 5.23, models/bert/modeling_bert.py (BertEmbeddings to
// BertPooler).
#ifndef FORETELL_MODELS_LAYERS_BERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_BERT_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"

namespace foretell {

struct BertLayerConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t intermediate = 0;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 0;
  double hidden_dropout = 0;
  double attention_dropout = 0;
  bool is_decoder = false;
  bool cross_attention = false;
  bool fills_cache = false;  // keys and values pass through an empty cache
  int64_t chunk = 0;  // tokens that pass the feed-forward at once; 0: all
};

// [1, count] whole numbers that the state_dict leaves out.
ValueId WholeNumberBuffer(const Module& at, std::string_view name,
                          int64_t count);

struct BertEmbeddings {
  BertEmbeddings(const Module& at, const BertLayerConfig& config,
                 int64_t vocabulary, int64_t positions, int64_t types);
  // input_ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids) const;

  Module module;
  Embedding word_embeddings;
  Embedding position_embeddings;
  Embedding token_type_embeddings;
  LayerNorm norm;
  Dropout dropout;
  ValueId position_ids;    // [1, positions]
  ValueId token_type_ids;  // [1, positions], zeros
};

// query, key and value.
struct BertSelfAttention {
  BertSelfAttention(const Module& at, const BertLayerConfig& config);
  // `cached` takes keys and values; null where there is no cache.
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  BertLayerConfig config;
  Linear query;
  Linear key;
  Linear value;
};

// LayerNorm(dropout(dense(x)) + input): BertSelfOutput and BertOutput.
struct BertOutput {
  BertOutput(const Module& at, const BertLayerConfig& config, int64_t in);
  Tensor Forward(Tensor hidden, const Tensor& input) const;

  Module module;
  Linear dense;
  LayerNorm norm;
  Dropout dropout;
};

struct BertAttention {
  BertAttention(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  BertSelfAttention self;
  BertOutput output;
};

struct BertIntermediate {
  BertIntermediate(const Module& at, const BertLayerConfig& config);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear dense;
  ActivationModule intermediate_act_fn;
};

// The cross attention has its parameters but nothing attends through it: a step
// gives no encoder output.
struct BertLayer {
  BertLayer(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  int64_t chunk;
  BertAttention attention;
  std::optional<BertAttention> crossattention;
  BertIntermediate intermediate;
  BertOutput output;

 private:
  Tensor FeedForward(const Tensor& attended) const;
};

// What the base model gives, and its caller's name holds to the end.
struct BertResults {
  Tensor hidden;
  Tensor pooled;  // empty where there is no pooler
  std::vector<CachedLayer> cache;
};

struct BertEncoder {
  BertEncoder(const Module& at, const BertLayerConfig& config, int64_t layers);
  // The mask is made here where the layers are a decoder's. `padding` is one
  // that the caller gives, or empty.
  BertResults Forward(const Tensor& embedded, std::string_view attention,
                      const Tensor& padding = {}) const;

  Module module;
  bool is_decoder;
  bool fills_cache;
  std::vector<BertLayer> layer;
};

// [b, s, width] -> [b, width], of each row's first token.
struct BertPooler {
  BertPooler(const Module& at, int64_t hidden);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  Linear dense;
  ActivationModule activation;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BERT_LAYER_H_
