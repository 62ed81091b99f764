// Kimi K2.5, GLM-4.1V and EXAONE 4.5: a text model of its own family beside a
// vision tower.
//
// Source: transformers 5.23, models/kimi_k25/modeling_kimi_k25.py,
// models/glm4v/modeling_glm4v.py and models/exaone4_5/modeling_exaone4_5.py
// with their configurations. It does not model the towers' operations.
#include <algorithm>
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/qwen_vision_tower.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct MoonTower {
  int64_t width = 0;
  int64_t merged = 1;  // patches that one token stands for
};

// MoonViT: positions learned on a grid and turned by two axes.
MoonTower AddMoonTower(const ConfigView& config, const Module& at) {
  const int64_t hidden = config.Size({"hidden_size", "vt_hidden_size"}, 1152);
  const int64_t intermediate =
      config.Size({"intermediate_size", "vt_intermediate_size"}, 4304);
  const int64_t layers =
      config.Layers({"num_hidden_layers", "vt_num_hidden_layers"}, 27);
  const int64_t heads =
      config.Size({"num_attention_heads", "vt_num_attention_heads"}, 16);
  const int64_t rows =
      config.Size({"pos_emb_height", "init_pos_emb_height"}, 64);
  const int64_t columns =
      config.Size({"pos_emb_width", "init_pos_emb_width"}, 64);
  const int64_t frames = config.Size({"pos_emb_time", "init_pos_emb_time"}, 4);
  const Sides patch = ReadSides(config, "patch_size", 14);
  const Sides merge = ReadSides(config, "merge_kernel_size", 2);
  constexpr int64_t kColors = 3;
  const TowerModule tower(at);
  const TowerModule patches =
      tower.Child("patch_embed", RegionKind::kEmbedding);
  patches.Convolution("proj", {hidden, kColors, patch.first, patch.second},
                      true);
  const TowerModule grid = patches.Child("pos_emb");
  grid.Parameter("position_embeddings", {rows, columns, hidden});
  grid.module().Buffer("time_position_embeddings", {frames + 1, hidden},
                       DType::kFloat32, false);
  // A quarter of a head's dims for each axis.
  constexpr int64_t kDimsPerPair = 4;
  tower.Angles("rotary_emb",
               std::max<int64_t>(hidden / heads / kDimsPerPair, 1));
  const TowerModule list = tower.Child("layers");
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule layer = list.Child(index);
    layer.LayerNorm("norm1", hidden);
    layer.LayerNorm("norm2", hidden);
    const TowerModule attention = layer.Child("attn", RegionKind::kAttention);
    for (const std::string_view name : {"proj", "q_proj", "k_proj", "v_proj"}) {
      attention.Linear(name, hidden, hidden, true);
    }
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("fc1", hidden, intermediate, true);
    mlp.Linear("fc2", intermediate, hidden, true);
  }
  tower.LayerNorm("final_layernorm", hidden);
  // Of the tower's own code; the library's class does not read them.
  config.Ignore({"pos_emb_type", "merge_type", "mm_projector_type",
                 "mm_hidden_size", "projector_hidden_act", "projector_ln_eps",
                 "text_hidden_size", "video_attn_type",
                 "temporal_merge_kernel_size", "_attn_implementation"});
  IgnoreTowerKeys(config);
  return {hidden,
          ProductOf(config, "merge_kernel_size", merge.first, merge.second)};
}

std::unique_ptr<Model> BuildKimiK25(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  config.Ignore({"media_placeholder_token_id", "image_token_id",
                 "video_token_id", "vision_start_token_id",
                 "vision_end_token_id", "pad_token_id", "ignore_index",
                 "use_unified_vision_chunk", "video_placeholder",
                 "projection_layer_norm_eps"});
  MoonTower tower;
  return MakeComposite(
      config, root, class_name,
      {.text_class = "DeepseekV3ForCausalLM",
       .ties = true,
       .hidden = 7168,
       .run = TextRun{.copies_ids = true}},
      [&](const Module& base, int64_t) {
        tower = AddMoonTower(config.Nested("vision_config"),
                             base.Child("vision_tower"));
      },
      [&](const Module& base, int64_t hidden) {
        const int64_t width = config.Size({"projection_hidden_size"}, 1152);
        const int64_t joined =
            ProductOf(config, "projection_hidden_size", width, tower.merged);
        const TowerModule projector = TowerModule(base).Child("mm_projector");
        projector.LayerNorm("pre_norm", width);
        projector.Linear("in_proj", joined, joined, true);
        projector.Linear("out_proj", joined, hidden, true);
      });
}

