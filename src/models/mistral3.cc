// Mistral 3 and Pixtral-based InternVL-like wholes: Mistral Small 3.1,
// Ministral 3 and Devstral with Pixtral's tower, and InternVL with its own.
//
// Source: transformers 5.23, models/mistral3/modeling_mistral3.py and
// models/internvl/modeling_internvl.py with their configurations. It does not
// model the towers' operations.
#include <array>
#include <cmath>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/pixtral_tower.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

std::unique_ptr<Model> BuildMistral3(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  config.Ignore({"image_token_index", "image_token_id", "projector_hidden_act",
                 "vision_feature_select_strategy", "pad_token_id"});
  const bool bias = config.Flag({"multimodal_projector_bias"}, false);
  const int64_t merge = config.Size({"spatial_merge_size"}, 2);
  const ConfigValue* features = config.Raw("vision_feature_layer");
  const auto list = features != nullptr && features->is_array()
                        ? config.IntegerList({"vision_feature_layer"})
                        : std::nullopt;
  const int64_t feature_layers =
      list && !list->empty() ? static_cast<int64_t>(list->size()) : 1;
  return MakeComposite(
      config, root, class_name,
      {.text_type = "mistral", .ties = true, .hidden = 5120, .run = TextRun{}},
      [&](const Module& base, int64_t hidden) {
        const int64_t width = AddPixtralTower(config.Nested("vision_config"),
                                              base.Child("vision_tower"));
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        projector.RmsNorm("norm", width);
        const int64_t area =
            ProductOf(config, "spatial_merge_size", merge, merge);
        projector.Child("patch_merger")
            .Linear("merging_layer",
                    ProductOf(config, "spatial_merge_size", width, area), width,
                    false);
        projector.Linear(
            "linear_1",
            ProductOf(config, "vision_feature_layer", width, feature_layers),
            hidden, bias);
        projector.Linear("linear_2", hidden, hidden, bias);
      });
}

// The tower's width.
int64_t AddInternTower(const ConfigView& config, const Module& at) {
  const int64_t hidden = config.Size({"hidden_size"}, 1024);
  const int64_t intermediate = config.Size({"intermediate_size"}, 4096);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 24);
  const int64_t channels = config.Size({"num_channels"}, 3);
  const Sides patch = ReadSides(config, "patch_size", 14);
  const Sides image = ReadSides(config, "image_size", 448);
  const bool bias = config.Flag({"attention_bias"}, false);
  const bool norms_heads = config.Flag({"use_qk_norm"}, false);
  const bool is_rms = config.Text({"norm_type"}, "layer_norm") == "rms_norm";
  const TowerModule tower(at);
  const TowerModule embeddings =
      tower.Child("embeddings", RegionKind::kEmbedding);
  embeddings.Parameter("cls_token", {1, 1, hidden});
  if (config.Flag({"use_mask_token"}, false)) {
    embeddings.Parameter("mask_token", {1, 1, hidden});
  }
  const int64_t patches = PatchesOf(config, image, patch);
  if (config.Flag({"use_absolute_position_embeddings"}, true)) {
    embeddings.Parameter("position_embeddings", {1, patches + 1, hidden});
  }
  embeddings.Child("patch_embeddings")
      .Convolution("projection", {hidden, channels, patch.first, patch.second},
                   true);
  const TowerModule list = tower.Child("encoder.layer");
  const auto norm = [&](const TowerModule& layer, std::string_view name) {
    is_rms ? layer.RmsNorm(name, hidden) : layer.LayerNorm(name, hidden);
  };
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule layer = list.Child(index);
    layer.Parameter("lambda_1", {hidden});
    layer.Parameter("lambda_2", {hidden});
    const TowerModule attention =
        layer.Child("attention", RegionKind::kAttention);
    for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
      attention.Linear(name, hidden, hidden, bias);
    }
    attention.Linear("projection_layer", hidden, hidden, true);
    if (norms_heads) {
      attention.RmsNorm("q_norm", hidden);
      attention.RmsNorm("k_norm", hidden);
    }
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("fc1", hidden, intermediate, true);
    mlp.Linear("fc2", intermediate, hidden, true);
    norm(layer, "layernorm_before");
    norm(layer, "layernorm_after");
  }
  if (!config.Flag({"use_mean_pooling"}, true)) {
    tower.LayerNorm("layernorm", hidden);
  }
  config.Ignore({"layer_scale_init_value"});
  IgnoreTowerKeys(config);
  return hidden;
}

// How many patches along an axis one token stands for: the whole part of one
// by the ratio.
int64_t ReadJoined(const ConfigView& config) {
  const double ratio = config.Real({"downsample_ratio"}, 0.5);
  constexpr double kLeast = 1.0 / 64;  // 64 patches along an axis, and no less
  if (ratio >= kLeast && ratio <= 1) return static_cast<int64_t>(1 / ratio);
  config.Problem("downsample_ratio", "is not between 1/64 and 1",
                 "the published models state 0.5");
  return 1;
}

std::unique_ptr<Model> BuildInternVl(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  config.Ignore({"image_token_id", "image_seq_length", "projector_hidden_act",
                 "vision_feature_layer", "vision_feature_select_strategy",
                 "pad_token_id"});
  const int64_t joined = ReadJoined(config);
  return MakeComposite(
      config, root, class_name,
      {.text_type = "qwen2", .ties = true, .run = TextRun{.fills_cache = true}},
      [&](const Module& base, int64_t hidden) {
        const int64_t width = AddInternTower(config.Nested("vision_config"),
                                             base.Child("vision_tower"));
        const int64_t wide =
            ProductOf(config, "downsample_ratio", width, joined * joined);
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        projector.LayerNorm("layer_norm", wide);
        projector.Linear("linear_1", wide, hidden, true);
        projector.Linear("linear_2", hidden, hidden, true);
      });
}

constexpr std::array<std::string_view, 1> kMistral3Types = {"mistral3"};
constexpr std::array<std::string_view, 2> kMistral3Classes = {
    "Mistral3ForConditionalGeneration", "Mistral3Model"};
constexpr std::array<std::string_view, 1> kInternVlTypes = {"internvl"};
constexpr std::array<std::string_view, 2> kInternVlClasses = {
    "InternVLForConditionalGeneration", "InternVLModel"};

}  // namespace

extern const Family kMistral3Family = {
    .name = "mistral3",
    .title = "Mistral 3",
    .doc =
        "Mistral or Ministral 3 beside Pixtral's tower; Mistral Small 3.1, "
        "Ministral 3 and Devstral; its steps are of text alone.",
    .model_types = kMistral3Types,
    .classes = kMistral3Classes,
    .old_names = {},
    .build = BuildMistral3,
};

extern const Family kInternVlFamily = {
    .name = "internvl",
    .title = "InternVL",
    .doc =
        "A text model beside InternVL's own tower; its steps are of text "
        "alone.",
    .model_types = kInternVlTypes,
    .classes = kInternVlClasses,
    .old_names = {},
    .build = BuildInternVl,
};

}  // namespace foretell
