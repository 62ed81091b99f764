// Falcon H1: each layer attends and runs Mamba 2's scan side by side, before a
// gated feed-forward; what each part takes and gives is scaled.
//
// Source: transformers 5.23, models/falcon_h1/modeling_falcon_h1.py and
// configuration_falcon_h1.py.
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/hybrid_attention.h"
#include "models/layers/hybrid_decoder.h"
#include "models/layers/mamba2_mixer.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_hybrid.h"
#include "models/layers/read_mamba.h"
#include "models/layers/read_mamba2.h"

namespace foretell {
namespace {

struct Settings {
  HybridAttentionConfig attention;
  Mamba2Config mixer;
  int64_t intermediate = 0;
  bool mlp_bias = false;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
  double attention_in = 1;
  double attention_out = 1;
  double mixer_out = 1;
  double gate_multiplier = 1;
  double down_multiplier = 1;
};

// down_proj(up_proj(x) * act_fn(gate_proj(x) * multiplier)) * multiplier
Tensor ScaledMlp(const GatedMlp& mlp, const Settings& settings,
                 const Tensor& x) {
  const Scope scope = mlp.module.Enter();
  const auto open = [&] {
    const Tensor up = mlp.up_proj.Forward(x);
    const auto gate = [&] {
      const auto scaled = [&] {
        return MulScalar(mlp.gate_proj.Forward(x), settings.gate_multiplier);
      };
      return mlp.act_fn.Forward(scaled());
    };
    return Mul(up, gate());
  };
  Tensor y = open();
  y = MulScalar(mlp.down_proj.Forward(y), settings.down_multiplier);
  return y;
}

struct FalconH1Layer {
  FalconH1Layer(const Module& at, const Settings& given)
      : module(at),
        settings(given),
        feed_forward(at.Child("feed_forward", RegionKind::kMlp),
                     settings.attention.heads.hidden, settings.intermediate,
                     settings.mlp_bias, settings.activation),
        mamba(at.Child("mamba", RegionKind::kMixer), settings.mixer),
        self_attn(at.Child("self_attn", RegionKind::kAttention),
                  settings.attention),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        settings.attention.heads.hidden, settings.norm_epsilon),
        pre_ff_layernorm(at.Child("pre_ff_layernorm", RegionKind::kNorm),
                         settings.attention.heads.hidden,
                         settings.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.position_ids, context.rotary.first,
         context.rotary.second});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    Tensor mixed = mamba.Forward(hidden, cache ? &cache->recurrent : nullptr);
    mixed = MulScalar(mixed, settings.mixer_out);
    Tensor attended = self_attn.Forward(
        MulScalar(hidden, settings.attention_in), context.rotary, context.mask,
        context.attention, cache ? &cache->attention : nullptr);
    attended = MulScalar(attended, settings.attention_out);
    hidden = Add(mixed, attended);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = pre_ff_layernorm.Forward(hidden);
    hidden = ScaledMlp(feed_forward, settings, hidden);
    return Add(residual, hidden);
  }

  Module module;
  Settings settings;
  GatedMlp feed_forward;
  Mamba2Mixer mamba;
  HybridAttention self_attn;
  RmsNorm input_layernorm;
  RmsNorm pre_ff_layernorm;
};

// A list of so many numbers; all 1 where nothing is said.
std::vector<double> ReadMultipliers(const ConfigView& config,
                                    std::string_view key, size_t count) {
  std::vector<double> out(count, 1);
  const ConfigValue* value = config.Raw(key);
  if (value == nullptr || value->is_null()) return out;
  bool fits = value->is_array() && value->items().size() == count;
  for (size_t i = 0; fits && i < count; ++i) {
    const auto number = value->items()[i].AsReal();
    if (number) out[i] = *number;
    fits = number.has_value();
  }
  if (!fits) {
    config.Problem(key, "is no list of " + std::to_string(count) + " numbers",
                   "list the multipliers, or remove the key");
  }
  return out;
}

