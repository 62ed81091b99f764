// LLaVA, LLaVA-NeXT and LLaVA-OneVision, PaliGemma, Gemma 3 with its tower,
// Idefics 3 and SmolVLM, LFM2-VL: a text model of its own family beside a
// vision transformer.
//
// Source: transformers 5.23, models/{llava,llava_next,llava_onevision,
// paligemma,gemma3,idefics3,lfm2_vl}/modeling_*.py and configuration_*.py. It
// does not model the towers' operations.
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/pixtral_tower.h"
#include "models/layers/tower_module.h"
#include "models/layers/vit_tower.h"

namespace foretell {
namespace {

// Of images, tokens and grids; no parameter's shape depends on them.
void IgnoreImageKeys(const ConfigView& config) {
  config.Ignore({"image_token_index", "image_token_id", "video_token_index",
                 "video_token_id", "image_seq_length", "projector_hidden_act",
                 "vision_feature_select_strategy", "image_grid_pinpoints",
                 "vision_aspect_ratio", "mm_tokens_per_image",
                 "boi_token_index", "eoi_token_index", "pad_token_id",
                 "vocab_size", "ignore_index", "initializer_range"});
}

int64_t ReadFeatureLayers(const ConfigView& config) {
  const ConfigValue* layers = config.Raw("vision_feature_layer");
  if (layers == nullptr || !layers->is_array()) {
    config.Ignore({"vision_feature_layer"});
    return 1;
  }
  const auto list = config.IntegerList({"vision_feature_layer"});
  return list && !list->empty() ? static_cast<int64_t>(list->size()) : 1;
}

void AddProjector(const ConfigView& config, const TowerModule& base,
                  int64_t vision, int64_t hidden) {
  const bool bias = config.Flag({"multimodal_projector_bias"}, true);
  const TowerModule projector = base.Child("multi_modal_projector");
  projector.Linear("linear_1",
                   ProductOf(config, "vision_feature_layer", vision,
                             ReadFeatureLayers(config)),
                   hidden, bias);
  projector.Linear("linear_2", hidden, hidden, bias);
}

// The tower's width.
int64_t AddTower(const ConfigView& config, const Module& at) {
  const ConfigView vision = config.Nested("vision_config");
  const ConfigValue* type = vision.object() != nullptr
                                ? vision.object()->Find("model_type")
                                : nullptr;
  if (type != nullptr && type->AsString() == "pixtral") {
    return AddPixtralTower(vision, at);
  }
  return AddVitTower(vision, at, ReadVitKind(vision, VitKind::kClip)).hidden;
}

std::unique_ptr<Model> BuildLlava(const ConfigView& config, const Module& root,
                                  std::string_view class_name) {
  IgnoreImageKeys(config);
  const bool has_newline = !class_name.starts_with("LlavaFor") &&
                           !class_name.starts_with("LlavaModel");
  const bool is_onevision = class_name.starts_with("LlavaOnevision");
  return MakeComposite(config, root, class_name,
                       {.text_type = is_onevision ? "qwen2" : "llama",
                        .text_ties_too = !has_newline || is_onevision,
                        .run = TextRun{.fills_cache = !has_newline}},
                       [&](const Module& base, int64_t hidden) {
                         if (has_newline)
                           base.Parameter("image_newline", {hidden});
                         const int64_t width =
                             AddTower(config, base.Child("vision_tower"));
                         AddProjector(config, TowerModule(base), width, hidden);
                       });
}

// Where the token of images has no row in the table, the class gives the table
// another copy of the ids: that is not modelled.
std::optional<TextRun> RunBelowVocabulary(const ConfigView& config,
                                          std::string_view key, int64_t token,
                                          int64_t vocabulary) {
  const auto stated = [](const ConfigValue* value, int64_t otherwise) {
    return value != nullptr ? value->AsInteger().value_or(otherwise)
                            : otherwise;
  };
  const ConfigValue* other = config.Raw("image_token_id");
  token = stated(config.Raw(key), stated(other, token));
  const ConfigView text = config.Nested("text_config");
  const ConfigValue* rows =
      text.object() != nullptr ? text.object()->Find("vocab_size") : nullptr;
  if (token >= stated(rows, vocabulary)) return std::nullopt;
  return TextRun{};
}

std::unique_ptr<Model> BuildPaliGemma(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name) {
  IgnoreImageKeys(config);
  // The class writes the text model's width and projection over these.
  config.Ignore({"hidden_size"});
  const int64_t projected = config.Size({"projection_dim"}, 2048);
  return MakeComposite(
      config, root, class_name,
      {.text_type = "gemma",
       .ties = true,
       .run = RunBelowVocabulary(config, "image_token_index", 256000, 257216)},
      [&](const Module& base, int64_t) {
        const ConfigView vision = config.Nested("vision_config");
        const VitTower tower =
            AddVitTower(vision, base.Child("vision_tower"),
                        ReadVitKind(vision, VitKind::kSiglip));
        TowerModule(base)
            .Child("multi_modal_projector")
            .Linear("linear", tower.hidden, projected, true);
      });
}

std::unique_ptr<Model> BuildGemma3(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  IgnoreImageKeys(config);
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Gemma3ForCausalLM",
       .ties = true,
       .hidden = 2304,
       .run = RunBelowVocabulary(config, "image_token_index", 262144, 262208)},
      [&](const Module& base, int64_t hidden) {
        const ConfigView vision = config.Nested("vision_config");
        const VitTower tower =
            AddVitTower(vision, base.Child("vision_tower"),
                        ReadVitKind(vision, VitKind::kSiglip));
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        projector.Parameter("mm_input_projection_weight",
                            {tower.hidden, hidden});
        projector.RmsNorm("mm_soft_emb_norm", tower.hidden);
      });
}

