// BART's layers: attention with biases, self and cross, and a feed-forward,
// each added to its input and normalised afterwards, or, in mBART, before.
//
// Source: transformers 5.23, models/{bart,mbart,marian,pegasus,
// m2m_100}/modeling_*.py (BartAttention, BartEncoderLayer, BartDecoderLayer and
// their namesakes).
#ifndef FORETELL_MODELS_LAYERS_BART_LAYER_H_
#define FORETELL_MODELS_LAYERS_BART_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/encoder_decoder_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"

namespace foretell {

// Of one stack's layers.
struct BartLayerConfig {
  int64_t width = 0;  // d_model
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t inner = 0;
  Activation activation = Activation::kGelu;
  double dropout = 0;
  double attention_dropout = 0;
  double activation_dropout = 0;
  bool norm_first = false;   // before each attention and feed-forward
  bool clamps_half = false;  // an encoder's float16, instead of a look at it
};

struct BartAttention {
  BartAttention(const Module& at, const BartLayerConfig& config, bool causal);
  // `states` gives keys and values; mask may be empty. A cache of one's own
  // tokens is added to, a filled one of cross attention serves as it is.
  Tensor Forward(const Tensor& hidden, const Tensor& states, const Tensor& mask,
                 std::string_view attention,
                 CachedLayer* cached = nullptr) const;

  Module module;
  BartLayerConfig config;
  bool is_causal;
  Linear k_proj;
  Linear v_proj;
  Linear q_proj;
  Linear out_proj;
};

// fc1, the activation and fc2 with the dropouts between, which lie in their
// layer without a module of their own.
struct BartFeedForward {
  BartFeedForward(const Module& layer, const BartLayerConfig& config,
                  ActivationModule activation);
  // `hidden` is let go of as soon as the layer's own name for it would be.
  Tensor Forward(Tensor hidden) const;

  BartLayerConfig config;
  ActivationModule activation_fn;
  Linear fc1;
  Linear fc2;
  LayerNorm final_layer_norm;
};

struct BartEncoderLayer {
  BartEncoderLayer(const Module& at, const BartLayerConfig& config);
  Tensor Forward(Tensor hidden, std::string_view attention) const;

  Module module;
  BartLayerConfig config;
  BartAttention self_attn;
  LayerNorm self_attn_layer_norm;
  BartFeedForward feed_forward;
};

struct BartDecoderLayer {
  BartDecoderLayer(const Module& at, const BartLayerConfig& config);
  // `encoded` is empty where nothing is attended to but the own tokens.
  Tensor Forward(Tensor hidden, const Tensor& mask, const Tensor& encoded,
                 std::string_view attention, CachedPair* cached) const;

  Module module;
  BartLayerConfig config;
  BartAttention self_attn;
  ActivationModule activation_fn;
  LayerNorm self_attn_layer_norm;
  BartAttention encoder_attn;
  LayerNorm encoder_attn_layer_norm;
  BartFeedForward feed_forward;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BART_LAYER_H_
