// GLM-4.5 and its successors: attention that turns a part of each head, and
// from some layer on experts chosen by groups beside shared ones.
//
// Source: transformers 5.23, models/glm4_moe/modeling_glm4_moe.py and
// configuration_glm4_moe.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/head_norms.h"
#include "models/layers/read_decoder.h"
#include "models/layers/split_rotary.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 4096, .heads = 96});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.turn = ApplySplitRotary;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 151552,
                                  .intermediate = 10944,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 46});
  DecoderConfig& decoder = keys.decoder;
  attention.extend = NormsBeforeTranspose(config.Flag({"use_qk_norm"}, false),
                                          decoder.norm_epsilon);
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .turns_part = true,
                        .default_part = 0.5});
  const SharedExpertsKeys experts = ReadSharedExperts(
      config, "num_local_experts", decoder.hidden, keys.activation,
      {.intermediate = 1408,
       .experts = 128,
       .groups = 1,
       .kept = 1,
       .scale = 1,
       .corrects_in_float = true});
  const int64_t dense = config.Whole({"first_k_dense_replace"}, 1);
  // The layers that predict further tokens are in no class of the library.
  CheckFields(config, {{"num_nextn_predict_layers", FieldKind::kWhole},
                       {"num_mtp_layers", FieldKind::kWhole}});
  config.Ignore({"mlp_bias"});  // Llama's

  using Mlp = SharedOrDenseMlp<>;
  using Layer = DecoderLayer<Mlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              return Mlp(mlp, index >= dense, experts, keys.intermediate);
            });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"glm4_moe"};
constexpr std::array<std::string_view, 2> kClasses = {"Glm4MoeForCausalLM",
                                                      "Glm4MoeModel"};

}  // namespace

extern const Family kGlm4MoeFamily = {
    .name = "glm4_moe",
    .title = "GLM-4.5",
    .doc =
        "Attention that turns half of each head, and from some layer on many "
        "small experts beside shared ones; GLM-4.5, 4.6 and 4.7.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