std::unique_ptr<Model> BuildIdefics3(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  IgnoreImageKeys(config);
  const int64_t scale = config.Size({"scale_factor"}, 2);
  return MakeComposite(
      config, root, class_name,
      {.text_type = "llama", .text_name = "text_model", .run = TextRun{}},
      [&](const Module& base, int64_t hidden) {
        const VitTower tower =
            AddVitTower(config.Nested("vision_config"),
                        base.Child("vision_model"), VitKind::kIdefics);
        const int64_t area = ProductOf(config, "scale_factor", scale, scale);
        TowerModule(base)
            .Child("connector.modality_projection")
            .Linear("proj",
                    ProductOf(config, "scale_factor", tower.hidden, area),
                    hidden, false);
      });
}

std::unique_ptr<Model> BuildLfm2Vl(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  IgnoreImageKeys(config);
  config.Ignore({"tie_embedding"});
  const int64_t factor = config.Size({"downsample_factor"}, 2);
  const int64_t inner = config.Size({"projector_hidden_size"}, 2560);
  const bool bias = config.Flag({"projector_bias"}, true);
  const bool has_norm = config.Flag({"projector_use_layernorm"}, true);
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Lfm2ForCausalLM", .ties = true, .run = TextRun{}},
      [&](const Module& base, int64_t hidden) {
        const VitTower tower =
            AddVitTower(config.Nested("vision_config"),
                        base.Child("vision_tower"), VitKind::kSiglip2);
        const int64_t area =
            ProductOf(config, "downsample_factor", factor, factor);
        const int64_t width =
            ProductOf(config, "downsample_factor", tower.hidden, area);
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        if (has_norm) projector.LayerNorm("layer_norm", width);
        projector.Linear("linear_1", width, inner, bias);
        projector.Linear("linear_2", inner, hidden, bias);
      });
}

constexpr std::array<std::string_view, 1> kLlavaTypes = {"llava"};
constexpr std::array<std::string_view, 2> kLlavaClasses = {
    "LlavaForConditionalGeneration", "LlavaModel"};
