// Gemma 3n's decoder layer: several residual streams of which one passes
// through attention and feed-forward while the others are predicted from it and
// corrected by it; a low-rank branch beside attention; a feed-forward that may
// cut off all but the largest of its gates; and what each layer's own
// embeddings add.
//
// Source: transformers 5.23, models/gemma3n/modeling_gemma3n.py
// (Gemma3nTextLaurelBlock to Gemma3nTextDecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_GEMMA3N_LAYER_H_
#define FORETELL_MODELS_LAYERS_GEMMA3N_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "models/layers/activation.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/gemma4_layer.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

// What sets one layer apart.
struct Gemma3nLayer {
  bool slides = false;
  bool reuses = false;  // the keys and values of an earlier layer of its kind
  bool stores = false;  // the last whose keys and values are read so
  int64_t intermediate = 0;
  bool is_sparse = false;  // gates below a quantile are cut off
};

// What all layers share.
struct Gemma3nLayerConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  bool bias = false;
  double dropout = 0;
  int64_t window = 0;
  double norm_epsilon = 1e-6;
  Activation activation = Activation::kGeluTanh;
  int64_t layer_width = 0;  // of a layer's embeddings
  int64_t laurel_rank = 0;
  int64_t streams = 0;                     // altup_num_inputs
  int64_t active = 0;                      // the stream that passes the layer
  std::optional<double> coefficient_clip;  // while training
  bool scales_corrected = true;
};

// What a layer is called with.
struct Gemma3nCall {
  std::pair<Tensor, Tensor> rotary;  // cosines and sines [1, s, d]
  Tensor mask;
  Tensor position_ids;
  Tensor layer_input;  // [b, s, layer_width]
  std::string_view attention;
  // Keys and values of the layer's kind, read or stored.
  std::pair<Tensor, Tensor>* shared = nullptr;
  CachedLayer* cached = nullptr;  // null where no cache is in use
};

struct Gemma3nAttention {
  Gemma3nAttention(const Module& at, const Gemma3nLayerConfig& config,
                   const Gemma3nLayer& layer);
  Tensor Forward(const Tensor& hidden, const Gemma3nCall& call) const;

  struct KeysAndValues {
    KeysAndValues(const Module& at, const Gemma3nLayerConfig& config);
    Linear k_proj;
    Linear v_proj;
    Gemma4Norm k_norm;
    Gemma4Norm v_norm;
  };

  Module module;
  Gemma3nLayer layer;
  int64_t head_dim;
  int64_t window;
  double dropout;
  Linear q_proj;
  Gemma4Norm q_norm;
  std::optional<KeysAndValues> own;
  Linear o_proj;
};

struct Gemma3nMlp {
  Gemma3nMlp(const Module& at, const Gemma3nLayerConfig& config,
             const Gemma3nLayer& layer);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  bool is_sparse;
  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  ActivationModule act_fn;
};

// Streams [streams, b, s, width].
struct Gemma3nAltUp {
  Gemma3nAltUp(const Module& at, const Gemma3nLayerConfig& config);
  Tensor Predict(const Tensor& streams) const;
  Tensor Correct(const Tensor& predictions, const Tensor& activated) const;
  Tensor Scale(const Tensor& corrected) const;

  int64_t count;
  int64_t active;
  std::optional<double> clip;
  ParameterId correct_output_scale;  // [width]
  Linear correction_coefs;
  Linear prediction_coefs;
  Linear modality_router;
  Gemma4Norm router_norm;
  ValueId router_input_scale;  // []

 private:
  Tensor Modalities(const Tensor& x) const;
};

struct Gemma3nLaurel {
  Gemma3nLaurel(const Module& at, const Gemma3nLayerConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  Linear linear_left;
  Linear linear_right;
  Gemma4Norm post_laurel_norm;
};

struct Gemma3nBlock {
  Gemma3nBlock(const Module& at, const Gemma3nLayerConfig& config,
               const Gemma3nLayer& layer);
  Tensor Forward(const Tensor& streams, const Gemma3nCall& call) const;

  Module module;
  int64_t active;
  bool scales_corrected;
  Gemma3nAttention self_attn;
  Gemma3nMlp mlp;
  Gemma4Norm input_layernorm;
  Gemma4Norm post_attention_layernorm;
  Gemma4Norm pre_feedforward_layernorm;
  Gemma4Norm post_feedforward_layernorm;
  ActivationModule act_fn;
  Gemma3nAltUp altup;
  Gemma3nLaurel laurel;
  Linear per_layer_input_gate;
  Linear per_layer_projection;
  Gemma4Norm post_per_layer_input_norm;
};

// A buffer [] in the model's dtype.
ValueId NumberBuffer(const Module& at, std::string_view name);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA3N_LAYER_H_
