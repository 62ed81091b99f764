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
                      Qwen25Kind kind) {
  QwenVision vision = ReadVision(config, 32, 14);
  vision.width = config.Size({"hidden_size"}, 3584);
  const int64_t intermediate = config.Size({"intermediate_size"}, 3420);
  const int64_t out = config.Size({"out_hidden_size"}, 3584);
  ReadMerged(config, vision);
  const bool is_exaone = kind == Qwen25Kind::kExaone;
  const int64_t key_value_heads =
      is_exaone ? config.Size({"num_key_value_heads"}, 8) : vision.heads;
  const int64_t head_dim = vision.width / vision.heads;
  const int64_t fused =
      is_exaone ? vision.width + ProductOf(config, "num_key_value_heads",
                                           head_dim, 2 * key_value_heads)
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
    if (is_exaone) attn.Linear("proj", vision.width, vision.width, true);
    if (kind == Qwen25Kind::kOmni) {
      for (const std::string_view name : {"q", "k", "v"}) {
        attn.Linear(name, vision.width, vision.width, true);
      }
    } else {
      attn.Linear("qkv", vision.width, fused, true);
    }
    if (!is_exaone) attn.Linear("proj", vision.width, vision.width, true);
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear("gate_proj", vision.width, intermediate, true);
    mlp.Linear("up_proj", vision.width, intermediate, true);
    mlp.Linear("down_proj", intermediate, vision.width, true);
  }
  AddMerger(tower, vision, out, true);
  IgnoreTowerKeys(config);
}

namespace {

struct Qwen3Vision {
  QwenVision vision;
  int64_t intermediate = 0;
  int64_t out = 0;
  int64_t positions = 0;
  int64_t deep = 0;  // blocks that feed the text model
};

Qwen3Vision ReadQwen3Vision(const ConfigView& config, bool deep) {
  Qwen3Vision out;
  out.vision = ReadVision(config, 27, 16);
  out.vision.width = config.Size({"hidden_size"}, 1152);
  out.intermediate = config.Size({"intermediate_size"}, 4304);
  out.out = config.Size({"out_hidden_size"}, 3584);
  out.positions = config.Size({"num_position_embeddings"}, 2304);
  ReadMerged(config, out.vision);
  // Three where the key is absent.
  constexpr int64_t kDeepByDefault = 3;
  const auto indexes = config.IntegerList({"deepstack_visual_indexes"});
  if (deep) {
    out.deep = indexes ? static_cast<int64_t>(indexes->size()) : kDeepByDefault;
  }
  IgnoreTowerKeys(config);
  return out;
}

void AddOmniMerger(const TowerModule& merger, const QwenVision& vision,
                   int64_t out, bool norm_behind) {
  merger.LayerNorm("ln_q", norm_behind ? vision.merged : vision.width);
  const TowerModule mlp = merger.Child("mlp", RegionKind::kMlp);
  mlp.Linear("0", vision.merged, vision.merged, true);
  mlp.Linear("2", vision.merged, out, true);
}

}  // namespace

void AddQwen3VlTower(const ConfigView& config, const Module& at, bool deep) {
  const Qwen3Vision read = ReadQwen3Vision(config, deep);
  const TowerModule tower(at);
  AddPatches(tower, read.vision, true);
  tower.Embedding("pos_embed", read.positions, read.vision.width);
  AddAngles(tower, read.vision);
  AddBlocks(tower, read.vision, read.intermediate, "linear_fc1", "linear_fc2");
  AddQwen3Merger(tower.Child("merger"), read.vision, read.out, false);
  const TowerModule list = tower.Child("deepstack_merger_list");
  for (int64_t index = 0; index < read.deep; ++index) {
    AddQwen3Merger(list.Child(index), read.vision, read.out, true);
  }
}

void AddQwen3OmniTower(const ConfigView& config, const Module& at) {
  const Qwen3Vision read = ReadQwen3Vision(config, true);
  config.Ignore({"image_size", "apply_vit_abs_pos_embed"});
  const TowerModule tower(at);
  const TowerModule list = tower.Child("merger_list");
  for (int64_t index = 0; index < read.deep; ++index) {
    AddOmniMerger(list.Child(index), read.vision, read.out, true);
  }
  AddPatches(tower, read.vision, true);
  tower.Embedding("pos_embed", read.positions, read.vision.width);
  AddAngles(tower, read.vision);
  AddBlocks(tower, read.vision, read.intermediate, "linear_fc1", "linear_fc2");
  AddOmniMerger(tower.Child("merger"), read.vision, read.out, false);
}

}  // namespace foretell
