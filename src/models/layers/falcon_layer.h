// Falcon's layers: products spelled out, attention in its three forms of heads,
// and the layer in its three forms of norms.
//
// Source: transformers 5.23, models/falcon/modeling_falcon.py (FalconLinear,
// FalconAttention, FalconMLP, FalconDecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_FALCON_LAYER_H_
#define FORETELL_MODELS_LAYERS_FALCON_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/falcon_products.h"
#include "models/layers/generation_cache.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct FalconConfig {
  WholeHeads heads;
  int64_t kv_heads = 1;     // num_kv_heads; of the new form, or without sharing
  bool is_new = false;      // new_decoder_architecture
  bool shares_keys = true;  // multi_query
  bool is_parallel = true;  // parallel_attn
  bool has_alibi = false;
  bool bias = false;
  std::optional<int64_t> norms;  // num_ln_in_parallel_attn
  int64_t inner = 0;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 0;
  double hidden_dropout = 0;
  double attention_dropout = 0;

  bool has_two_norms() const { return is_parallel && norms == 2; }
  // Heads that a cache keeps.
  int64_t kept_heads() const {
    if (is_new) return heads.heads;
    return shares_keys ? 1 : kv_heads;
  }
};

// What every layer is given.
struct FalconContext {
  Tensor mask;
  Tensor position_ids;
  Tensor alibi;  // empty where heads are turned
  std::pair<Tensor, Tensor> rotary;
  std::string_view attention;
  GenerationCache* cache = nullptr;
};

// hidden [b, s, width] -> the same
struct FalconAttention {
  FalconAttention(const Module& at, const FalconConfig& config);
  Tensor Forward(const Tensor& hidden, const FalconContext& context) const;

  Module module;
  FalconConfig config;
  FalconLinear query_key_value;
  FalconLinear dense;
  Dropout attention_dropout;

 private:
  struct Heads {
    Tensor q;
    Tensor k;
    Tensor v;
  };
  Heads Part(const Tensor& fused) const;  // [b, s, h, d] each
  // [b, h, s, d] each -> [b, s, width], not yet behind `dense`.
  Tensor AttendTurned(const Heads& heads, const FalconContext& context,
                      DType dtype) const;
  Tensor AttendBiased(const Heads& heads, const FalconContext& context,
                      DType dtype, std::vector<Tensor>& names) const;
  Tensor Kernel(const Heads& heads, const FalconContext& context,
                double dropout) const;
};

struct FalconMlp {
  FalconMlp(const Module& at, const FalconConfig& config);
  Tensor Forward(const Tensor& input) const;

  Module module;
  FalconLinear dense_h_to_4h;
  ActivationModule act;
  FalconLinear dense_4h_to_h;
};

struct FalconLayer {
  FalconLayer(const Module& at, const FalconConfig& config);
  Tensor Forward(const Tensor& hidden, const FalconContext& context) const;

  Module module;
  FalconConfig config;
  FalconAttention self_attention;
  FalconMlp mlp;
  std::optional<LayerNorm> post_attention_layernorm;
  std::optional<LayerNorm> input_layernorm;
  std::optional<LayerNorm> ln_attn;
  std::optional<LayerNorm> ln_mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_FALCON_LAYER_H_
