// Megatron's BERT: a norm before each attention and feed-forward, whose
// outputs are added to their inputs, and one behind the last layer.
//
// Source: transformers 5.23, models/megatron_bert/modeling_megatron_bert.py
// (MegatronBertEmbeddings to MegatronBertEncoder).
#ifndef FORETELL_MODELS_LAYERS_MEGATRON_BERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_MEGATRON_BERT_LAYER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layers/bert_layer.h"
#include "models/layers/read_bert.h"

namespace foretell {

struct MegatronBertEmbeddings {
  MegatronBertEmbeddings(const Module& at, const BertConfig& config);
  // input_ids and segments [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids, const Tensor& types) const;

  Module module;
  Embedding word_embeddings;
  Embedding position_embeddings;
  Embedding token_type_embeddings;
  Dropout dropout;
  ValueId position_ids;  // [1, positions]
};

// dropout(dense(x)), added to what came in.
struct MegatronBertOutput {
  MegatronBertOutput(const Module& at, const BertLayerConfig& config,
                     int64_t in);
  Tensor Forward(Tensor hidden, const Tensor& residual) const;

  Module module;
  Linear dense;
  Dropout dropout;
};

struct MegatronBertSelfAttention {
  MegatronBertSelfAttention(const Module& at, const BertLayerConfig& config);
  // `cached` takes keys and values; null where there is no cache.
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  int64_t head_dim;
  Linear query;
  Linear key;
  Linear value;
  Dropout dropout;
};

struct MegatronBertAttention {
  MegatronBertAttention(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  LayerNorm ln;
  MegatronBertSelfAttention self;
  MegatronBertOutput output;
};

// The cross attention has its parameters but nothing attends through it: a step
// gives no encoder output.
struct MegatronBertLayer {
  MegatronBertLayer(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  int64_t chunk;
  MegatronBertAttention attention;
  std::optional<MegatronBertAttention> crossattention;
  LayerNorm ln;
  BertIntermediate intermediate;
  MegatronBertOutput output;

 private:
  Tensor FeedForward(const Tensor& attended) const;
};

// Embeddings, layers and the last norm: the whole of MegatronBertModel but its
// pooler.
struct MegatronBertBody {
  MegatronBertBody(const Module& at, const BertConfig& config);
  // input_ids [b, s] -> [b, s, width]. Attention is eager whichever is asked
  // for: the class has no other.
  BertResults Forward(const Tensor& input_ids,
                      std::string_view attention) const;

  Module module;
  BertConfig config;
  MegatronBertEmbeddings embeddings;
  Module encoder;
  std::vector<MegatronBertLayer> layer;
  LayerNorm ln;

 private:
  Tensor Mask(const Tensor& kept, const Tensor& embedded) const;
  Tensor RunLayers(Tensor hidden, const Tensor& mask,
                   std::vector<CachedLayer>& cache) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MEGATRON_BERT_LAYER_H_
