// The decoder layer of Qwen3-Next and Qwen3.5: attention behind a gate, or a
// gated delta net, and a feed-forward.
//
// Source: transformers 5.23, models/{qwen3_next,qwen3_5,qwen3_5_moe}/
// modeling_*.py (…Attention, …DecoderLayer) and configuration_*.py.
#ifndef FORETELL_MODELS_LAYERS_QWEN_HYBRID_H_
#define FORETELL_MODELS_LAYERS_QWEN_HYBRID_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/gated_delta_net.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/shared_expert_mlp.h"
#include "spec/config_view.h"

namespace foretell {

struct QwenHybridConfig {
  AttentionConfig attention;
  GatedDeltaConfig linear;
  DecoderKeys keys;
  std::vector<std::string> layer_types;
  ExpertsConfig experts;
  int64_t shared_intermediate = 0;
  SparseLayers sparse;  // which layers have experts

  bool IsLinear(int64_t layer) const;
  bool Attends(int64_t layer) const;
};

struct QwenHybridDefaults {
  DecoderDefaults decoder;
  int64_t hidden = 2048;
  int64_t kv_heads = 2;
};

// What the three classes read alike; experts are the family's.
QwenHybridConfig ReadQwenHybrid(const ConfigView& config,
                                std::string_view class_name,
                                const QwenHybridDefaults& defaults);
// The widths and number of experts.
ExpertsConfig ReadQwenExperts(const ConfigView& config,
                              const QwenHybridConfig& hybrid, int64_t experts,
                              int64_t per_token);

// Grouped-query attention whose result a gate beside the queries weighs.
struct GatedAttention {
  GatedAttention(const Module& at, const AttentionConfig& config);
  Tensor Forward(const Tensor& hidden, const std::pair<Tensor, Tensor>& rotary,
                 const Tensor& mask, std::string_view attention,
                 CachedLayer* cached) const;

  Module module;
  AttentionConfig config;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  RmsNorm q_norm;
  RmsNorm k_norm;
};

struct QwenHybridLayer {
  QwenHybridLayer(const Module& at, const QwenHybridConfig& config,
                  int64_t index);
  Tensor Forward(const Tensor& input, const DecoderContext& context) const;

  Module module;
  std::optional<GatedDeltaNet> linear_attn;
  std::optional<GatedAttention> self_attn;
  SparseOrDense<SharedExpertMlp> mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
};

std::unique_ptr<Model> MakeQwenHybrid(const Module& root,
                                      const QwenHybridConfig& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_QWEN_HYBRID_H_
