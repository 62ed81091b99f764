#include "models/layers/read_nemotron_h.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/layers/check_fields.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/read_mamba2.h"

namespace foretell {
namespace {

struct KindName {
  NemotronHLayer kind;
  char letter;
  std::string_view name;
  std::string_view old_name;
};
constexpr std::array<KindName, 4> kKinds = {{
    {NemotronHLayer::kRecurrent, 'M', "linear_attention", "mamba"},
    {NemotronHLayer::kAttention, '*', "full_attention", "attention"},
    {NemotronHLayer::kMoe, 'E', "moe", "moe"},
    {NemotronHLayer::kMlp, '-', "mlp", "mlp"},
}};

void RefuseKind(const ConfigView& config, std::string_view key,
                std::string_view name) {
  config.Find("model/layer-types", Severity::kBlock, key,
              fmt::format("\"{}\" names no kind of layer", name.substr(0, 40)),
              "the library refuses the configuration",
              "name linear_attention, full_attention, moe or mlp");
}

// A list of names, or a pattern of one letter each; the list decides.
std::vector<NemotronHLayer> ReadLayers(const ConfigView& config) {
  std::vector<NemotronHLayer> out;
  const std::string_view key = config.Raw("layer_types") != nullptr
                                   ? "layer_types"
                                   : "layers_block_type";
  auto names = config.TextList({key});
  const ConfigValue* pattern = config.Raw("hybrid_override_pattern");
  if (names) {
    for (const std::string& name : *names) {
      const auto* kind = std::ranges::find_if(kKinds, [&](const KindName& k) {
        return k.name == name || k.old_name == name;
      });
      if (kind == kKinds.end()) {
        RefuseKind(config, key, name);
        break;
      }
      out.push_back(kind->kind);
    }
  } else if (pattern != nullptr) {
    for (const char letter : config.Text({"hybrid_override_pattern"}, "")) {
      const auto* kind = std::ranges::find(kKinds, letter, &KindName::letter);
      if (kind == kKinds.end()) {
        RefuseKind(config, "hybrid_override_pattern",
                   std::string_view(&letter, 1));
        break;
      }
      out.push_back(kind->kind);
    }
  } else {
    out = {NemotronHLayer::kRecurrent, NemotronHLayer::kMoe,
           NemotronHLayer::kAttention, NemotronHLayer::kMlp};
  }
  if (out.size() > static_cast<size_t>(kLargestLayerCount)) {
    config.Problem(key, fmt::format("names {} layers", out.size()),
                   fmt::format("name at most {}", kLargestLayerCount));
    out.resize(1);
  }
  const auto most = config.log().most_layers;
  if (most && static_cast<size_t>(*most) < out.size()) {
    out.resize(static_cast<size_t>(*most));
  }
  // The list says how many there are.
  config.Ignore({"num_hidden_layers"});
  return out;
}

// Older files name some keys otherwise, and those decide.
Mamba2Config ReadMixer(const ConfigView& config, const NemotronHConfig& model) {
  Mamba2Config mixer;
  mixer.hidden = model.hidden;
  mixer.heads = config.Size({"mamba_num_heads"}, 128);
  mixer.head_dim = config.Size({"mamba_head_dim"}, 64);
  mixer.channels =
      ExpandedChannels(config, "mamba_num_heads", mixer.heads, mixer.head_dim);
  mixer.groups = config.Size({"mamba_n_groups", "n_groups"}, 8);
  mixer.state = config.SizeOrZero({"ssm_state_size"}, 128);
  mixer.kernel = config.SizeOrZero({"mamba_d_conv", "conv_kernel"}, 4);
  mixer.chunk = config.Size({"mamba_chunk_size", "chunk_size"}, 128);
  mixer.conv_bias = config.Flag({"mamba_conv_bias", "use_conv_bias"}, true);
  mixer.in_bias = config.Flag({"use_bias"}, false);
  mixer.out_bias = mixer.in_bias;
  mixer.norm_epsilon = model.norm_epsilon;
  mixer.least_step = config.Real({"mamba_dt_min", "time_step_min"}, 0.001);
  mixer.activation = ActivationNamed(config, "mamba_hidden_act",
                                     config.Text({"mamba_hidden_act"}, "silu"));
  return mixer;
}

void ReadExperts(const ConfigView& config, NemotronHConfig& model) {
  ExpertsConfig& experts = model.experts;
  experts.activation = ActivationNamed(
      config, "mlp_hidden_act", config.Text({"mlp_hidden_act"}, "relu2"));
  experts.experts =
      config.SizeOrZero({"num_local_experts", "n_routed_experts"}, 8);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  experts.intermediate = config.Size({"moe_intermediate_size"}, 7688);
  experts.normalizes = config.Flag({"norm_topk_prob"}, true);
  experts.hidden = model.hidden;
  model.scored = experts;
  if (const auto latent = config.OptionalSize({"moe_latent_size"})) {
    experts.hidden = *latent;
    model.has_latent = true;
  }
  model.routing.groups = config.Size({"n_group"}, 1);
  model.routing.kept = config.SizeOrZero({"topk_group"}, 1);
  model.routing.scale = config.Real({"routed_scaling_factor"}, 1);
  model.shared_intermediate =
      config.SizeOrZero({"moe_shared_expert_intermediate_size"}, 7688);
  // A zero is as good as none.
  if (model.shared_intermediate == 0) {
    model.shared_intermediate = model.intermediate;
  }
  const bool is_sparse =
      std::ranges::find(model.layers, NemotronHLayer::kMoe) !=
      model.layers.end();
  if (!is_sparse) return;
  CheckExpertsPerToken(config, experts);
  const int64_t size = experts.experts / model.routing.groups;
  if (size * model.routing.groups != experts.experts || size < 2 ||
      model.routing.kept > model.routing.groups) {
    config.Find(
        "model/experts", Severity::kBlock, "n_group",
        fmt::format("{} experts do not form {} groups of two or more, "
                    "of which {} are kept",
                    experts.experts, model.routing.groups, model.routing.kept),
        "the router cannot choose so; the forward fails",
        "choose n_group and topk_group that fit n_routed_experts");
  }
}

void CheckRest(const ConfigView& config) {
  CheckCommonFields(config);
  CheckFields(config, {{"tie_word_embeddings", FieldKind::kFlag},
                       {"num_logits_to_keep", FieldKind::kWhole},
                       {"pad_token_id", FieldKind::kWhole, true},
                       {"max_position_embeddings", FieldKind::kWhole},
                       {"attention_bias", FieldKind::kFlag},
                       {"sliding_window", FieldKind::kWhole, true},
                       {"use_mamba_kernels", FieldKind::kFlag},
                       {"expand", FieldKind::kWhole},
                       {"time_step_max", FieldKind::kFloat},
                       {"time_step_floor", FieldKind::kFloat},
                       {"mamba_proj_bias", FieldKind::kFlag},
                       {"mamba_ssm_cache_dtype", FieldKind::kText},
                       {"output_router_logits", FieldKind::kFlag},
                       {"n_shared_experts", FieldKind::kWhole},
                       {"moe_shared_expert_overlap", FieldKind::kFlag},
                       {"num_nextn_predict_layers", FieldKind::kWhole},
                       {"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat},
                       {"residual_in_fp32", FieldKind::kFlag},
                       {"hidden_dropout", FieldKind::kNumber},
                       {"rescale_prenorm_residual", FieldKind::kFlag}});
  // The layers that predict further tokens are not built; the class has no
  // positions, no limit of the time step from above, and its own epsilon.
  config.Ignore({"mtp_layers_block_type", "mtp_hybrid_override_pattern",
                 "rope_theta", "partial_rotary_factor", "norm_eps",
                 "rms_norm_eps", "time_step_limit", "mamba_dt_limit",
                 "mamba_dt_max", "mamba_dt_init_floor", "mamba_expand",
                 "time_step_rank", "attention_head_dim"});
}

}  // namespace

NemotronHConfig ReadNemotronH(const ConfigView& config) {
  NemotronHConfig out;
  CheckRest(config);
  out.layers = ReadLayers(config);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 131072);
  AttentionConfig& heads = out.attention.heads;
  heads = ReadHeads(config, {.hidden = 4096, .heads = 32});
  out.hidden = heads.hidden;
  heads.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, heads);
  heads.head_dim = config.Size({"head_dim"}, 128);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.intermediate = config.Size({"intermediate_size"}, 21504);
  out.mlp_bias = config.Flag({"mlp_bias"}, false);
  out.mixer = ReadMixer(config, out);
  ReadExperts(config, out);
  return out;
}

}  // namespace foretell
