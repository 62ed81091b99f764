// BigBird's layers where a sequence is too short for blocks: BERT's, with
// attention that is written out and a norm behind the embeddings' dropout.
//
// What longer sequences run, attention over blocks of which some are drawn at
// random, is not modelled: the graph fails there.
// Source: transformers 5.23, models/big_bird/modeling_big_bird.py
// (BigBirdEmbeddings, BigBirdSelfAttention, BigBirdAttention to BigBirdModel).
#ifndef FORETELL_MODELS_LAYERS_BIG_BIRD_LAYER_H_
#define FORETELL_MODELS_LAYERS_BIG_BIRD_LAYER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layers/bert_layer.h"
#include "models/layers/read_bert.h"

namespace foretell {

// What BigBird's configuration has beside BERT's.
struct BigBirdForm {
  bool sparse = true;    // attention_type is block_sparse
  int64_t reach = 704;   // tokens up to which a sparse model attends to all
  bool has_bias = true;  // of queries, keys and values
  bool rescales = false;
};

struct BigBirdSelfAttention {
  BigBirdSelfAttention(const Module& at, const BertLayerConfig& config,
                       bool has_bias);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  int64_t head_dim;
  Linear query;
  Linear key;
  Linear value;
  Dropout dropout;
};

struct BigBirdAttention {
  BigBirdAttention(const Module& at, const BertLayerConfig& config,
                   bool has_bias);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  BigBirdSelfAttention self;
  BertOutput output;
};

// The cross attention has its parameters but nothing attends through it: a step
// gives no encoder output.
struct BigBirdLayer {
  BigBirdLayer(const Module& at, const BertLayerConfig& config, bool has_bias);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  int64_t chunk;
  BigBirdAttention attention;
  std::optional<BigBirdAttention> crossattention;
  BertIntermediate intermediate;
  BertOutput output;

 private:
  Tensor FeedForward(const Tensor& attended) const;
};

// The whole of BigBirdModel.
struct BigBirdBody {
  BigBirdBody(const Module& at, const BertConfig& config,
              const BigBirdForm& form, bool has_pooler);
  // input_ids [b, s] -> [b, s, width], and the pooled first token.
  BertResults Forward(const Tensor& input_ids) const;

  Module module;
  BertConfig config;
  BigBirdForm form;
  BertEmbeddings embeddings;
  Module encoder;
  std::vector<BigBirdLayer> layer;
  std::optional<Linear> pooler;
  std::optional<ActivationModule> activation;

 private:
  Tensor Embed(const Tensor& input_ids, const Tensor& types) const;
  Tensor Mask(const Tensor& kept, const Tensor& embedded) const;
  Tensor RunLayers(Tensor hidden, const Tensor& mask,
                   std::vector<CachedLayer>& cache) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BIG_BIRD_LAYER_H_
