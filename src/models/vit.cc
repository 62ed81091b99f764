// ViT, DeiT and DINOv2: a transformer of an image's patches, and its classes
// that label images.
//
// Source: transformers 5.23, models/{vit,deit,dinov2}/modeling_*.py and
// configuration_*.py. It does not model their operations.
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/heads.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

enum class Kind : uint8_t { kVit, kDeit, kDino };

struct Sizes {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t channels = 0;
  bool qkv_bias = true;
  bool gates = false;  // DINOv2's largest
  Sides image;
  Sides patch;
};

// DINOv2 states its feed-forward by a ratio.
int64_t ReadDinoWidth(const ConfigView& config, int64_t hidden, bool gates) {
  const int64_t ratio = config.Size({"mlp_ratio"}, 4);
  const int64_t wide = ProductOf(config, "mlp_ratio", hidden, ratio);
  if (!gates) return wide;
  // Two thirds, rounded up to a multiple of eight.
  constexpr int64_t kStep = 8;
  return (wide * 2 / 3 + kStep - 1) / kStep * kStep;
}

Sizes ReadSizes(const ConfigView& config, Kind kind) {
  Sizes out;
  out.hidden = config.Size({"hidden_size"}, 768);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  out.channels = config.Size({"num_channels"}, 3);
  out.qkv_bias = config.Flag({"qkv_bias"}, true);
  out.image = ReadSides(config, "image_size", 224);
  out.patch = ReadSides(config, "patch_size", kind == Kind::kDino ? 14 : 16);
  if (kind == Kind::kDino) {
    out.gates = config.Flag({"use_swiglu_ffn"}, false);
    out.intermediate = ReadDinoWidth(config, out.hidden, out.gates);
  } else {
    out.intermediate = config.Size({"intermediate_size"}, 3072);
  }
  config.Ignore({"attention_probs_dropout_prob", "encoder_stride", "pooler_act",
                 "drop_path_rate", "layerscale_value", "apply_layernorm",
                 "reshape_hidden_states", "stage_names", "out_features",
                 "out_indices", "problem_type"});
  IgnoreTowerKeys(config);
  return out;
}

void AddEmbeddings(const ConfigView& config, const TowerModule& at, Kind kind,
                   const Sizes& sizes) {
  const int64_t tokens = kind == Kind::kDeit ? 2 : 1;
  at.Parameter("cls_token", {1, 1, sizes.hidden});
  if (kind == Kind::kDino && config.Flag({"use_mask_token"}, true)) {
    at.Parameter("mask_token", {1, sizes.hidden});
  }
  const int64_t places = PatchesOf(config, sizes.image, sizes.patch) + tokens;
  at.Parameter("position_embeddings", {1, places, sizes.hidden});
  if (kind == Kind::kDeit) {
    at.Parameter("distillation_token", {1, 1, sizes.hidden});
  }
  at.Child("patch_embeddings")
      .Convolution(
          "projection",
          {sizes.hidden, sizes.channels, sizes.patch.first, sizes.patch.second},
          true);
}

void AddMlp(const TowerModule& mlp, const Sizes& sizes) {
  if (sizes.gates) {
    mlp.Linear("gate_proj", sizes.hidden, sizes.intermediate, true);
    mlp.Linear("up_proj", sizes.hidden, sizes.intermediate, true);
    mlp.Linear("down_proj", sizes.intermediate, sizes.hidden, true);
    return;
  }
  mlp.Linear("fc1", sizes.hidden, sizes.intermediate, true);
  mlp.Linear("fc2", sizes.intermediate, sizes.hidden, true);
}

void AddLayer(const TowerModule& layer, Kind kind, const Sizes& sizes) {
  const bool is_dino = kind == Kind::kDino;
  layer.LayerNorm(is_dino ? "norm1" : "layernorm_before", sizes.hidden);
  const TowerModule attention =
      layer.Child("attention", RegionKind::kAttention);
  for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
    attention.Linear(name, sizes.hidden, sizes.hidden, sizes.qkv_bias);
  }
  attention.Linear("o_proj", sizes.hidden, sizes.hidden, true);
  if (is_dino) {
    layer.Child("layer_scale1").Parameter("lambda1", {sizes.hidden});
  }
  layer.LayerNorm(is_dino ? "norm2" : "layernorm_after", sizes.hidden);
  AddMlp(layer.Child("mlp", RegionKind::kMlp), sizes);
  if (is_dino) {
    layer.Child("layer_scale2").Parameter("lambda1", {sizes.hidden});
  }
}

