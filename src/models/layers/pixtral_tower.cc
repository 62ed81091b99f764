#include "models/layers/pixtral_tower.h"

#include <algorithm>

#include "models/layers/tower_module.h"

namespace foretell {

int64_t AddPixtralTower(const ConfigView& config, const Module& at) {
  const int64_t hidden = config.Size({"hidden_size"}, 1024);
  const int64_t intermediate = config.Size({"intermediate_size"}, 4096);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 24);
  const int64_t heads = config.Size({"num_attention_heads"}, 16);
  const int64_t channels = config.Size({"num_channels"}, 3);
  const Sides patch = ReadSides(config, "patch_size", 16);
  const TowerModule tower(at);
  tower.Convolution("patch_conv", {hidden, channels, patch.first, patch.second},
                    false);
  tower.RmsNorm("ln_pre", hidden);
  const TowerModule list = tower.Child("transformer.layers");
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule layer = list.Child(index);
    layer.RmsNorm("attention_norm", hidden);
    const TowerModule mlp = layer.Child("feed_forward", RegionKind::kMlp);
    mlp.Linear("gate_proj", hidden, intermediate, false);
    mlp.Linear("up_proj", hidden, intermediate, false);
    mlp.Linear("down_proj", intermediate, hidden, false);
    const TowerModule attention =
        layer.Child("attention", RegionKind::kAttention);
    for (const std::string_view name :
         {"k_proj", "v_proj", "q_proj", "o_proj"}) {
      attention.Linear(name, hidden, hidden, false);
    }
    layer.RmsNorm("ffn_norm", hidden);
  }
  // The class works head_dim out itself, whatever the file states.
  tower.Angles("patch_positional_embedding",
               std::max<int64_t>(hidden / heads / 2, 1));
  config.Ignore({"image_size"});
  IgnoreTowerKeys(config);
  return hidden;
}

}  // namespace foretell
