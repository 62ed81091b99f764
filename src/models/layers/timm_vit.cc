#include "models/layers/timm_vit.h"

namespace foretell {
namespace {

void AddBlock(const TowerModule& block, const TimmVit& vit) {
  block.LayerNorm("norm1", vit.hidden);
  const TowerModule attention = block.Child("attn", RegionKind::kAttention);
  attention.Linear("qkv", vit.hidden, 3 * vit.hidden, true);
  attention.Linear("proj", vit.hidden, vit.hidden, true);
  if (vit.has_scales) block.Child("ls1").Parameter("gamma", {vit.hidden});
  block.LayerNorm("norm2", vit.hidden);
  const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", vit.hidden, vit.intermediate, true);
  mlp.Linear("fc2", vit.intermediate, vit.hidden, true);
  if (vit.has_scales) block.Child("ls2").Parameter("gamma", {vit.hidden});
}

void AddPool(const TowerModule& pool, const TimmVit& vit) {
  pool.Parameter("latent", {1, 1, vit.hidden});
  pool.Linear("q", vit.hidden, vit.hidden, true);
  pool.Linear("kv", vit.hidden, 2 * vit.hidden, true);
  pool.Linear("proj", vit.hidden, vit.hidden, true);
  pool.LayerNorm("norm", vit.hidden);
  const TowerModule mlp = pool.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", vit.hidden, vit.intermediate, true);
  mlp.Linear("fc2", vit.intermediate, vit.hidden, true);
}

}  // namespace

void AddTimmVit(const TowerModule& at, const TimmVit& vit) {
  constexpr int64_t kColors = 3;
  const int64_t side = vit.image / vit.patch;
  if (vit.has_class) at.Parameter("cls_token", {1, 1, vit.hidden});
  if (vit.registers > 0) {
    at.Parameter("reg_token", {1, vit.registers, vit.hidden});
  }
  at.Parameter("pos_embed", {1, side * side, vit.hidden});
  at.Child("patch_embed", RegionKind::kEmbedding)
      .Convolution("proj", {vit.hidden, kColors, vit.patch, vit.patch}, true);
  const TowerModule blocks = at.Child("blocks");
  for (int64_t index = 0; index < vit.layers; ++index) {
    AddBlock(blocks.Child(index), vit);
  }
  at.LayerNorm("norm", vit.hidden);
  if (vit.pools) AddPool(at.Child("attn_pool", RegionKind::kHead), vit);
}

}  // namespace foretell
