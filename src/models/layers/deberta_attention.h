// DeBERTa's attention: what queries and keys say of each other, plus what each
// says of the distance between them, by a table of distances that all layers
// share.
//
// Source: transformers 5.23, models/deberta_v2/modeling_deberta_v2.py
// (DisentangledSelfAttention, build_relative_position).
#ifndef FORETELL_MODELS_LAYERS_DEBERTA_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_DEBERTA_ATTENTION_H_

#include <cstdint>
#include <optional>

#include "models/layers/bert_layer.h"

namespace foretell {

struct DebertaLayerConfig {
  BertLayerConfig layer;
  bool relative = false;        // attends by distance
  int64_t max_distance = 0;     // on either side
  int64_t buckets = 0;          // of distances on either side; 0: one each
  bool shares_keys = false;     // distances pass the projections of tokens
  bool content_first = false;   // "c2p": queries meet distances
  bool position_first = false;  // "p2c": keys meet distances

  // Rows of the table of distances on either side.
  int64_t span() const { return buckets > 0 ? buckets : max_distance; }
};

// Distances between tokens, in buckets that widen where there are any:
// [1, s, s] whole numbers.
Tensor RelativePositions(Builder& builder, int64_t length,
                         const DebertaLayerConfig& config);

struct DebertaSelfAttention {
  DebertaSelfAttention(const Module& at, const DebertaLayerConfig& config);
  // mask [b, 1, s, s]; positions and distances [2 span, width] may be empty.
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 const Tensor& positions, Tensor distances) const;

  Module module;
  DebertaLayerConfig config;
  Linear query_proj;
  Linear key_proj;
  Linear value_proj;
  std::optional<Dropout> pos_dropout;
  std::optional<Linear> pos_key_proj;
  std::optional<Linear> pos_query_proj;
  Dropout dropout;

 private:
  Tensor Heads(const Tensor& x) const;
  Tensor Scale() const;
  // Empty where neither side meets distances.
  Tensor DistanceScores(const Tensor& query, const Tensor& key,
                        Tensor positions, Tensor distances) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DEBERTA_ATTENTION_H_
