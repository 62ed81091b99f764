#include "models/layers/vit_tower.h"

#include <fmt/format.h>

namespace foretell {
namespace {

struct VitSizes {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t channels = 0;
};

bool IsIdefics(VitKind kind) {
  return kind == VitKind::kIdefics || kind == VitKind::kIdefics2;
}

bool IsMiniCpm(VitKind kind) {
  return kind == VitKind::kMiniCpm || kind == VitKind::kMiniCpmShort;
}

VitSizes ReadVitSizes(const ConfigView& config, VitKind kind) {
  VitSizes sizes;
  sizes.hidden =
      config.Size({"hidden_size"}, kind == VitKind::kIdefics ? 1152 : 768);
  sizes.intermediate = config.Size({"intermediate_size"}, 3072);
  sizes.layers = config.Layers({"num_hidden_layers"}, 12);
  if (kind == VitKind::kMiniCpmShort && sizes.layers > 0) --sizes.layers;
  sizes.channels = config.Size({"num_channels"}, 3);
  return sizes;
}

void AddEmbeddings(const ConfigView& config, const TowerModule& at,
                   VitKind kind, const VitSizes& sizes) {
  const TowerModule embeddings = at.Child("embeddings", RegionKind::kEmbedding);
  const bool large_patch = kind == VitKind::kClip || IsIdefics(kind);
  const Sides patch = ReadSides(config, "patch_size", large_patch ? 32 : 16);
  if (kind == VitKind::kSiglip2) {
    const int64_t pixels =
        ProductOf(config, "patch_size", patch.first, patch.second);
    embeddings.Linear("patch_embedding",
                      ProductOf(config, "num_channels", pixels, sizes.channels),
                      sizes.hidden, true);
    embeddings.Embedding("position_embedding",
                         config.Size({"num_patches"}, 256), sizes.hidden);
    config.Ignore({"image_size"});
    return;
  }
  const Sides image = ReadSides(config, "image_size", 224);
  const bool is_clip = kind == VitKind::kClip;
  if (is_clip) embeddings.Parameter("class_embedding", {sizes.hidden});
  embeddings.Convolution(
      "patch_embedding",
      {sizes.hidden, sizes.channels, patch.first, patch.second}, !is_clip);
  const int64_t positions = PatchesOf(config, image, patch) + (is_clip ? 1 : 0);
  embeddings.Embedding("position_embedding", positions, sizes.hidden);
  const bool has_ids = !IsIdefics(kind) && !IsMiniCpm(kind);
  if (has_ids) embeddings.PositionIds(positions);
}

// SigLIP's pooling by attention over one learned query.
void AddPoolingHead(const TowerModule& at, const VitSizes& sizes) {
  const TowerModule head = at.Child("head", RegionKind::kHead);
  head.Parameter("probe", {1, 1, sizes.hidden});
  const TowerModule attention = head.Child("attention", RegionKind::kAttention);
  attention.Parameter("in_proj_weight", {3 * sizes.hidden, sizes.hidden});
  attention.Parameter("in_proj_bias", {3 * sizes.hidden});
  attention.Linear("out_proj", sizes.hidden, sizes.hidden, true);
  head.LayerNorm("layernorm", sizes.hidden);
  const TowerModule mlp = head.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", sizes.hidden, sizes.intermediate, true);
  mlp.Linear("fc2", sizes.intermediate, sizes.hidden, true);
}

}  // namespace

VitKind ReadVitKind(const ConfigView& config, VitKind otherwise) {
  const auto type = config.OptionalText({"model_type"});
  if (!type) return otherwise;
  if (*type == "clip_vision_model") return VitKind::kClip;
  if (*type == "siglip_vision_model") return VitKind::kSiglip;
  if (*type == "siglip2_vision_model") return VitKind::kSiglip2;
  config.Problem("model_type",
                 fmt::format("names no tower that is known here: \"{}\"",
                             type->substr(0, 60)),
                 "known are clip_vision_model, siglip_vision_model and "
                 "siglip2_vision_model");
  return otherwise;
}

void AddVitLayer(const TowerModule& at, VitKind kind, int64_t hidden,
                 int64_t intermediate) {
  const bool norm_first = kind != VitKind::kClip && !IsIdefics(kind);
  if (norm_first) at.LayerNorm("layer_norm1", hidden);
  const TowerModule attention = at.Child("self_attn", RegionKind::kAttention);
  for (const std::string_view name :
       {"k_proj", "v_proj", "q_proj", "out_proj"}) {
    attention.Linear(name, hidden, hidden, true);
  }
  at.LayerNorm(norm_first ? "layer_norm2" : "layer_norm1", hidden);
  const TowerModule mlp = at.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", hidden, intermediate, true);
  mlp.Linear("fc2", intermediate, hidden, true);
  if (!norm_first) at.LayerNorm("layer_norm2", hidden);
}

VitTower AddVitTower(const ConfigView& config, const Module& at, VitKind kind) {
  const VitSizes sizes = ReadVitSizes(config, kind);
  const TowerModule tower(at);
  AddEmbeddings(config, tower, kind, sizes);
  // The name is spelled so in the library.
  if (kind == VitKind::kClip) tower.LayerNorm("pre_layrnorm", sizes.hidden);
  const TowerModule layers = tower.Child("encoder.layers");
  for (int64_t index = 0; index < sizes.layers; ++index) {
    AddVitLayer(layers.Child(index), kind, sizes.hidden, sizes.intermediate);
  }
  tower.LayerNorm("post_layernorm", sizes.hidden);
  const bool may_pool = kind == VitKind::kSiglip || kind == VitKind::kSiglip2;
  if (may_pool && config.Flag({"vision_use_head"}, true)) {
    AddPoolingHead(tower, sizes);
  }
  config.Ignore({"vision_use_head"});
  IgnoreTowerKeys(config);
  return {sizes.hidden, sizes.layers};
}

}  // namespace foretell
