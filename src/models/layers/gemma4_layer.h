// Gemma 4's decoder layer: attention with normed queries, keys and values, of
// which some layers read those of an earlier one; a feed-forward with experts
// beside it; and what each layer's own embeddings add.
//
// Source: transformers 5.23, models/gemma4/modeling_gemma4.py (Gemma4RMSNorm to
// Gemma4TextDecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_GEMMA4_LAYER_H_
#define FORETELL_MODELS_LAYERS_GEMMA4_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/experts.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct Gemma4Layer {
  bool slides = false;
  bool reuses = false;  // the keys and values of an earlier layer of its kind
  bool stores = false;  // the last whose keys and values are read so
  int64_t head_dim = 0;
  int64_t kv_heads = 0;
  bool has_values = true;  // else keys serve as values
  int64_t intermediate = 0;
};

// What all layers share.
struct Gemma4LayerConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  bool bias = false;
  double dropout = 0;
  int64_t window = 0;  // of layers that slide
  double norm_epsilon = 1e-6;
  Activation activation = Activation::kGeluTanh;
  int64_t layer_width = 0;  // of a layer's embeddings; 0: there are none
  bool has_experts = false;
  ExpertsConfig experts;
};

// x over the root of its mean square, taken in float32, times weight [width] or
// nothing.
struct Gemma4Norm {
  Gemma4Norm(const Module& at, int64_t width, double eps,
             bool has_weight = true);
  Tensor Forward(const Tensor& input) const;

  Module module;
  std::optional<ParameterId> weight;
  double epsilon;
};

// x [b, s, h, d], turned by cosines and sines [1, s, d].
Tensor Turned(const Tensor& x, const std::pair<Tensor, Tensor>& rotary);

// What a layer is called with.
struct Gemma4Call {
  std::pair<Tensor, Tensor> rotary;  // cosines and sines [1, s, d]
  Tensor mask;
  Tensor position_ids;
  Tensor layer_input;  // [b, s, layer_width], or empty
  std::string_view attention;
  std::string_view experts;
  // Keys and values of the layer's kind, read or stored.
  std::pair<Tensor, Tensor>* shared = nullptr;
  CachedLayer* cached = nullptr;  // null where no cache is in use
};

struct Gemma4Attention {
  Gemma4Attention(const Module& at, const Gemma4LayerConfig& config,
                  const Gemma4Layer& layer);
  Tensor Forward(const Tensor& hidden, const Gemma4Call& call) const;

  Module module;
  Gemma4Layer layer;
  int64_t window;
  double dropout;
  Linear q_proj;
  Gemma4Norm q_norm;
  std::optional<Gemma4Norm> k_norm;
  std::optional<Gemma4Norm> v_norm;
  std::optional<Linear> k_proj;
  std::optional<Linear> v_proj;
  Linear o_proj;
};

struct Gemma4Mlp {
  Gemma4Mlp(const Module& at, int64_t hidden, int64_t intermediate,
            Activation activation);
  Tensor Forward(const Tensor& x) const;

  Module module;
  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  ActivationModule act_fn;
};

struct Gemma4Router {
  Gemma4Router(const Module& at, const Gemma4LayerConfig& config);
  // rows [n, width]; `logits` are the probabilities.
  Routing Forward(Tensor hidden) const;

  Module module;
  int64_t per_token;
  ParameterId scale;             // [width]
  ParameterId per_expert_scale;  // [experts]
  Linear proj;
  Gemma4Norm norm;
};

struct Gemma4Moe {
  Gemma4Moe(const Module& layer, const Gemma4LayerConfig& config);

  Gemma4Router router;
  FusedExperts experts;
  Gemma4Norm post_feedforward_layernorm_1;
  Gemma4Norm post_feedforward_layernorm_2;
  Gemma4Norm pre_feedforward_layernorm_2;
};

struct Gemma4LayerInput {
  Gemma4LayerInput(const Module& layer, const Gemma4LayerConfig& config);

  Linear per_layer_input_gate;
  Linear per_layer_projection;
  Gemma4Norm post_per_layer_input_norm;
  ActivationModule act_fn;
};

struct Gemma4Block {
  Gemma4Block(const Module& at, const Gemma4LayerConfig& config,
              const Gemma4Layer& layer);
  Tensor Forward(const Tensor& input, const Gemma4Call& call) const;

  Module module;
  ValueId layer_scalar;  // [1], a factor of what the layer gives
  Gemma4Attention self_attn;
  Gemma4Mlp mlp;
  Gemma4Norm input_layernorm;
  Gemma4Norm post_attention_layernorm;
  Gemma4Norm pre_feedforward_layernorm;
  Gemma4Norm post_feedforward_layernorm;
  std::optional<Gemma4LayerInput> layer_input;
  std::optional<Gemma4Moe> moe;

 private:
  Tensor BesideExperts(const Tensor& from_mlp, const Tensor& residual,
                       std::string_view experts,
                       std::vector<Tensor>& names) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA4_LAYER_H_
