// NomicBERT's layers: rotary attention and a gated feed-forward without biases,
// each added to its input and normalised afterwards.
//
// Source: transformers 5.23, models/nomic_bert/modeling_nomic_bert.py
// (NomicBertEmbeddings to NomicBertModel, NomicBertLMPredictionHead).
#ifndef FORETELL_MODELS_LAYERS_NOMIC_BERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_NOMIC_BERT_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/bert_layer.h"
#include "models/layers/mlp.h"
#include "models/layers/read_bert.h"
#include "models/layers/rope.h"

namespace foretell {

// Cosines and sines [1, s, d].
using NomicAngles = std::pair<Tensor, Tensor>;

struct NomicAttention {
  NomicAttention(const Module& at, const BertLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const NomicAngles& angles,
                 std::string_view attention) const;

  Module module;
  int64_t head_dim;
  double dropout;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
};

struct NomicLayer {
  NomicLayer(const Module& at, const BertLayerConfig& config);
  Tensor Forward(Tensor hidden, const NomicAngles& angles,
                 const Tensor& positions, std::string_view attention) const;

  Module module;
  LayerNorm post_attention_layernorm;
  Dropout post_attention_dropout;
  Dropout post_mlp_dropout;
  GatedMlp mlp;
  NomicAttention self_attn;
  LayerNorm post_mlp_layernorm;
};

// The whole of NomicBertModel.
struct NomicBody {
  NomicBody(const Module& at, const BertConfig& config, const RopeConfig& rope,
            bool has_pooler);
  // input_ids [b, s] -> [b, s, width], and the pooled first token.
  BertResults Forward(const Tensor& input_ids,
                      std::string_view attention) const;

  Module module;
  Module embeddings;
  Embedding word_embeddings;
  Embedding token_type_embeddings;
  LayerNorm norm;
  Dropout dropout;
  std::optional<BertPooler> pooler;
  Module rotary_emb;
  bool turns_plainly;  // the rope is of the default type
  ValueId frequencies;
  std::vector<NomicLayer> layers;

 private:
  Tensor Embed(const Tensor& input_ids) const;
  NomicAngles Turn(const Tensor& hidden, const Tensor& positions) const;
};

// The head over the vocabulary.
struct NomicVocabularyHead {
  NomicVocabularyHead(const Module& at, const BertConfig& config);
  void Tie(ParameterId embeddings) const;
  Tensor Forward(Tensor hidden) const;

  Module module;
  ParameterId bias;
  Module transform;
  Linear dense;
  ActivationModule transform_act_fn;
  LayerNorm layer_norm;
  Linear decoder;

 private:
  Tensor Transform(Tensor hidden) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_NOMIC_BERT_LAYER_H_
