// Kimi-VL: Moonlight, which is DeepSeek-V3's class, beside MoonViT.
//
// transformers 5.23 has no such class. Source: "Kimi-VL" (arXiv 2504.07491),
// the published configuration and tensor names, and the header's total, which
// it reproduces.
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct MoonVit {
  int64_t width = 0;
  int64_t joined = 0;  // of the patches that become one token
};

MoonVit AddMoonVit(const ConfigView& config, const Module& at) {
  const int64_t hidden = config.Size({"hidden_size"}, 1152);
  const int64_t intermediate = config.Size({"intermediate_size"}, 4304);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 27);
  const int64_t rows = config.Size({"init_pos_emb_height"}, 64);
  const int64_t columns = config.Size({"init_pos_emb_width"}, 64);
  const Sides patch = ReadSides(config, "patch_size", 14);
  const Sides merge = ReadSides(config, "merge_kernel_size", 2);
  constexpr int64_t kColors = 3;
  const TowerModule tower(at);
  const TowerModule patches =
      tower.Child("patch_embed", RegionKind::kEmbedding);
  patches.Convolution("proj", {hidden, kColors, patch.first, patch.second},
                      true);
  patches.Child("pos_emb").Parameter("weight", {rows, columns, hidden});
  const TowerModule encoder = tower.Child("encoder");
  const TowerModule blocks = encoder.Child("blocks");
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule block = blocks.Child(index);
    block.LayerNorm("norm0", hidden);
    block.LayerNorm("norm1", hidden);
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear("fc0", hidden, intermediate, true);
    mlp.Linear("fc1", intermediate, hidden, true);
    block.Linear("wqkv", hidden, 3 * hidden, true);
    block.Linear("wo", hidden, hidden, true);
  }
  encoder.LayerNorm("final_layernorm", hidden);
  IgnoreTowerKeys(config);
  const int64_t area =
      ProductOf(config, "merge_kernel_size", merge.first, merge.second);
  return {hidden, ProductOf(config, "merge_kernel_size", hidden, area)};
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"media_placeholder_token_id", "ignore_index", "pad_token_id",
                 "vocab_size"});
  return MakeComposite(
      config, root, class_name,
      {.text_class = "DeepseekV3ForCausalLM",
       .base_name = "",
       .holds_head = true,
       .text_alone_ties = true,
       .hidden = 2048},
      [&](const Module& base, int64_t hidden) {
        const MoonVit tower = AddMoonVit(config.Nested("vision_config"),
                                         base.Child("vision_tower"));
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        projector.LayerNorm("pre_norm", tower.width);
        projector.Linear("linear_1", tower.joined, tower.joined, true);
        projector.Linear("linear_2", tower.joined, hidden, true);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"kimi_vl"};
constexpr std::array<std::string_view, 1> kClasses = {
    "KimiVLForConditionalGeneration"};

}  // namespace

extern const Family kKimiVlFamily = {
    .name = "kimi_vl",
    .title = "Kimi-VL",
    .doc = "DeepSeek-V3's class beside MoonViT; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Kimi-VL report (arXiv 2504.07491) and published files",
    .has_operations = false,
};

}  // namespace foretell
