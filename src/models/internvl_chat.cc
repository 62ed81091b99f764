// InternVL 1.5 to 3 as their own code has it: InternLM 2, Qwen, Llama or Phi 3
// beside InternViT, whose neighbouring patches are joined.
//
// transformers 5.23 has no such class. Source: "InternVL 1.5" (arXiv
// 2404.16821), published configurations and tensor names, and headers' totals,
// which it reproduces.
#include <array>
#include <cmath>
#include <string>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct Vit {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  bool qkv_bias = true;
  bool qk_norms = false;
  bool rms = false;
};

void AddNorm(const TowerModule& at, std::string_view name, const Vit& vit) {
  if (vit.rms) {
    at.RmsNorm(name, vit.hidden);
  } else {
    at.LayerNorm(name, vit.hidden);
  }
}

void AddLayer(const TowerModule& layer, const Vit& vit) {
  layer.Parameter("ls1", {vit.hidden});
  layer.Parameter("ls2", {vit.hidden});
  const TowerModule attention = layer.Child("attn", RegionKind::kAttention);
  attention.Linear("qkv", vit.hidden, 3 * vit.hidden, vit.qkv_bias);
  attention.Linear("proj", vit.hidden, vit.hidden, true);
  if (vit.qk_norms) {
    attention.RmsNorm("q_norm", vit.hidden);
    attention.RmsNorm("k_norm", vit.hidden);
  }
  const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", vit.hidden, vit.intermediate, true);
  mlp.Linear("fc2", vit.intermediate, vit.hidden, true);
  AddNorm(layer, "norm1", vit);
  AddNorm(layer, "norm2", vit);
}

int64_t AddInternVit(const ConfigView& config, const Module& at) {
  Vit vit;
  vit.hidden = config.Size({"hidden_size"}, 3200);
  vit.intermediate = config.Size({"intermediate_size"}, 12800);
  vit.qkv_bias = config.Flag({"qkv_bias"}, false);
  vit.qk_norms = config.Flag({"qk_normalization"}, true);
  vit.rms = config.Text({"norm_type"}, "rms_norm") == "rms_norm";
  const int64_t layers = config.Layers({"num_hidden_layers"}, 48);
  const int64_t channels = config.Size({"num_channels"}, 3);
  const Sides image = ReadSides(config, "image_size", 224);
  const Sides patch = ReadSides(config, "patch_size", 14);
  const TowerModule tower(at);
  const TowerModule embeddings =
      tower.Child("embeddings", RegionKind::kEmbedding);
  embeddings.Parameter("class_embedding", {1, 1, vit.hidden});
  embeddings.Parameter("position_embedding",
                       {1, PatchesOf(config, image, patch) + 1, vit.hidden});
  embeddings.Convolution("patch_embedding",
                         {vit.hidden, channels, patch.first, patch.second},
                         true);
  const TowerModule list = tower.Child("encoder.layers");
  for (int64_t index = 0; index < layers; ++index) {
    AddLayer(list.Child(index), vit);
  }
  config.Ignore(
      {"drop_path_rate", "use_flash_attn", "norm_type", "num_hidden_layers"});
  IgnoreTowerKeys(config);
  return vit.hidden;
}

// How many patches are joined into one.
int64_t ReadJoined(const ConfigView& config) {
  const double ratio = config.Real({"downsample_ratio"}, 0.5);
  constexpr double kSmallest = 1.0 / 64;
  if (!(ratio >= kSmallest && ratio <= 1)) {
    config.Problem("downsample_ratio", "is no ratio between 1/64 and 1",
                   "the published models state 0.5");
    return 1;
  }
  const auto side = static_cast<int64_t>(1 / ratio);
  return side * side;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"dynamic_image_size", "force_image_size", "max_dynamic_patch",
                 "min_dynamic_patch", "pad2square", "ps_version",
                 "select_layer", "template", "use_backbone_lora",
                 "use_llm_lora", "use_thumbnail", "_commit_hash",
                 "system_message", "image_fold", "hidden_size",
                 "max_position_embeddings", "num_attention_heads",
                 "num_hidden_layers", "vocab_size"});
  const int64_t joined = ReadJoined(config);
  return MakeComposite(
      config, root, class_name,
      {.text_type = "llama",
       .text_key = "llm_config",
       .base_name = "",
       .holds_head = true,
       .is_whole = true,
       .text_alone_ties = true},
      [&](const Module& base, int64_t hidden) {
        const int64_t width = AddInternVit(config.Nested("vision_config"),
                                           base.Child("vision_model"));
        const int64_t wide =
            ProductOf(config, "downsample_ratio", width, joined);
        const TowerModule projector = TowerModule(base).Child("mlp1");
        projector.LayerNorm("0", wide);
        projector.Linear("1", wide, hidden, true);
        projector.Linear("3", hidden, hidden, true);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"internvl_chat"};
constexpr std::array<std::string_view, 1> kClasses = {"InternVLChatModel"};

}  // namespace

extern const Family kInternVlChatFamily = {
    .name = "internvl_chat",
    .title = "InternVL by its own code",
    .doc =
        "A text model beside InternViT; InternVL 1.5 to 3 as first published; "
        "parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the InternVL report (arXiv 2404.16821) and published "
        "files",
    .has_operations = false,
};

}  // namespace foretell
