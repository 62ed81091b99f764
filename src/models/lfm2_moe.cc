// LFM2-MoE: LFM2's layers, all but the first with a feed-forward of experts.
//
// Source: transformers 5.23, models/lfm2_moe/modeling_lfm2_moe.py and
// configuration_lfm2_moe.py.
#include <array>

#include "models/family.h"
#include "models/layers/lfm2_layer.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

Lfm2Experts ReadExperts(const ConfigView& config, int64_t hidden) {
  Lfm2Experts out;
  ExpertsConfig& experts = out.experts;
  experts.hidden = hidden;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 1792);
  experts.experts = config.SizeOrZero({"num_experts"}, 32);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 4);
  experts.normalizes = config.Flag({"norm_topk_prob"}, true);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  experts.activation_name = "";
  CheckExpertsPerToken(config, experts);
  out.dense_layers = config.Whole({"num_dense_layers"}, 2);
  out.has_bias = config.Flag({"use_expert_bias"}, true);
  out.scaling = config.Real({"routed_scaling_factor"}, 1);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Lfm2Config lfm = ReadLfm2(config, class_name,
                            {.vocabulary = 65536,
                             .intermediate = 7168,
                             .positions = 128000,
                             .norm_epsilon = 1e-5,
                             .ties = true,
                             .padding = 0,
                             .norm_key = "norm_eps",
                             .activation_key = ""},
                            2048);
  lfm.keys.decoder.rotary_name = "pos_emb";
  lfm.sparse = ReadExperts(config, lfm.attention.hidden);
  if (!config.Has("layer_types") && lfm.keys.decoder.layers > 0) {
    config.Find("model/layer-types", Severity::kBlock, "layer_types",
                "layer_types says nothing",
                "the class looks up the kind of each layer and fails",
                "write conv or full_attention for each layer");
  }
  return MakeLfm2(root, lfm);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"lfm2_moe"};
constexpr std::array<std::string_view, 2> kClasses = {"Lfm2MoeForCausalLM",
                                                      "Lfm2MoeModel"};

}  // namespace

extern const Family kLfm2MoeFamily = {
    .name = "lfm2_moe",
    .title = "LFM2-MoE",
    .doc =
        "LFM2's convolutions and attention, with a feed-forward of experts "
        "behind the first layers.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
