// GLM-4.7-Flash: DeepSeek-V3's latent attention and experts, with the kind of
// each layer's feed-forward listed.
//
// Source: transformers 5.23, models/glm4_moe_lite/modeling_glm4_moe_lite.py
// and configuration_glm4_moe_lite.py.
#include <array>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/latent_attention.h"
#include "models/layers/latent_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_mlp_types.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  LatentConfig attention = ReadLatent(config, {.hidden = 2048,
                                               .heads = 20,
                                               .kv_heads = 20,
                                               .kv_heads_may_be_null = false,
                                               .q_rank = 768,
                                               .nope_dim = 192,
                                               .value_dim = 256,
                                               .rope_alias = "head_dim"});
  if (!config.Flag({"rope_interleave"}, true)) {
    attention.turn = LatentTurn::kHalves;
  }
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 154880,
                                  .intermediate = 10240,
                                  .positions = 202752,
                                  .norm_epsilon = 1e-5,
                                  .layers = 47});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.rope_dim,
                                   .turns_part = true});
  CheckLatentRope(config, decoder.rope, attention);
  const SharedExpertsKeys experts = ReadSharedExperts(
      config, "num_local_experts", decoder.hidden, keys.activation,
      {.intermediate = 1536,
       .experts = 64,
       .per_token = 4,
       .groups = 1,
       .kept = 1,
       .scale = 1.8,
       .corrects_in_float = true});
  const std::vector<bool> sparse = ReadMlpTypes(config, decoder.layers, 1);
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole}});
  // Worked out from the parts of a head; the layers are listed by
  // mlp_layer_types alone, and the router is always this one.
  config.Ignore({"qk_head_dim", "first_k_dense_replace", "moe_layer_freq",
                 "num_nextn_predict_layers", "scoring_func", "topk_method",
                 "ep_size", "mlp_bias"});

  using Layer = LatentLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(at, attention, decoder.norm_epsilon,
                     sparse[static_cast<size_t>(index)], experts,
                     keys.intermediate);
      });
  model->states.assign(static_cast<size_t>(decoder.layers), StateOf(attention));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"glm4_moe_lite"};
constexpr std::array<std::string_view, 2> kClasses = {"Glm4MoeLiteForCausalLM",
                                                      "Glm4MoeLiteModel"};

}  // namespace

extern const Family kGlm4MoeLiteFamily = {
    .name = "glm4_moe_lite",
    .title = "GLM-4 MoE Lite",
    .doc =
        "DeepSeek-V3's latent attention and groups of experts with GLM's "
        "sizes; GLM-4.7-Flash.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
