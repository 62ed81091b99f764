// Llama 4's decoder layer: attention whose queries and keys are turned as
// complex numbers and normed, or neither and scaled by their place; and a
// feed-forward, or one of many experts beside a shared one.
//
// Source: transformers 5.23, models/llama4/modeling_llama4.py
// (Llama4TextAttention, Llama4TextMoe, Llama4TextDecoderLayer).
// Does not model a generation cache.
#ifndef FORETELL_MODELS_LAYERS_LLAMA4_LAYER_H_
#define FORETELL_MODELS_LAYERS_LLAMA4_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/attention.h"
#include "models/layers/experts.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct Llama4LayerConfig {
  AttentionConfig attention;
  bool turns = true;     // queries and keys, by their places
  bool norms = true;     // those that are turned
  bool scales = true;    // queries that are not
  double scale = 0.1;    // attn_scale
  double floor = 8192;   // floor_scale
  bool chunked = false;  // sees the tokens of its chunk
  bool has_experts = false;
  ExpertsConfig experts;
  int64_t dense = 0;  // of a feed-forward without experts
  double norm_epsilon = 0;
};

// weight [width], as a factor of what is normed, in the input's dtype.
struct Llama4Norm {
  Llama4Norm(const Module& at, int64_t width, double eps);
  Tensor Forward(const Tensor& x) const;

  Module module;
  ParameterId weight;
  double epsilon;
};

struct Llama4Mlp {
  Llama4Mlp(const Module& at, int64_t hidden, int64_t intermediate,
            Activation activation);
  Tensor Forward(const Tensor& x) const;

  Module module;
  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  ActivationModule activation_fn;
};

struct Llama4Attention {
  Llama4Attention(const Module& at, const Llama4LayerConfig& config);
  // `turns` [1, s, d / 2] are complex.
  Tensor Forward(const Tensor& hidden, const Tensor& turns, const Tensor& mask,
                 std::string_view attention) const;

  Module module;
  Llama4LayerConfig config;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  std::optional<Module> qk_norm;

 private:
  Tensor ScaledByPlace(const Tensor& q, std::vector<Tensor>& names) const;
  Tensor Attend(const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& mask, std::string_view attention) const;
};

struct Llama4Moe {
  Llama4Moe(const Module& at, const ExpertsConfig& config);
  // [b, s, width] -> [b x s, width]
  Tensor Forward(const Tensor& input) const;

  Module module;
  ExpertsConfig config;
  Module experts;
  ParameterId gate_up_proj;  // [experts, hidden, 2 x intermediate]
  ParameterId down_proj;     // [experts, intermediate, hidden]
  ActivationModule act_fn;
  Linear router;
  Llama4Mlp shared_expert;

 private:
  // rows [n, width] -> scores [n, experts] and the router's logits.
  std::pair<Tensor, Tensor> Route(const Tensor& rows) const;
  Tensor RunExperts(const Tensor& routed) const;
};

struct Llama4Layer {
  Llama4Layer(const Module& at, const Llama4LayerConfig& config);
  Tensor Forward(const Tensor& input, const Tensor& turns, const Tensor& mask,
                 const Tensor& position_ids, std::string_view attention) const;

  Module module;
  bool chunked;
  Llama4Attention self_attn;
  std::optional<Llama4Moe> experts;
  std::optional<Llama4Mlp> dense;
  Llama4Norm input_layernorm;
  Llama4Norm post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LLAMA4_LAYER_H_
