// CLIP and SigLIP: a tower for images beside one for text, and each alone.
//
// Source: transformers 5.23, models/{clip,siglip}/modeling_*.py and
// configuration_*.py. It does not model their operations.
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/tower_module.h"
#include "models/layers/vit_tower.h"

namespace foretell {
namespace {

struct TextTower {
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t positions = 0;
};

TextTower AddTextTower(const ConfigView& config, const Module& at,
                       bool is_siglip) {
  TextTower out;
  out.hidden = config.Size({"hidden_size"}, is_siglip ? 768 : 512);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  out.positions = config.Size({"max_position_embeddings"}, is_siglip ? 64 : 77);
  const int64_t intermediate =
      config.Size({"intermediate_size"}, is_siglip ? 3072 : 2048);
  const int64_t vocabulary =
      config.Size({"vocab_size"}, is_siglip ? 32000 : 49408);
  const int64_t projected =
      is_siglip ? config.OptionalSize({"projection_size"}).value_or(out.hidden)
                : 0;
  const TowerModule tower(at);
  const TowerModule tables = tower.Child("embeddings", RegionKind::kEmbedding);
  tables.Embedding("token_embedding", vocabulary, out.hidden);
  tables.Embedding("position_embedding", out.positions, out.hidden);
  tables.PositionIds(out.positions);
  const TowerModule layers = tower.Child("encoder.layers");
  for (int64_t index = 0; index < out.layers; ++index) {
    AddVitLayer(layers.Child(index),
                is_siglip ? VitKind::kSiglip : VitKind::kClip, out.hidden,
                intermediate);
  }
  tower.LayerNorm("final_layer_norm", out.hidden);
  if (is_siglip) tower.Linear("head", out.hidden, projected, true);
  config.Ignore({"pad_token_id", "bos_token_id", "eos_token_id"});
  IgnoreTowerKeys(config);
  return out;
}

class Towers : public ParametersOnly {
 public:
  explicit Towers(const Module& root)
      : ParametersOnly(root,
                       "CLIP's and SigLIP's operations are not modelled: only "
                       "their parameters") {}

  void AddText(const TextTower& text) {
    stacks.push_back({"text encoder", text.layers});
    states.resize(states.size() + static_cast<size_t>(text.layers));
    context_length = {text.positions, "max_position_embeddings"};
  }

