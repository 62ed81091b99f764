// MPNet's layers: BERT's with a learned bias by distance that all layers share,
// below embeddings without segments.
//
// Source: transformers 5.23, models/mpnet/modeling_mpnet.py (MPNetEmbeddings to
// MPNetEncoder).
#ifndef FORETELL_MODELS_LAYERS_MPNET_LAYER_H_
#define FORETELL_MODELS_LAYERS_MPNET_LAYER_H_

#include <cstdint>
#include <vector>

#include "models/layers/bert_layer.h"
#include "models/layers/read_bert.h"

namespace foretell {

// Position numbers begin behind that of the padding token, which is fixed.
struct MpnetEmbeddings {
  MpnetEmbeddings(const Module& at, const BertConfig& config);
  // input_ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids) const;

  Module module;
  Embedding word_embeddings;
  Embedding position_embeddings;
  LayerNorm norm;
  Dropout dropout;
};

struct MpnetSelfAttention {
  MpnetSelfAttention(const Module& at, const BertLayerConfig& config);
  // bias [b, h, s, s]
  Tensor Forward(const Tensor& hidden, const Tensor& bias) const;

  Module module;
  int64_t head_dim;
  Linear q;
  Linear k;
  Linear v;
  Linear o;
  Dropout dropout;
};

struct MpnetAttention {
  MpnetAttention(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& bias) const;

  Module module;
  MpnetSelfAttention attn;
  LayerNorm norm;
  Dropout dropout;
};

struct MpnetLayer {
  MpnetLayer(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& bias) const;

  Module module;
  MpnetAttention attention;
  BertIntermediate intermediate;
  BertOutput output;
};

struct MpnetEncoder {
  // `buckets` rows of a bias each; distances fall into 32 of them whatever the
  // table has.
  MpnetEncoder(const Module& at, const BertConfig& config, int64_t buckets);
  Tensor Forward(Tensor hidden) const;

  Module module;
  std::vector<MpnetLayer> layer;
  Embedding relative_attention_bias;

 private:
  Tensor ComputeBias(const Tensor& hidden) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MPNET_LAYER_H_
