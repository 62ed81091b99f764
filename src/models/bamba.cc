// Bamba: Mamba 2 layers with a few of attention among them, each before a gated
// feed-forward.
//
// Source: transformers 5.23, models/bamba/modeling_bamba.py and
// configuration_bamba.py.
// Does not model: the loss that z_loss_coefficient adds.
#include <algorithm>
#include <array>
#include <optional>
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

struct BambaSettings {
  HybridAttentionConfig attention;
  Mamba2Config mixer;
  int64_t intermediate = 0;
  bool mlp_bias = false;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
};

struct BambaLayer {
  BambaLayer(const Module& at, const BambaSettings& settings, bool attends)
      : module(at),
        feed_forward(at.Child("feed_forward", RegionKind::kMlp),
                     settings.attention.heads.hidden, settings.intermediate,
                     settings.mlp_bias, settings.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        settings.attention.heads.hidden, settings.norm_epsilon),
        pre_ff_layernorm(at.Child("pre_ff_layernorm", RegionKind::kNorm),
                         settings.attention.heads.hidden,
                         settings.norm_epsilon) {
    if (attends) {
      self_attn.emplace(at.Child("self_attn", RegionKind::kAttention),
                        settings.attention);
    } else {
      mamba.emplace(at.Child("mamba", RegionKind::kMixer), settings.mixer);
    }
  }

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {self_attn ? context.mask : Tensor(), context.position_ids,
         context.rotary.first, context.rotary.second});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    if (mamba) {
      hidden = mamba->Forward(hidden, cache ? &cache->recurrent : nullptr);
      // The model's name for a layer's weights is set to none.
      module.builder().ReturnBeside({});
    } else {
      hidden = self_attn->Forward(hidden, context.rotary, context.mask,
                                  context.attention,
                                  cache ? &cache->attention : nullptr);
    }
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = pre_ff_layernorm.Forward(hidden);
    hidden = feed_forward.Forward(hidden);
    return Add(residual, hidden);
  }

  Module module;
  GatedMlp feed_forward;
  RmsNorm input_layernorm;
  RmsNorm pre_ff_layernorm;
  std::optional<HybridAttention> self_attn;
  std::optional<Mamba2Mixer> mamba;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  BambaSettings settings;
  AttentionConfig& heads = settings.attention.heads;
  heads = ReadHybridHeads(config, {.kv_heads = 8});
  heads.qkv_bias = config.Flag({"attention_bias"}, false);
  heads.output_bias = heads.qkv_bias;
  settings.attention.turns_part = true;
  settings.attention.returning_levels = 2;
  const DecoderKeys keys = ReadDecoder(config, class_name, heads.hidden,
                                       {.vocabulary = 128000,
                                        .intermediate = 14336,
                                        .positions = 262144,
                                        .norm_epsilon = 1e-5,
                                        .padding = 0});
  CheckRecurrentLayers(config);
  settings.intermediate = keys.intermediate;
  settings.activation = keys.activation;
  settings.norm_epsilon = keys.decoder.norm_epsilon;
  settings.mlp_bias = config.Flag({"mlp_bias"}, false);
  settings.mixer =
      ReadHybridMixer(config, heads.hidden, keys.decoder.norm_epsilon);
  settings.mixer.activation = keys.activation;
  HybridConfig hybrid = HybridOf(keys.decoder);
  hybrid.norm_name = "final_layernorm";
  hybrid.counts_past = false;
  // The class turns half of a head, where rope settings state no other part.
  const bool states_part =
      RopeSettings(config).Raw("partial_rotary_factor") != nullptr;
  hybrid.rope = ReadRope(
      config, {.default_theta = 10000,
               .positions = keys.positions,
               .head_dim = states_part ? heads.head_dim : heads.head_dim / 2,
               .turns_part = states_part});
  const std::vector<int64_t> attending =
      config.IntegerList({"attn_layer_indices"})
          .value_or(std::vector<int64_t>());
  const bool adds_z_loss = config.Real({"z_loss_coefficient"}, 0) > 0;
  CheckFields(config, {{"num_logits_to_keep", FieldKind::kWhole, true},
                       {"z_loss_coefficient", FieldKind::kFloat, true}});
  // The part of a head that turns is the class's own.
  config.Ignore({"attn_rotary_emb", "partial_rotary_factor"});

  using Layer = BambaLayer;
  const auto attends = [&](int64_t layer) {
    return std::ranges::find(attending, layer) != attending.end();
  };
  auto model = std::make_unique<HybridDecoder<Layer>>(
      root, hybrid, [&](const Module& at, int64_t index) {
        return Layer(at, settings, attends(index));
      });
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    if (attends(layer)) {
      model->Keep(layer, StateOf(heads, 0));
    } else {
      model->Keep(layer, StateOf(settings.mixer),
                  RecurrentExtents(settings.mixer));
    }
  }
  if (adds_z_loss) {
    model->FinishWith(
        [](const Tensor& loss, const Tensor&, std::span<const Tensor>) {
          loss.builder().Fail("the loss of z_loss_coefficient is not modelled");
          return loss;
        });
  }
  model->context_length = RopeContext(*hybrid.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bamba"};
constexpr std::array<std::string_view, 2> kClasses = {"BambaForCausalLM",
                                                      "BambaModel"};

}  // namespace

extern const Family kBambaFamily = {
    .name = "bamba",
    .title = "Bamba",
    .doc =
        "Mamba 2 layers with a few of attention among them, each before a "
        "gated feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