  void AddImage(const VitTower& image) {
    stacks.push_back({"image encoder", image.layers});
    states.resize(states.size() + static_cast<size_t>(image.layers));
  }
};

VitTower AddImageTower(const ConfigView& config, const Module& at,
                       bool is_siglip) {
  return AddVitTower(config, at, is_siglip ? VitKind::kSiglip : VitKind::kClip);
}

std::unique_ptr<Model> BuildBoth(const ConfigView& config, const Module& root,
                                 bool is_siglip) {
  auto model = std::make_unique<Towers>(root);
  const TowerModule plain(root);
  config.Ignore({"logit_scale_init_value", "initializer_factor",
                 "text_config_dict", "vision_config_dict"});
  if (is_siglip) {
    plain.Parameter("logit_scale", {1});
    plain.Parameter("logit_bias", {1});
  } else {
    plain.Parameter("logit_scale", {});
  }
  const TextTower text = AddTextTower(config.Nested("text_config"),
                                      root.Child("text_model"), is_siglip);
  const VitTower image = AddImageTower(config.Nested("vision_config"),
                                       root.Child("vision_model"), is_siglip);
  model->AddText(text);
  model->AddImage(image);
  if (!is_siglip) {
    const int64_t width = config.Size({"projection_dim"}, 512);
    plain.Linear("visual_projection", image.hidden, width, false);
    plain.Linear("text_projection", text.hidden, width, false);
  }
  return model;
}

// A class of one tower reads its own configuration, or that of the whole.
ConfigView PartOf(const ConfigView& config, std::string_view key) {
  const ConfigValue* own = config.Raw(key);
  return own != nullptr && own->is_object() ? config.Nested(key) : config;
}

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name, bool is_siglip) {
  const bool is_text = class_name.find("Text") != std::string_view::npos;
  const bool is_image = class_name.find("Vision") != std::string_view::npos;
  if (!is_text && !is_image) return BuildBoth(config, root, is_siglip);
  const ConfigView part =
      PartOf(config, is_text ? "text_config" : "vision_config");
  const bool projects = class_name.ends_with("WithProjection");
  auto model = std::make_unique<Towers>(root);
  const TowerModule plain(root);
  int64_t hidden = 0;
  if (is_text) {
    const TextTower text = AddTextTower(
        part, projects ? root.Child("text_model") : root, is_siglip);
    model->AddText(text);
    hidden = text.hidden;
  } else {
    const VitTower image = AddImageTower(
        part, projects ? root.Child("vision_model") : root, is_siglip);
    model->AddImage(image);
    hidden = image.hidden;
  }
  if (projects) {
    plain.Linear(is_text ? "text_projection" : "visual_projection", hidden,
                 part.Size({"projection_dim"}, 512), false);
  }
  return model;
}

std::unique_ptr<Model> BuildClip(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAs(config, root, class_name, false);
}
std::unique_ptr<Model> BuildSiglip(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  return BuildAs(config, root, class_name, true);
}

constexpr std::array<std::string_view, 1> kClipTypes = {"clip"};
constexpr std::array<std::string_view, 1> kClipClasses = {"CLIPModel"};
constexpr std::array<std::string_view, 1> kClipTextTypes = {"clip_text_model"};
constexpr std::array<std::string_view, 2> kClipTextClasses = {
    "CLIPTextModel", "CLIPTextModelWithProjection"};
constexpr std::array<std::string_view, 1> kClipVisionTypes = {
    "clip_vision_model"};
constexpr std::array<std::string_view, 2> kClipVisionClasses = {
    "CLIPVisionModel", "CLIPVisionModelWithProjection"};
constexpr std::array<std::string_view, 1> kSiglipTypes = {"siglip"};
constexpr std::array<std::string_view, 1> kSiglipClasses = {"SiglipModel"};
constexpr std::array<std::string_view, 2> kSiglipPartTypes = {
    "siglip_vision_model", "siglip_text_model"};
constexpr std::array<std::string_view, 2> kSiglipPartClasses = {
    "SiglipVisionModel", "SiglipTextModel"};

}  // namespace

extern const Family kClipFamily = {
    .name = "clip",
    .title = "CLIP",
    .doc = "A tower for images beside one for text; parameters only.",
    .model_types = kClipTypes,
    .classes = kClipClasses,
    .old_names = {},
    .build = BuildClip,
    .has_operations = false,
};

extern const Family kClipTextFamily = {
    .name = "clip_text",
    .title = "CLIP's text tower",
    .doc = "CLIP's tower for text alone; parameters only.",
    .model_types = kClipTextTypes,
    .classes = kClipTextClasses,
    .old_names = {},
    .build = BuildClip,
    .has_operations = false,
};

extern const Family kClipVisionFamily = {
    .name = "clip_vision",
    .title = "CLIP's image tower",
    .doc = "CLIP's tower for images alone; parameters only.",
    .model_types = kClipVisionTypes,
    .classes = kClipVisionClasses,
    .old_names = {},
    .build = BuildClip,
    .has_operations = false,
};

extern const Family kSiglipFamily = {
    .name = "siglip",
    .title = "SigLIP",
    .doc =
        "CLIP's two towers with norms first and pooling by attention; "
        "parameters only.",
    .model_types = kSiglipTypes,
    .classes = kSiglipClasses,
    .old_names = {},
    .build = BuildSiglip,
    .has_operations = false,
};

extern const Family kSiglipPartFamily = {
    .name = "siglip_part",
    .title = "One of SigLIP's towers",
    .doc = "SigLIP's tower for images or for text alone; parameters only.",
    .model_types = kSiglipPartTypes,
    .classes = kSiglipPartClasses,
    .old_names = {},
    .build = BuildSiglip,
    .has_operations = false,
};

}  // namespace foretell
