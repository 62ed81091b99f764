#include "models/layers/qwen_vision_tower.h"

#include <algorithm>

#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct QwenVision {
  int64_t depth = 0;
  int64_t width = 0;
  int64_t heads = 0;
  int64_t channels = 0;
  int64_t frames = 0;
  Sides patch;
  int64_t merge = 0;
  int64_t merged = 0;  // width * merge^2
};

QwenVision ReadVision(const ConfigView& config, int64_t depth, int64_t patch) {
  QwenVision out;
  out.depth = config.Layers({"num_hidden_layers", "depth"}, depth);
  out.heads = config.Size({"num_attention_heads", "num_heads"}, 16);
  // Files say in_chans, which the class does not read.
  out.channels = config.Size({"in_channels"}, 3);
  out.frames = config.Size({"temporal_patch_size"}, 2);
  out.patch = ReadSides(config, "patch_size", patch);
  out.merge = config.Size({"spatial_merge_size"}, 2);
  config.Ignore({"in_chans", "spatial_patch_size"});
  return out;
}

void ReadMerged(const ConfigView& config, QwenVision& vision) {
  const int64_t area =
      ProductOf(config, "spatial_merge_size", vision.merge, vision.merge);
  vision.merged = ProductOf(config, "spatial_merge_size", vision.width, area);
}

void AddPatches(const TowerModule& tower, const QwenVision& vision, bool bias) {
  tower.Child("patch_embed", RegionKind::kEmbedding)
      .Convolution("proj",
                   {vision.width, vision.channels, vision.frames,
                    vision.patch.first, vision.patch.second},
                   bias);
}

void AddAngles(const TowerModule& tower, const QwenVision& vision) {
  // Half of a head's dims for each axis, in pairs.
  constexpr int64_t kDimsPerPair = 4;
  tower.Angles(
      "rotary_pos_emb",
      std::max<int64_t>(vision.width / vision.heads / kDimsPerPair, 1));
}

// What Qwen2-VL and Qwen2.5-VL join the tower to the text model with.
void AddMerger(const TowerModule& tower, const QwenVision& vision, int64_t out,
               bool rms) {
  const TowerModule merger = tower.Child("merger");
  if (rms) {
    merger.RmsNorm("ln_q", vision.width);
  } else {
    merger.LayerNorm("ln_q", vision.width);
  }
  const TowerModule mlp = merger.Child("mlp", RegionKind::kMlp);
  mlp.Linear("0", vision.merged, vision.merged, true);
  mlp.Linear("2", vision.merged, out, true);
}

void AddQwen3Merger(const TowerModule& merger, const QwenVision& vision,
                    int64_t out, bool norm_behind) {
  merger.LayerNorm("norm", norm_behind ? vision.merged : vision.width);
  merger.Linear("linear_fc1", vision.merged, vision.merged, true);
  merger.Linear("linear_fc2", vision.merged, out, true);
}

// Blocks of two LayerNorms, fused queries, keys and values, and an MLP whose
// layers each class names its own way.
void AddBlocks(const TowerModule& tower, const QwenVision& vision,
               int64_t intermediate, std::string_view first,
               std::string_view second) {
  const TowerModule blocks = tower.Child("blocks");
  for (int64_t index = 0; index < vision.depth; ++index) {
    const TowerModule block = blocks.Child(index);
    block.LayerNorm("norm1", vision.width);
    block.LayerNorm("norm2", vision.width);
    const TowerModule attn = block.Child("attn", RegionKind::kAttention);
    attn.Linear("qkv", vision.width, 3 * vision.width, true);
    attn.Linear("proj", vision.width, vision.width, true);
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear(first, vision.width, intermediate, true);
    mlp.Linear(second, intermediate, vision.width, true);
  }
}

}  // namespace