void AddHeads(const ConfigView& config, const TowerModule& root,
              std::string_view class_name, Kind kind, const Sizes& sizes) {
  const bool is_base = class_name.ends_with("Model");
  if (is_base) return;
  const int64_t labels = ReadLabelCount(config);
  // DINOv2 reads the class's token beside the mean of the patches.
  const int64_t width = kind == Kind::kDino ? 2 * sizes.hidden : sizes.hidden;
  const auto add = [&](std::string_view name) {
    root.Linear(name, width, labels, true);
  };
  if (class_name.ends_with("WithTeacher")) {
    add("cls_classifier");
    add("distillation_classifier");
    return;
  }
  add("classifier");
}

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name, Kind kind,
                               std::string_view base_name) {
  const Sizes sizes = ReadSizes(config, kind);
  const bool is_base = class_name.ends_with("Model");
  auto model = std::make_unique<ParametersOnly>(
      root, "operations over images are not modelled: only the parameters");
  const TowerModule base = TowerModule(root).Child(is_base ? "" : base_name);
  AddEmbeddings(config, base.Child("embeddings", RegionKind::kEmbedding), kind,
                sizes);
  const TowerModule layers =
      base.Child(kind == Kind::kDino ? "encoder.layer" : "layers");
  for (int64_t index = 0; index < sizes.layers; ++index) {
    AddLayer(layers.Child(index), kind, sizes);
  }
  base.LayerNorm("layernorm", sizes.hidden);
  const int64_t pooled =
      config.OptionalSize({"pooler_output_size"}).value_or(sizes.hidden);
  if (is_base && kind != Kind::kDino) {
    base.Child("pooler").Linear("dense", sizes.hidden, pooled, true);
  }
  AddHeads(config, TowerModule(root), class_name, kind, sizes);
  model->stacks.push_back({"encoder", sizes.layers});
  model->states.resize(static_cast<size_t>(sizes.layers));
  model->context_length = {std::nullopt, "an image's patches"};
  return model;
}

std::unique_ptr<Model> BuildVit(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  return BuildAs(config, root, class_name, Kind::kVit, "vit");
}
std::unique_ptr<Model> BuildDeit(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAs(config, root, class_name, Kind::kDeit, "deit");
}
std::unique_ptr<Model> BuildDino(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAs(config, root, class_name, Kind::kDino, "dinov2");
}

constexpr std::array<std::string_view, 1> kVitTypes = {"vit"};
constexpr std::array<std::string_view, 2> kVitClasses = {
    "ViTModel", "ViTForImageClassification"};
constexpr std::array<std::string_view, 1> kDeitTypes = {"deit"};
constexpr std::array<std::string_view, 3> kDeitClasses = {
    "DeiTModel", "DeiTForImageClassification",
    "DeiTForImageClassificationWithTeacher"};
constexpr std::array<std::string_view, 1> kDinoTypes = {"dinov2"};
constexpr std::array<std::string_view, 2> kDinoClasses = {
    "Dinov2Model", "Dinov2ForImageClassification"};

}  // namespace

extern const Family kVitFamily = {
    .name = "vit",
    .title = "ViT",
    .doc = "A transformer of an image's patches; parameters only.",
    .model_types = kVitTypes,
    .classes = kVitClasses,
    .old_names = {},
    .build = BuildVit,
    .has_operations = false,
};

extern const Family kDeitFamily = {
    .name = "deit",
    .title = "DeiT",
    .doc = "ViT with a token that a teacher labels; parameters only.",
    .model_types = kDeitTypes,
    .classes = kDeitClasses,
    .old_names = {},
    .build = BuildDeit,
    .has_operations = false,
};

extern const Family kDinov2Family = {
    .name = "dinov2",
    .title = "DINOv2",
    .doc = "ViT whose halves are scaled by channel; parameters only.",
    .model_types = kDinoTypes,
    .classes = kDinoClasses,
    .old_names = {},
    .build = BuildDino,
    .has_operations = false,
};

}  // namespace foretell
