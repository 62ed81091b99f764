// Qwen3-Omni: Qwen3-MoE that sees and hears, and what speaks its answers.
//
// Source: transformers 5.23, models/qwen3_omni_moe/modeling_qwen3_omni_moe.py
// and configuration_qwen3_omni_moe.py. It does not model the towers'
// operations.
#include <array>
#include <utility>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/omni_audio.h"
#include "models/layers/omni_talker.h"
#include "models/layers/qwen_vision_tower.h"

namespace foretell {
namespace {

// Qwen3OmniMoeTextConfig's own, where they are not Qwen3-MoE's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9>
    kTextDefaults = {{{"vocab_size", "3584"},
                      {"hidden_size", "2048"},
                      {"intermediate_size", "18944"},
                      {"num_hidden_layers", "28"},
                      {"num_attention_heads", "28"},
                      {"num_key_value_heads", "4"},
                      {"rope_theta", "1000000.0"},
                      {"norm_topk_prob", "true"},
                      {"max_position_embeddings", "32768"}}};

std::unique_ptr<Model> BuildThinker(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  config.Ignore({"audio_token_id", "image_token_id", "video_token_id",
                 "audio_start_token_id", "audio_end_token_id",
                 "vision_start_token_id", "vision_end_token_id",
                 "position_id_per_seconds", "seconds_per_chunk",
                 "user_token_id", "model_type", "initializer_range"});
  return MakeComposite(config, root, class_name,
                       {.text_class = "Qwen3MoeForCausalLM",
                        .hidden = 2048,
                        .text_defaults = kTextDefaults},
                       [&](const Module& base, int64_t) {
                         AddQwen3OmniAudio(config.Nested("audio_config"),
                                           base.Child("audio_tower"));
                         AddQwen3OmniTower(config.Nested("vision_config"),
                                           base.Child("visual"));
                       });
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"system_token_id", "assistant_token_id", "user_token_id",
                 "im_start_token_id", "im_end_token_id", "tts_bos_token_id",
                 "tts_eos_token_id", "tts_pad_token_id"});
  static_cast<void>(class_name);
  std::unique_ptr<Model> model =
      BuildThinker(config.Nested("thinker_config"), root.Child("thinker"),
                   "Qwen3OmniMoeThinkerForConditionalGeneration");
  if (config.Flag({"enable_audio_output"}, true)) {
    AddOmniTalker(config.Nested("talker_config"), root.Child("talker"));
    AddCodeToWave(config.Nested("code2wav_config"), root.Child("code2wav"));
  }
  return model;
}

constexpr std::array<std::string_view, 1> kTypes = {"qwen3_omni_moe"};
constexpr std::array<std::string_view, 1> kClasses = {
    "Qwen3OmniMoeForConditionalGeneration"};
constexpr std::array<std::string_view, 1> kThinkerTypes = {
    "qwen3_omni_moe_thinker"};
constexpr std::array<std::string_view, 1> kThinkerClasses = {
    "Qwen3OmniMoeThinkerForConditionalGeneration"};

}  // namespace

extern const Family kQwen3OmniMoeFamily = {
    .name = "qwen3_omni_moe",
    .title = "Qwen3-Omni",
    .doc =
        "Qwen3-MoE beside towers for images and sounds, and a decoder of codes "
        "that speaks; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .has_operations = false,
};

extern const Family kQwen3OmniThinkerFamily = {
    .name = "qwen3_omni_thinker",
    .title = "Qwen3-Omni's thinker",
    .doc = "Qwen3-Omni without what speaks; parameters only.",
    .model_types = kThinkerTypes,
    .classes = kThinkerClasses,
    .old_names = {},
    .build = BuildThinker,
    .has_operations = false,
};

}  // namespace foretell
