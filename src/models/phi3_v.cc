// Phi-3-vision and Phi-3.5-vision: Phi 3 with CLIP's tower beside its table of
// tokens.
//
// transformers 5.23 has no such class. Source: the Phi-3 report (arXiv
// 2404.14219), the published configurations and tensor names, and the header's
// total, which it reproduces.
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/tower_module.h"
#include "models/layers/vit_tower.h"

namespace foretell {
namespace {

// openai/clip-vit-large-patch14-336, which the code names.
VitTower AddClip(const ConfigView& config, const Module& at) {
  const ConfigView processor = config.Nested("img_processor");
  const std::string name =
      processor.Text({"model_name"}, "openai/clip-vit-large-patch14-336");
  if (name != "openai/clip-vit-large-patch14-336") {
    processor.Problem("model_name", "names a tower that is not known here",
                      "known is openai/clip-vit-large-patch14-336");
  }
  processor.Ignore(
      {"name", "image_dim_out", "num_img_tokens", "layer_idx", "type_feature"});
  ConfigValue clip = ConfigValue::Object();
  const auto set = [&clip](std::string_view key, std::string_view number) {
    clip.Set(std::string(key), ConfigValue::Number(std::string(number)));
  };
  set("hidden_size", "1024");
  set("intermediate_size", "4096");
  set("num_hidden_layers", "24");
  set("image_size", "336");
  set("patch_size", "14");
  set("num_channels", "3");
  return AddVitTower(config.NestedOr("_no_such_key", &clip), at,
                     VitKind::kClip);
}

void AddImages(const ConfigView& config, const TowerModule& at,
               int64_t hidden) {
  const ConfigView layer = config.Nested("embd_layer");
  layer.Ignore({"embedding_cls", "hd_transform_order", "use_hd_transform"});
  const std::string projection = layer.Text({"projection_cls"}, "linear");
  const bool separates = layer.Flag({"with_learnable_separator"}, false);
  const VitTower clip =
      AddClip(config, at.Child("img_processor.vision_model").module());
  constexpr int64_t kJoined = 4;  // patches, two by two
  const int64_t wide = clip.hidden * kJoined;
  if (separates) {
    at.Parameter("glb_GN", {1, 1, wide});
    at.Parameter("sub_GN", {1, 1, 1, wide});
  }
  if (projection != "mlp") {
    layer.Problem("projection_cls", "is no projection that is known here",
                  "the published models state mlp");
  }
  const TowerModule projector = at.Child("img_projection");
  projector.Linear("0", wide, hidden, true);
  projector.Linear("2", hidden, hidden, true);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Phi3ForCausalLM",
       .text_name = "model",
       .base_name = "",
       .may_be_flat = true,
       .hidden = 3072},
      [](const Module&, int64_t) {},
      [&](const Module& base, int64_t hidden) {
        AddImages(config, TowerModule(base).Child("model.vision_embed_tokens"),
                  hidden);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"phi3_v"};
constexpr std::array<std::string_view, 1> kClasses = {"Phi3VForCausalLM"};

}  // namespace

extern const Family kPhi3VFamily = {
    .name = "phi3_v",
    .title = "Phi-3-vision",
    .doc = "Phi 3 beside CLIP's tower; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Phi-3 report (arXiv 2404.14219) and published files",
    .has_operations = false,
};

}  // namespace foretell