void AddGlmTower(const ConfigView& config, const Module& at) {
  const int64_t depth = config.Layers({"num_hidden_layers", "depth"}, 24);
  const int64_t hidden = config.Size({"hidden_size"}, 1536);
  const int64_t heads = config.Size({"num_attention_heads", "num_heads"}, 12);
  const int64_t channels = config.Size({"in_channels"}, 3);
  const Sides image = ReadSides(config, "image_size", 336);
  const Sides patch = ReadSides(config, "patch_size", 14);
  const int64_t frames = config.Size({"temporal_patch_size"}, 2);
  const int64_t merge = config.Size({"spatial_merge_size"}, 2);
  const int64_t out = config.Size({"out_hidden_size"}, 4096);
  const int64_t intermediate = config.Size({"intermediate_size"}, 13696);
  const bool bias = config.Flag({"attention_bias"}, false);
  const TowerModule tower(at);
  tower.Child("embeddings", RegionKind::kEmbedding)
      .Embedding("position_embedding", PatchesOf(config, image, patch), hidden);
  tower.Child("patch_embed", RegionKind::kEmbedding)
      .Convolution("proj",
                   {hidden, channels, frames, patch.first, patch.second}, true);
  constexpr int64_t kDimsPerPair = 4;
  tower.Angles("rotary_pos_emb",
               std::max<int64_t>(hidden / heads / kDimsPerPair, 1));
  const TowerModule blocks = tower.Child("blocks");
  for (int64_t index = 0; index < depth; ++index) {
    const TowerModule block = blocks.Child(index);
    block.RmsNorm("norm1", hidden);
    block.RmsNorm("norm2", hidden);
    const TowerModule attn = block.Child("attn", RegionKind::kAttention);
    attn.Linear("qkv", hidden, 3 * hidden, bias);
    attn.Linear("proj", hidden, hidden, false);
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear("gate_proj", hidden, out, false);
    mlp.Linear("up_proj", hidden, out, false);
    mlp.Linear("down_proj", out, hidden, false);
  }
  const TowerModule merger = tower.Child("merger");
  merger.Linear("proj", out, out, false);
  merger.LayerNorm("post_projection_norm", out);
  merger.Linear("gate_proj", out, intermediate, false);
  merger.Linear("up_proj", out, intermediate, false);
  merger.Linear("down_proj", intermediate, out, false);
  tower.RmsNorm("post_conv_layernorm", hidden);
  tower.Convolution("downsample", {out, hidden, merge, merge}, true);
  tower.RmsNorm("post_layernorm", hidden);
  IgnoreTowerKeys(config);
}

// Glm4vTextConfig's, whose keys a file without a text_config cannot state.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6>
    kGlmTextDefaults = {{{"attention_bias", "true"},
                         {"head_dim", "128"},
                         {"max_position_embeddings", "32768"},
                         {"num_key_value_heads", "2"},
                         {"partial_rotary_factor", "1.0"},
                         {"rms_norm_eps", "1e-05"}}};

std::unique_ptr<Model> BuildGlm4v(const ConfigView& config, const Module& root,
                                  std::string_view class_name) {
  config.Ignore({"image_token_id", "video_token_id", "image_start_token_id",
                 "image_end_token_id", "video_start_token_id",
                 "video_end_token_id"});
  return MakeComposite(config, root, class_name,
                       {.text_class = "Glm4ForCausalLM",
                        .text_ties_too = true,
                        .text_defaults = kGlmTextDefaults},
                       [&](const Module& base, int64_t) {
                         AddGlmTower(config.Nested("vision_config"),
                                     base.Child("visual"));
                       });
}

std::unique_ptr<Model> BuildExaone45(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  config.Ignore({"image_token_id", "video_token_id", "vision_start_token_id",
                 "vision_end_token_id", "pad_token_id"});
  return MakeComposite(config, root, class_name,
                       {.text_class = "Exaone4ForCausalLM", .run = TextRun{}},
                       [&](const Module& base, int64_t) {
                         AddQwen25VlTower(config.Nested("vision_config"),
                                          base.Child("visual"),
                                          Qwen25Kind::kExaone);
                       });
}

constexpr std::array<std::string_view, 1> kKimiTypes = {"kimi_k25"};
constexpr std::array<std::string_view, 2> kKimiClasses = {
    "Kimi_K25ForConditionalGeneration", "Kimi_K25Model"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kKimiOldNames = {{{"KimiK25ForConditionalGeneration",
                       "Kimi_K25ForConditionalGeneration"}}};
constexpr std::array<std::string_view, 1> kGlm4vTypes = {"glm4v"};
constexpr std::array<std::string_view, 2> kGlm4vClasses = {
    "Glm4vForConditionalGeneration", "Glm4vModel"};
constexpr std::array<std::string_view, 1> kExaoneTypes = {"exaone4_5"};
constexpr std::array<std::string_view, 2> kExaoneClasses = {
    "Exaone4_5_ForConditionalGeneration", "Exaone4_5_Model"};

}  // namespace

extern const Family kKimiK25Family = {
    .name = "kimi_k25",
    .title = "Kimi K2.5",
    .doc =
        "Kimi K2, which is DeepSeek-V3's class, beside a tower for images and "
        "films; its steps are of text alone.",
    .model_types = kKimiTypes,
    .classes = kKimiClasses,
    .old_names = kKimiOldNames,
    .build = BuildKimiK25,
};

extern const Family kGlm4vFamily = {
    .name = "glm4v",
    .title = "GLM-4.1V",
    .doc = "GLM-4-0414's decoder beside a tower; parameters only.",
    .model_types = kGlm4vTypes,
    .classes = kGlm4vClasses,
    .old_names = {},
    .build = BuildGlm4v,
    .has_operations = false,
};

extern const Family kExaone45Family = {
    .name = "exaone4_5",
    .title = "EXAONE 4.5",
    .doc = "EXAONE 4 beside Qwen2.5-VL's tower; its steps are of text alone.",
    .model_types = kExaoneTypes,
    .classes = kExaoneClasses,
    .old_names = {},
    .build = BuildExaone45,
};

}  // namespace foretell