Mamba2Config ReadMixer(const ConfigView& config, const DecoderKeys& keys) {
  const auto stated =
      config.Raw("mamba_d_ssm") == nullptr
          ? std::optional<int64_t>(config.Size({"mamba_d_ssm"}, 1024))
          : config.OptionalSize({"mamba_d_ssm"});
  Mamba2Config mixer = ReadHybridMixer(config, keys.decoder.hidden,
                                       keys.decoder.norm_epsilon, stated);
  mixer.activation = keys.activation;
  mixer.out_bias = config.Flag({"projectors_bias"}, false);
  mixer.input_multiplier = config.Real({"ssm_in_multiplier"}, 1);
  mixer.scales_projection = true;
  ReadMultipliers(config, "ssm_multipliers", 5);
  const bool before = config.Flag({"mamba_norm_before_gate"}, true);
  if (!config.Flag({"mamba_rms_norm"}, false)) {
    mixer.norm = MixerNorm::kNone;
  } else {
    mixer.norm = before ? MixerNorm::kBeforeGate : MixerNorm::kAfterGate;
  }
  return mixer;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Settings settings;
  AttentionConfig& heads = settings.attention.heads;
  heads = ReadHybridHeads(config, {.kv_heads = 8});
  heads.qkv_bias = config.Flag({"attention_bias"}, false);
  heads.output_bias = heads.qkv_bias;
  settings.attention.key_multiplier = config.Real({"key_multiplier"}, 1);
  const DecoderKeys keys = ReadDecoder(config, class_name, heads.hidden,
                                       {.vocabulary = 128000,
                                        .intermediate = 14336,
                                        .positions = 8192,
                                        .norm_epsilon = 1e-5,
                                        .padding = 0});
  CheckRecurrentLayers(config);
  settings.intermediate = keys.intermediate;
  settings.activation = keys.activation;
  settings.norm_epsilon = keys.decoder.norm_epsilon;
  settings.mlp_bias = config.Flag({"mlp_bias"}, false);
  settings.mixer = ReadMixer(config, keys);
  settings.attention_in = config.Real({"attention_in_multiplier"}, 1);
  settings.attention_out = config.Real({"attention_out_multiplier"}, 1);
  settings.mixer_out = config.Real({"ssm_out_multiplier"}, 1);
  const std::vector<double> mlp = ReadMultipliers(config, "mlp_multipliers", 2);
  settings.gate_multiplier = mlp[0];
  settings.down_multiplier = mlp[1];
  HybridConfig hybrid = HybridOf(keys.decoder);
  hybrid.norm_name = "final_layernorm";
  hybrid.embedding_multiplier = config.Real({"embedding_multiplier"}, 1);
  hybrid.logit_multiplier = config.Real({"lm_head_multiplier"}, 1);
  hybrid.rope = ReadRope(config, {.default_theta = 10000,
                                  .positions = keys.positions,
                                  .head_dim = heads.head_dim});
  CheckFields(config, {{"num_logits_to_keep", FieldKind::kWhole, true},
                       {"lm_head_multiplier", FieldKind::kFloat, true},
                       {"embedding_multiplier", FieldKind::kFloat, true},
                       {"key_multiplier", FieldKind::kFloat, true},
                       {"attention_out_multiplier", FieldKind::kFloat, true},
                       {"attention_in_multiplier", FieldKind::kFloat, true},
                       {"ssm_in_multiplier", FieldKind::kFloat, true},
                       {"ssm_out_multiplier", FieldKind::kFloat, true}});
  // Of the authors' own training and of an earlier class.
  config.Ignore({"mamba_use_mlp", "mlp_expansion_factor", "attn_layer_indices",
                 "time_step_floor", "time_step_max", "time_step_min",
                 "time_step_rank"});

  auto model = std::make_unique<HybridDecoder<FalconH1Layer>>(
      root, hybrid,
      [&](const Module& at, int64_t) { return FalconH1Layer(at, settings); });
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    model->Keep(layer, StateOf(settings.mixer),
                RecurrentExtents(settings.mixer));
    model->Keep(layer, StateOf(heads, 0));
  }
  model->context_length = RopeContext(*hybrid.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"falcon_h1"};
constexpr std::array<std::string_view, 2> kClasses = {"FalconH1ForCausalLM",
                                                      "FalconH1Model"};

}  // namespace

extern const Family kFalconH1Family = {
    .name = "falcon_h1",
    .title = "Falcon H1",
    .doc =
        "Each layer attends and runs Mamba 2's scan side by side, before a "
        "gated feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