void AddQwen2VlTower(const ConfigView& config, const Module& at) {
  QwenVision vision = ReadVision(config, 32, 14);
  vision.width = config.Size({"embed_dim"}, 1280);
  const int64_t out = config.Size({"hidden_size"}, 3584);
  const int64_t intermediate = ProductOf(config, "mlp_ratio", vision.width,
                                         config.Size({"mlp_ratio"}, 4));
  ReadMerged(config, vision);
  const TowerModule tower(at);
  AddPatches(tower, vision, false);
  AddAngles(tower, vision);
  AddBlocks(tower, vision, intermediate, "fc1", "fc2");
  AddMerger(tower, vision, out, false);
  IgnoreTowerKeys(config);
}

void AddQwen25VlTower(const ConfigView& config, const Module& at,
                      bool has_key_value_heads) {
  QwenVision vision = ReadVision(config, 32, 14);
  vision.width = config.Size({"hidden_size"}, 3584);
  const int64_t intermediate = config.Size({"intermediate_size"}, 3420);
  const int64_t out = config.Size({"out_hidden_size"}, 3584);
  ReadMerged(config, vision);
  const int64_t key_value_heads = has_key_value_heads
                                      ? config.Size({"num_key_value_heads"}, 8)
                                      : vision.heads;
  const int64_t head_dim = vision.width / vision.heads;
  const int64_t fused =
      has_key_value_heads
          ? vision.width + ProductOf(config, "num_key_value_heads", head_dim,
                                     2 * key_value_heads)
          : 3 * vision.width;
  const TowerModule tower(at);
  AddPatches(tower, vision, false);
  AddAngles(tower, vision);
  const TowerModule blocks = tower.Child("blocks");
  for (int64_t index = 0; index < vision.depth; ++index) {
    const TowerModule block = blocks.Child(index);
    block.RmsNorm("norm1", vision.width);
    block.RmsNorm("norm2", vision.width);
    const TowerModule attn = block.Child("attn", RegionKind::kAttention);
    if (has_key_value_heads) {
      attn.Linear("proj", vision.width, vision.width, true);
      attn.Linear("qkv", vision.width, fused, true);
    } else {
      attn.Linear("qkv", vision.width, fused, true);
      attn.Linear("proj", vision.width, vision.width, true);
    }
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear("gate_proj", vision.width, intermediate, true);
    mlp.Linear("up_proj", vision.width, intermediate, true);
    mlp.Linear("down_proj", intermediate, vision.width, true);
  }
  AddMerger(tower, vision, out, true);
  IgnoreTowerKeys(config);
}

void AddQwen3VlTower(const ConfigView& config, const Module& at, bool deep) {
  QwenVision vision = ReadVision(config, 27, 16);
  vision.width = config.Size({"hidden_size"}, 1152);
  const int64_t intermediate = config.Size({"intermediate_size"}, 4304);
  const int64_t out = config.Size({"out_hidden_size"}, 3584);
  const int64_t positions = config.Size({"num_position_embeddings"}, 2304);
  ReadMerged(config, vision);
  // Which blocks feed the text model; three where the key is absent.
  constexpr size_t kDeepByDefault = 3;
  const auto indexes = config.IntegerList({"deepstack_visual_indexes"});
  const size_t deep_mergers =
      deep ? (indexes ? indexes->size() : kDeepByDefault) : 0;
  const TowerModule tower(at);
  AddPatches(tower, vision, true);
  tower.Embedding("pos_embed", positions, vision.width);
  AddAngles(tower, vision);
  AddBlocks(tower, vision, intermediate, "linear_fc1", "linear_fc2");
  AddQwen3Merger(tower.Child("merger"), vision, out, false);
  const TowerModule list = tower.Child("deepstack_merger_list");
  for (size_t i = 0; i < deep_mergers; ++i) {
    AddQwen3Merger(list.Child(static_cast<int64_t>(i)), vision, out, true);
  }
  IgnoreTowerKeys(config);
}

}  // namespace foretell
