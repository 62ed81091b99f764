// Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5 as published: a text model of its
// own family beside a vision tower.
//
// Source: transformers 5.23, models/{qwen2_vl,qwen2_5_vl,qwen3_vl,
// qwen3_vl_moe,qwen3_5,qwen3_5_moe}/modeling_*.py and configuration_*.py. It
// does not model the towers' operations.
#include <array>
#include <utility>

#include "models/axis_text.h"
#include "models/composite.h"
#include "models/family.h"
#include "models/layers/qwen_vision_tower.h"

namespace foretell {
namespace {

using TextDefault = std::pair<std::string_view, std::string_view>;

// Of the text configurations, where they differ from the text families'.
constexpr std::array<TextDefault, 9> kQwen2TextDefaults = {
    {{"vocab_size", "152064"},
     {"hidden_size", "8192"},
     {"intermediate_size", "29568"},
     {"num_hidden_layers", "80"},
     {"num_attention_heads", "64"},
     {"num_key_value_heads", "8"},
     {"max_window_layers", "80"},
     {"rms_norm_eps", "1e-05"},
     {"max_position_embeddings", "32768"}}};
constexpr std::array<TextDefault, 1> kQwen3TextDefaults = {
    {{"max_position_embeddings", "128000"}}};
constexpr std::array<TextDefault, 9> kQwen3MoeTextDefaults = {
    {{"hidden_size", "2048"},
     {"intermediate_size", "5632"},
     {"num_hidden_layers", "24"},
     {"num_attention_heads", "16"},
     {"num_key_value_heads", "16"},
     {"max_position_embeddings", "128000"},
     {"moe_intermediate_size", "1408"},
     {"num_experts_per_tok", "4"},
     {"num_experts", "60"}}};

void IgnoreTokens(const ConfigView& config) {
  config.Ignore({"image_token_id", "video_token_id", "vision_start_token_id",
                 "vision_end_token_id", "vision_token_id", "image_token_index",
                 "video_token_index"});
}

// Both releases lay their own tower beside Qwen 2's decoder.
std::unique_ptr<Model> BuildBesideQwen2(
    const ConfigView& config, const Module& root, std::string_view class_name,
    void (*add_tower)(const ConfigView& config, const Module& at)) {
  IgnoreTokens(config);
  return MakeComposite(config, root, class_name,
                       {.text_class = "Qwen2ForCausalLM",
                        .text_ties_too = true,
                        .may_be_flat = true,
                        .hidden = 8192,
                        .text_defaults = kQwen2TextDefaults,
                        .build_text = BuildQwen2Axes,
                        .run = TextRun{}},
                       [&](const Module& base, int64_t) {
                         add_tower(config.Nested("vision_config"),
                                   base.Child("visual"));
                       });
}

std::unique_ptr<Model> BuildQwen2Vl(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  return BuildBesideQwen2(config, root, class_name, AddQwen2VlTower);
}

std::unique_ptr<Model> BuildQwen25Vl(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  return BuildBesideQwen2(config, root, class_name,
                          [](const ConfigView& vision, const Module& at) {
                            AddQwen25VlTower(vision, at);
                          });
}

std::unique_ptr<Model> BuildQwen3(const ConfigView& config, const Module& root,
                                  std::string_view class_name,
                                  CompositeForm form, bool deep) {
  IgnoreTokens(config);
  form.run = TextRun{.fills_cache = true};
  return MakeComposite(config, root, class_name, form,
                       [&](const Module& base, int64_t) {
                         AddQwen3VlTower(config.Nested("vision_config"),
                                         base.Child("visual"), deep);
                       });
}

std::unique_ptr<Model> BuildQwen3Vl(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  return BuildQwen3(config, root, class_name,
                    {.text_class = "Qwen3ForCausalLM",
                     .text_defaults = kQwen3TextDefaults,
                     .build_text = BuildQwen3Axes},
                    true);
}

std::unique_ptr<Model> BuildQwen3VlMoe(const ConfigView& config,
                                       const Module& root,
                                       std::string_view class_name) {
  return BuildQwen3(config, root, class_name,
                    {.text_class = "Qwen3MoeForCausalLM",
                     .hidden = 2048,
                     .text_defaults = kQwen3MoeTextDefaults,
                     .build_text = BuildQwen3MoeAxes},
                    true);
}

std::unique_ptr<Model> BuildQwen35(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  return BuildQwen3(config, root, class_name,
                    {.text_class = "Qwen3_5ForCausalLM"}, false);
}

std::unique_ptr<Model> BuildQwen35Moe(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name) {
  return BuildQwen3(config, root, class_name,
                    {.text_class = "Qwen3_5MoeForCausalLM"}, false);
}

constexpr std::array<std::string_view, 1> kQwen2VlTypes = {"qwen2_vl"};
constexpr std::array<std::string_view, 2> kQwen2VlClasses = {
    "Qwen2VLForConditionalGeneration", "Qwen2VLModel"};
constexpr std::array<std::string_view, 1> kQwen25VlTypes = {"qwen2_5_vl"};
constexpr std::array<std::string_view, 2> kQwen25VlClasses = {
    "Qwen2_5_VLForConditionalGeneration", "Qwen2_5_VLModel"};
constexpr std::array<std::string_view, 1> kQwen3VlTypes = {"qwen3_vl"};
constexpr std::array<std::string_view, 2> kQwen3VlClasses = {
    "Qwen3VLForConditionalGeneration", "Qwen3VLModel"};
constexpr std::array<std::string_view, 1> kQwen3VlMoeTypes = {"qwen3_vl_moe"};
constexpr std::array<std::string_view, 2> kQwen3VlMoeClasses = {
    "Qwen3VLMoeForConditionalGeneration", "Qwen3VLMoeModel"};
constexpr std::array<std::string_view, 1> kQwen35Types = {"qwen3_5"};
constexpr std::array<std::string_view, 2> kQwen35Classes = {
    "Qwen3_5ForConditionalGeneration", "Qwen3_5Model"};
constexpr std::array<std::string_view, 1> kQwen35MoeTypes = {"qwen3_5_moe"};
constexpr std::array<std::string_view, 2> kQwen35MoeClasses = {
    "Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeModel"};

}  // namespace

extern const Family kQwen2VlFamily = {
    .name = "qwen2_vl",
    .title = "Qwen2-VL",
    .doc =
        "Qwen2 beside a tower for images and films; its steps are of text "
        "alone.",
    .model_types = kQwen2VlTypes,
    .classes = kQwen2VlClasses,
    .old_names = {},
    .build = BuildQwen2Vl,
};

extern const Family kQwen25VlFamily = {
    .name = "qwen2_5_vl",
    .title = "Qwen2.5-VL",
    .doc = "Qwen2 beside a tower with windows; its steps are of text alone.",
    .model_types = kQwen25VlTypes,
    .classes = kQwen25VlClasses,
    .old_names = {},
    .build = BuildQwen25Vl,
};

extern const Family kQwen3VlFamily = {
    .name = "qwen3_vl",
    .title = "Qwen3-VL",
    .doc =
        "Qwen3 beside a tower that feeds several of its layers; parameters "
        "only.",
    .model_types = kQwen3VlTypes,
    .classes = kQwen3VlClasses,
    .old_names = {},
    .build = BuildQwen3Vl,
};

extern const Family kQwen3VlMoeFamily = {
    .name = "qwen3_vl_moe",
    .title = "Qwen3-VL-MoE",
    .doc =
        "Qwen3-MoE beside a tower that feeds several of its layers; parameters "
        "only.",
    .model_types = kQwen3VlMoeTypes,
    .classes = kQwen3VlMoeClasses,
    .old_names = {},
    .build = BuildQwen3VlMoe,
};

extern const Family kQwen35VisionFamily = {
    .name = "qwen3_5_vision",
    .title = "Qwen3.5 with its tower",
    .doc =
        "Qwen3.5's text model beside Qwen3-VL's tower; its steps are of text "
        "alone.",
    .model_types = kQwen35Types,
    .classes = kQwen35Classes,
    .old_names = {},
    .build = BuildQwen35,
};

extern const Family kQwen35MoeVisionFamily = {
    .name = "qwen3_5_moe_vision",
    .title = "Qwen3.5-MoE with its tower",
    .doc =
        "Qwen3.5-MoE's text model beside Qwen3-VL's tower; its steps are of "
        "text alone.",
    .model_types = kQwen35MoeTypes,
    .classes = kQwen35MoeClasses,
    .old_names = {},
    .build = BuildQwen35Moe,
};

}  // namespace foretell