constexpr std::array<std::string_view, 1> kNextTypes = {"llava_next"};
constexpr std::array<std::string_view, 2> kNextClasses = {
    "LlavaNextForConditionalGeneration", "LlavaNextModel"};
constexpr std::array<std::string_view, 1> kOnevisionTypes = {"llava_onevision"};
constexpr std::array<std::string_view, 2> kOnevisionClasses = {
    "LlavaOnevisionForConditionalGeneration", "LlavaOnevisionModel"};
constexpr std::array<std::string_view, 1> kPaliGemmaTypes = {"paligemma"};
constexpr std::array<std::string_view, 2> kPaliGemmaClasses = {
    "PaliGemmaForConditionalGeneration", "PaliGemmaModel"};
constexpr std::array<std::string_view, 1> kGemma3Types = {"gemma3"};
constexpr std::array<std::string_view, 2> kGemma3Classes = {
    "Gemma3ForConditionalGeneration", "Gemma3Model"};
constexpr std::array<std::string_view, 1> kIdefics3Types = {"idefics3"};
constexpr std::array<std::string_view, 2> kIdefics3Classes = {
    "Idefics3ForConditionalGeneration", "Idefics3Model"};
constexpr std::array<std::string_view, 1> kLfm2VlTypes = {"lfm2_vl"};
constexpr std::array<std::string_view, 2> kLfm2VlClasses = {
    "Lfm2VlForConditionalGeneration", "Lfm2VlModel"};

}  // namespace

extern const Family kLlavaFamily = {
    .name = "llava",
    .title = "LLaVA",
    .doc =
        "A text model beside CLIP's, SigLIP's or Pixtral's tower; parameters "
        "only.",
    .model_types = kLlavaTypes,
    .classes = kLlavaClasses,
    .old_names = {},
    .build = BuildLlava,
};

extern const Family kLlavaNextFamily = {
    .name = "llava_next",
    .title = "LLaVA-NeXT",
    .doc =
        "LLaVA with a mark between rows of tiles; its steps are of text alone.",
    .model_types = kNextTypes,
    .classes = kNextClasses,
    .old_names = {},
    .build = BuildLlava,
};

extern const Family kLlavaOnevisionFamily = {
    .name = "llava_onevision",
    .title = "LLaVA-OneVision",
    .doc = "LLaVA-NeXT over Qwen2 and SigLIP; its steps are of text alone.",
    .model_types = kOnevisionTypes,
    .classes = kOnevisionClasses,
    .old_names = {},
    .build = BuildLlava,
};

extern const Family kPaliGemmaFamily = {
    .name = "paligemma",
    .title = "PaliGemma",
    .doc =
        "Gemma or Gemma 2 beside SigLIP's tower; its steps are of text alone.",
    .model_types = kPaliGemmaTypes,
    .classes = kPaliGemmaClasses,
    .old_names = {},
    .build = BuildPaliGemma,
};

extern const Family kGemma3VisionFamily = {
    .name = "gemma3_vision",
    .title = "Gemma 3 with its tower",
    .doc =
        "Gemma 3's text model beside SigLIP's tower; its steps are of text "
        "alone.",
    .model_types = kGemma3Types,
    .classes = kGemma3Classes,
    .old_names = {},
    .build = BuildGemma3,
};

extern const Family kIdefics3Family = {
    .name = "idefics3",
    .title = "Idefics 3",
    .doc =
        "Llama beside a vision transformer whose neighbouring patches are "
        "joined; Idefics 3 and SmolVLM; its steps are of text alone.",
    .model_types = kIdefics3Types,
    .classes = kIdefics3Classes,
    .old_names = {},
    .build = BuildIdefics3,
};

extern const Family kLfm2VlFamily = {
    .name = "lfm2_vl",
    .title = "LFM2-VL",
    .doc = "LFM2 beside SigLIP 2's tower; its steps are of text alone.",
    .model_types = kLfm2VlTypes,
    .classes = kLfm2VlClasses,
    .old_names = {},
    .build = BuildLfm2Vl,
};

}  // namespace foretell
