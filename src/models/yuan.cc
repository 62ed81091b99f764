// Yuan 2, Grok-1, OpenMoE and the drafts of EAGLE-3: decoders whose code comes
// with their weights.
//
// Source: the Yuan 2.0 report (arXiv 2311.15786) and IEITYuan/Yuan2-2B-hf; the
// configuration and tensor names of hpcai-tech/grok-1; OpenMoE (arXiv
// 2402.01739) and hpcai-tech/openmoe-8b; EAGLE-3 (arXiv 2503.01840) and the
// drafts that SpecForge publishes. Does not model: their forwards.
#include <algorithm>
#include <array>

#include "models/family.h"
#include "models/layers/listed_experts.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// Yuan's filter of neighbouring tokens: two convolutions and a norm.
void AddFilter(const TowerModule& at, int64_t hidden) {
  const int64_t half = std::max<int64_t>(hidden / 2, 1);
  at.Convolution("conv1", {half, hidden, 2, 1}, true);
  at.Convolution("conv2", {hidden, half, 2, 1}, true);
  at.RmsNorm("output_layernorm", hidden);
}

std::unique_ptr<Model> BuildYuan(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  PlainDecoderConfig decoder = ReadPlainDecoder(config, 135040);
  decoder.ties = config.Flag({"tie_word_embeddings"}, true);
  const int64_t intermediate = config.Size({"intermediate_size"}, 8192);
  config.Ignore({"causal_mask", "use_flash_attention", "reset_attention_mask",
                 "reset_position_ids", "use_loss_mask", "eod_token",
                 "sep_token", "eod_token_id", "mask_token_id",
                 "_from_model_config"});
  const AttentionConfig& heads = decoder.attention;
  const auto make = [&](const TowerModule& layer, int64_t) {
    const TowerModule attention =
        layer.Child("self_attn", RegionKind::kAttention);
    const int64_t inner = heads.heads * heads.head_dim;
    attention.Linear("v_proj", heads.hidden, inner, false);
    attention.Linear("o_proj", inner, heads.hidden, false);
    AddFilter(attention.Child("lf_gate"), heads.hidden);
    attention.Linear("q_proj", heads.hidden, inner, false);
    attention.Linear("k_proj", heads.hidden, inner, false);
    AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), heads.hidden,
                intermediate);
    layer.RmsNorm("input_layernorm", heads.hidden);
    layer.RmsNorm("post_attention_layernorm", heads.hidden);
  };
  return MakePlainDecoder(config, root, class_name, decoder, make);
}

std::unique_ptr<Model> BuildGrok(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  PlainDecoderConfig decoder = ReadPlainDecoder(config, 131072);
  decoder.ties = config.Flag({"tie_word_embeddings"}, true);
  const int64_t intermediate = config.Size({"intermediate_size"}, 32768);
  const int64_t experts = BoundListedExperts(
      config, "num_local_experts",
      config.SizeOrZero({"num_local_experts", "num_experts"}, 8),
      decoder.layers);
  const int64_t per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  config.Ignore({"embedding_multiplier_scale", "output_multiplier_scale",
                 "attn_output_multiplier", "max_attn_value",
                 "output_router_logits", "router_aux_loss_coef"});
  const AttentionConfig& heads = decoder.attention;
  const auto make = [&](const TowerModule& layer, int64_t) {
    AddPlainAttention(layer.Child("attn", RegionKind::kAttention), heads,
                      heads.hidden, false);
    const TowerModule moe = layer.Child("moe_block", RegionKind::kExperts);
    moe.Child("gate", RegionKind::kRouter)
        .module()
        .Parameter("weight", {experts, heads.hidden});
    const TowerModule list = moe.Child("experts");
    for (int64_t i = 0; i < experts; ++i) {
      const TowerModule one = list.Child(i);
      one.ExpertLinear("linear_v", heads.hidden, intermediate, experts,
                       per_token);
      one.ExpertLinear("linear_1", intermediate, heads.hidden, experts,
                       per_token);
      one.ExpertLinear("linear", heads.hidden, intermediate, experts,
                       per_token);
    }
    for (const std::string_view name :
         {"pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"}) {
      layer.RmsNorm(name, heads.hidden);
    }
  };
  return MakePlainDecoder(config, root, class_name, decoder, make);
}

std::unique_ptr<Model> BuildOpenMoe(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  PlainDecoderConfig decoder = ReadPlainDecoder(config, 256384);
  decoder.ties = config.Flag({"tie_word_embeddings"}, false);
  const int64_t intermediate = config.Size({"intermediate_size"}, 8192);
  const int64_t experts = config.Size({"num_experts"}, 32);
  const int64_t per_token = config.SizeOrZero({"router_topk"}, 2);
  const int64_t interval = config.Size({"moe_layer_interval"}, 6);
  const bool gated = config.Flag({"mlp_gated"}, true);
  config.Ignore(
      {"attention_bias", "dropout_rate", "enable_comm_overlap",
       "enable_hierarchical_alltoall", "enable_kernel", "enable_load_balance",
       "expert_parallel", "label_smoothing", "load_balance_beam_width",
       "load_balance_group_swap_factor", "load_balance_tolerance",
       "router_aux_loss_factor", "router_capacity_factor_eval",
       "router_capacity_factor_train", "router_drop_tks", "router_min_capacity",
       "router_noisy_policy", "router_z_loss_factor", "z_loss_factor"});
  const AttentionConfig& heads = decoder.attention;
  const int64_t hidden = heads.hidden;
  const auto make = [&](const TowerModule& layer, int64_t index) {
    AddPlainAttention(layer.Child("self_attn", RegionKind::kAttention), heads,
                      hidden, false);
    layer.RmsNorm("input_layernorm", hidden);
    layer.RmsNorm("post_attention_layernorm", hidden);
    if ((index + 1) % interval != 0) {
      AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden, intermediate);
      return;
    }
    const TowerModule moe = layer.Child("mlp", RegionKind::kExperts);
    moe.Parameter("gate_weight", {experts, hidden});
    const TowerModule tables = moe.Child("experts");
    const auto table = [&](std::string_view name, int64_t in, int64_t out) {
      const ParameterId weight =
          tables.module().Parameter(name, {experts, in, out});
      root.builder().MarkExperts(weight, experts, per_token);
    };
    table(gated ? "wi_gate" : "wi", hidden, intermediate);
    if (gated) table("wi_up", hidden, intermediate);
    table("wo", intermediate, hidden);
    layer.RmsNorm("pre_extra_mlp_layernorm", hidden);
    AddPlainMlp(layer.Child("extra_mlp", RegionKind::kMlp), hidden,
                intermediate);
  };
  return MakePlainDecoder(config, root, class_name, decoder, make);
}

