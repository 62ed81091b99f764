// T5's attention: no bias in any projection, no scale on the scores, and in a
// stack's first layer a learned bias by distance that all its layers share.
//
// Source: transformers 5.23, models/t5/modeling_t5.py (T5LayerNorm,
// T5Attention).
#ifndef FORETELL_MODELS_LAYERS_T5_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_T5_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/encoder_decoder_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct T5LayerConfig {
  int64_t width = 0;  // d_model
  int64_t heads = 0;
  int64_t head_dim = 0;  // d_kv; heads times it need not be the width
  int64_t inner = 0;     // d_ff
  int64_t buckets = 0;   // of distances
  int64_t max_distance = 0;
  Activation activation = Activation::kRelu;
  bool gated = false;
  bool bias_everywhere = false;  // not in the first layer alone (UMT5)
  double dropout = 0;
  double norm_epsilon = 0;
};

// The buckets of whole distances: those from `exact` on fall into buckets that
// widen with the logarithm, up to `buckets`. Numbers move no shape, but are
// written as executed. `ratio`, where it is given, takes the logarithm's name.
Tensor WideBuckets(const Tensor& distance, int64_t exact, int64_t buckets,
                   int64_t max_distance, Tensor* ratio = nullptr);

// A scale by the root of the mean square; the mean is taken in float32.
struct T5Norm {
  T5Norm(const Module& at, int64_t width, double eps);
  Tensor Forward(Tensor hidden) const;

  Module module;
  ParameterId weight;
  double epsilon;
};

struct T5AttentionCall {
  Tensor mask;           // empty where there is none
  Tensor position_bias;  // of the layers before; empty in the first
  CachedLayer* cached = nullptr;
  bool is_cross = false;  // a filled cache of it serves as it is
  int64_t past = 0;       // tokens before the first query
  std::string_view attention = "sdpa";
};

struct T5Attention {
  // `in_decoder` tells how distances fall into buckets, `causal` what the layer
  // sees; cross attention in a decoder is not causal.
  T5Attention(const Module& at, const T5LayerConfig& config,
              bool has_position_bias, bool in_decoder, bool causal);
  // hidden [b, s, width], states [b, t, width] -> [b, s, width] and the bias
  // [1, h, s, t] for the layers after, if they share it.
  std::pair<Tensor, Tensor> Forward(const Tensor& hidden, const Tensor& states,
                                    const T5AttentionCall& call) const;

  Module module;
  T5LayerConfig config;
  bool is_decoder;
  bool is_causal;
  Linear q;
  Linear k;
  Linear v;
  Linear o;
  std::optional<Embedding> relative_attention_bias;

 private:
  Tensor ComputeBias(int64_t length, int64_t key_length, int64_t past) const;
  std::pair<Tensor, Tensor> Project(const Tensor& states) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_T5_ATTENTION_H_
