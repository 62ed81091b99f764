// OpenVLA: Llama 2 beside DINOv2 and SigLIP, whose features lie side by side.
//
// transformers 5.23 has no such class. Source: "OpenVLA" (arXiv 2406.09246),
// timm 1.0 for the two towers, which the file names, and the published
// configuration, whose header's total it reproduces.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/timm_vit.h"

namespace foretell {
namespace {

constexpr std::array<std::pair<std::string_view, TimmVit>, 2> kTowers = {{
    {"vit_large_patch14_reg4_dinov2.lvd142m",
     {.hidden = 1024,
      .intermediate = 4096,
      .layers = 24,
      .patch = 14,
      .registers = 4,
      .has_class = true,
      .has_scales = true}},
    {"vit_so400m_patch14_siglip_224",
     {.hidden = 1152,
      .intermediate = 4304,
      .layers = 27,
      .patch = 14,
      .pools = true}},
}};

constexpr std::array<std::string_view, 2> kNames = {"featurizer",
                                                    "fused_featurizer"};

// The width of all features.
int64_t AddTowers(const ConfigView& config, const Module& root) {
  const auto ids = config.TextList({"timm_model_ids"});
  const auto sides = config.IntegerList({"image_sizes"});
  constexpr int64_t kSide = 224;
  if (!ids || ids->empty() || ids->size() > kNames.size()) {
    config.Problem("timm_model_ids", "names no tower, or more than two",
                   "write one name or two");
    return 1;
  }
  const TowerModule backbone = TowerModule(root).Child("vision_backbone");
  int64_t width = 0;
  for (size_t i = 0; i < ids->size(); ++i) {
    const auto* const found = std::ranges::find(
        kTowers, (*ids)[i], &std::pair<std::string_view, TimmVit>::first);
    if (found == kTowers.end()) {
      config.Problem("timm_model_ids", "names a tower that is not known here",
                     "known are vit_large_patch14_reg4_dinov2.lvd142m and "
                     "vit_so400m_patch14_siglip_224");
      return 1;
    }
    TimmVit vit = found->second;
    const bool is_stated = sides && i < sides->size();
    vit.image = is_stated ? (*sides)[i] : kSide;
    constexpr int64_t kLargest = 65536;
    if (vit.image < vit.patch || vit.image > kLargest) {
      config.Problem("image_sizes", "holds no side of an image",
                     "the published models state 224");
      return 1;
    }
    AddTimmVit(backbone.Child(kNames[i]), vit);
    width += vit.hidden;
  }
  return width;
}

// LlamaConfig's own, which the file leaves out.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kTextDefaults = {{{"vocab_size", "32000"}}};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"arch_specifier", "hf_llm_id", "image_resize_strategy",
                 "llm_backbone_id", "llm_max_length", "n_action_bins",
                 "norm_stats", "output_projector_states", "pad_to_multiple_of",
                 "pad_token_id", "timm_override_act_layers",
                 "use_fused_vision_backbone", "vision_backbone_id"});
  return MakeComposite(config, root, class_name,
                       {.text_type = "llama",
                        .base_name = "",
                        .holds_head = true,
                        .text_defaults = kTextDefaults},
                       [&](const Module& base, int64_t hidden) {
                         const int64_t width = AddTowers(config, base);
                         const TowerModule projector =
                             TowerModule(base).Child("projector");
                         const int64_t wide = 4 * width;
                         projector.Linear("fc1", width, wide, true);
                         projector.Linear("fc2", wide, hidden, true);
                         projector.Linear("fc3", hidden, hidden, true);
                       });
}

constexpr std::array<std::string_view, 1> kTypes = {"openvla"};
constexpr std::array<std::string_view, 1> kClasses = {
    "OpenVLAForActionPrediction"};

}  // namespace

extern const Family kOpenVlaFamily = {
    .name = "openvla",
    .title = "OpenVLA",
    .doc = "Llama 2 beside DINOv2's and SigLIP's towers; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the OpenVLA report (arXiv 2406.09246) and published files",
    .has_operations = false,
};

}  // namespace foretell
