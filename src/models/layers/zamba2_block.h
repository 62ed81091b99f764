// Zamba 2's shared transformer: attention and a feed-forward over a layer's
// input beside the embeddings, whose weights several layers share, with
// adapters of each layer's own.
//
// Source: transformers 5.23, models/zamba2/modeling_zamba2.py
// (Zamba2AttentionDecoderLayer, Zamba2Attention, Zamba2MLP).
#ifndef FORETELL_MODELS_LAYERS_ZAMBA2_BLOCK_H_
#define FORETELL_MODELS_LAYERS_ZAMBA2_BLOCK_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/attention.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct Zamba2BlockConfig {
  int64_t hidden = 0;
  AttentionConfig attention;  // its hidden is twice the model's
  int64_t intermediate = 0;
  int64_t adapter_rank = 0;
  int64_t adapters = 0;  // one per layer that uses a shared transformer
  int64_t blocks = 1;    // transformers with weights of their own
  bool adapts_attention = false;
  bool turns = false;
  bool mlp_bias = false;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 0;
};

// Sequential(Linear, Linear) for every layer that uses the block; the others'
// places are empty.
struct AdapterList {
  AdapterList(const Module& at, const Zamba2BlockConfig& config, int64_t block,
              int64_t in, int64_t out);
  Tensor Forward(const Tensor& x, int64_t index) const;

  struct Pair {
    Module module;
    Linear down;
    Linear up;
  };
  std::vector<std::optional<Pair>> pairs;
};

struct Zamba2Attention {
  Zamba2Attention(const Module& at, const Zamba2BlockConfig& settings,
                  int64_t block);
  Tensor Forward(const Tensor& hidden, int64_t adapter,
                 const std::pair<Tensor, Tensor>& rotary, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  Zamba2BlockConfig config;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  std::optional<AdapterList> q_adapters;
  std::optional<AdapterList> k_adapters;
  std::optional<AdapterList> v_adapters;
};

struct Zamba2Mlp {
  Zamba2Mlp(const Module& at, const Zamba2BlockConfig& config, int64_t block);
  Tensor Forward(const Tensor& hidden, int64_t adapter) const;

  Module module;
  int64_t intermediate;
  Linear gate_up_proj;
  Linear down_proj;
  ActivationModule act_fn;
  AdapterList adapters;
};

struct Zamba2Block {
  Zamba2Block(const Module& at, const Zamba2BlockConfig& config, int64_t block);
  // hidden and embedded [b, s, width] -> the same; `adapter` is the layer's
  // place among those that use a block.
  Tensor Forward(const Tensor& hidden, const Tensor& embedded, int64_t adapter,
                 const std::pair<Tensor, Tensor>& rotary, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  Zamba2Attention self_attn;
  Zamba2Mlp feed_forward;
  RmsNorm input_layernorm;
  RmsNorm pre_ff_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ZAMBA2_BLOCK_H_
