// DeepSeek-V3, R1, Moonlight and Kimi K2: latent attention, and from some
// layer on a feed-forward of many small experts that are chosen by groups.
//
// Source: transformers 5.23, models/deepseek_v3/modeling_deepseek_v3.py and
// configuration_deepseek_v3.py.
//
// Kimi K2 states model_type kimi_k2, which the library loads only with the code
// beside its weights. It is built all the same, with a warning: that code is
// this class, and inside Kimi K2.5 the library itself reads a kimi_k2 as a
// deepseek_v3 (models/kimi_k25/configuration_kimi_k25.py).
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/latent_attention.h"
#include "models/layers/latent_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  LatentConfig attention = ReadLatent(config, {.dropout_may_be_null = true});
  const bool halves = config.Raw("rope_interleave") != nullptr &&
                      !config.Has("rope_interleave");
  if (halves || !config.Flag({"rope_interleave"}, true)) {
    attention.turn = LatentTurn::kHalves;
  }
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 129280,
                                  .intermediate = 18432,
                                  .positions = 4096,
                                  .layers = 61});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = ReadTurnedDim(config, attention, false)});
  CheckLatentRope(config, decoder.rope, attention);
  const SharedExpertsKeys experts =
      ReadSharedExperts(config, "num_local_experts", decoder.hidden,
                        keys.activation, {.normalizes_may_be_null = true});
  const int64_t dense = config.Whole({"first_k_dense_replace"}, 3);
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole, true},
                       {"num_nextn_predict_layers", FieldKind::kWhole},
                       {"num_mtp_layers", FieldKind::kWhole}});
  // Settings of the published code that the library's class does not have: its
  // router is always this one, and every layer past the first ones has experts.
  config.Ignore({"aux_loss_alpha", "ep_size", "moe_layer_freq", "scoring_func",
                 "seq_aux", "topk_method", "mlp_bias"});

  using Layer = LatentLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(at, attention, decoder.norm_epsilon, index >= dense,
                     experts, keys.intermediate);
      });
  model->states.assign(static_cast<size_t>(decoder.layers), StateOf(attention));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"deepseek_v3"};
constexpr std::array<std::string_view, 4> kClasses = {
    "DeepseekV3ForCausalLM", "DeepseekV3Model",
    "DeepseekV3ForSequenceClassification", "DeepseekV3ForTokenClassification"};

}  // namespace

extern const Family kDeepseekV3Family = {
    .name = "deepseek_v3",
    .title = "DeepSeek-V3",
    .doc =
        "Latent attention and a feed-forward of many small experts chosen by "
        "groups, beside shared ones; DeepSeek-V3 and R1, Moonlight, Kimi K2.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