// One layer over the states of three of the target's, and the target's own
// embeddings; its head knows the most frequent tokens only.
std::unique_ptr<Model> BuildEagle(const ConfigView& config, const Module& root,
                                  std::string_view /*class_name*/) {
  const PlainDecoderConfig draft = ReadPlainDecoder(config, 128256);
  const AttentionConfig& heads = draft.attention;
  const int64_t hidden = heads.hidden;
  const int64_t intermediate = config.Size({"intermediate_size"}, 14336);
  const int64_t draft_rows =
      SizeOrDerived(config, "draft_vocab_size", draft.vocabulary);
  const int64_t target = SizeOrDerived(config, "target_hidden_size", hidden);
  const bool bias = config.Flag({"attention_bias"}, false);
  config.Ignore({"eagle_config", "max_window_layers", "sliding_window",
                 "use_sliding_window", "tie_word_embeddings", "mlp_bias"});
  auto model = std::make_unique<ParametersOnly>(
      root, "a draft runs beside its target's states");
  const TowerModule base(root);
  base.Embedding("embed_tokens", draft.vocabulary, hidden);
  const TowerModule layer = base.Child("midlayer", RegionKind::kBlock);
  AddPlainAttention(layer.Child("self_attn", RegionKind::kAttention), heads,
                    2 * hidden, bias);
  AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden, intermediate);
  layer.RmsNorm("hidden_norm", hidden);
  layer.RmsNorm("input_layernorm", hidden);
  layer.RmsNorm("post_attention_layernorm", hidden);
  // The states of three layers of the target, side by side.
  constexpr int64_t kStates = 3;
  base.Linear("fc", kStates * target, hidden, false);
  base.RmsNorm("norm", hidden);
  base.Linear("lm_head", hidden, draft_rows, false);
  // Which tokens of the target the draft knows, and where.
  root.Buffer("t2d", {draft.vocabulary}, DType::kBool, true);
  root.Buffer("d2t", {draft_rows}, DType::kInt64, true);
  model->stacks.push_back({"draft", 1});
  model->states.push_back(StateOf(heads, 0));
  model->context_length.tokens =
      config.OptionalSize({"max_position_embeddings"});
  model->context_length.where = "max_position_embeddings";
  return model;
}

constexpr std::array<std::string_view, 1> kYuanTypes = {"yuan"};
constexpr std::array<std::string_view, 2> kYuanClasses = {"YuanForCausalLM",
                                                          "YuanModel"};
constexpr std::array<std::string_view, 1> kGrokTypes = {"grok-1"};
constexpr std::array<std::string_view, 2> kGrokClasses = {
    "Grok1ModelForCausalLM", "Grok1Model"};
constexpr std::array<std::string_view, 0> kNoTypes = {};
constexpr std::array<std::string_view, 2> kOpenMoeClasses = {
    "OpenMoeForCausalLM", "OpenMoeModel"};
constexpr std::array<std::string_view, 1> kEagleClasses = {
    "LlamaForCausalLMEagle3"};

}  // namespace

extern const Family kYuanFamily = {
    .name = "yuan",
    .title = "Yuan 2",
    .doc =
        "Llama's decoder whose queries and keys see neighbouring tokens "
        "through a filter; parameters only.",
    .model_types = kYuanTypes,
    .classes = kYuanClasses,
    .old_names = {},
    .build = BuildYuan,
    .described_by = "the Yuan 2.0 report (arXiv 2311.15786) and published code",
};

extern const Family kGrok1Family = {
    .name = "grok1",
    .title = "Grok-1",
    .doc = "Eight wide experts in each layer and four norms; parameters only.",
    .model_types = kGrokTypes,
    .classes = kGrokClasses,
    .old_names = {},
    .build = BuildGrok,
    .described_by = "the published configuration and tensor names",
};

extern const Family kOpenMoeFamily = {
    .name = "openmoe",
    .title = "OpenMoE",
    .doc =
        "Experts in some layers, each with a feed-forward besides; parameters "
        "only.",
    .model_types = kNoTypes,
    .classes = kOpenMoeClasses,
    .old_names = {},
    .build = BuildOpenMoe,
    .described_by = "the OpenMoE report (arXiv 2402.01739) and published code",
};

extern const Family kEagle3Family = {
    .name = "eagle3",
    .title = "EAGLE-3 draft",
    .doc =
        "One layer that drafts tokens from its target's states; parameters "
        "only.",
    .model_types = kNoTypes,
    .classes = kEagleClasses,
    .old_names = {},
    .build = BuildEagle,
    .described_by = "EAGLE-3 (arXiv 2503.01840) and published drafts",
};

}  // namespace foretell
