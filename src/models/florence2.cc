// Florence-2: BART beside DaViT, whose blocks attend by windows and then by
// groups of channels.
//
// Source: transformers 5.23, models/florence2/modeling_florence2.py and
// configuration_florence2.py. It does not model their operations.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/linear.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct Davit {
  std::vector<int64_t> widths;
  std::vector<int64_t> depths;
  std::vector<int64_t> patches;
  std::vector<bool> norm_first;
  int64_t channels = 0;
  double ratio = 0;
  bool bias = true;
};

std::vector<int64_t> ReadStages(const ConfigView& config, std::string_view key,
                                const std::vector<int64_t>& otherwise) {
  constexpr int64_t kMost = 65536;
  const auto list = config.IntegerList({key});
  if (!list) return otherwise;
  const bool fits = list->size() == otherwise.size() &&
                    std::ranges::all_of(*list, [](int64_t size) {
                      return size >= 1 && size <= kMost;
                    });
  if (fits) return *list;
  config.Problem(key, "is no list of four sizes up to 65536",
                 "write one for each of four stages");
  return otherwise;
}

std::vector<bool> ReadNormFirst(const ConfigView& config) {
  std::vector<bool> out = {false, true, true, true};
  const ConfigValue* list = config.Raw("patch_prenorm");
  if (list == nullptr || !list->is_array()) return out;
  const auto& items = list->items();
  for (size_t i = 0; i < out.size() && i < items.size(); ++i) {
    out[i] = items[i].AsBool().value_or(out[i]);
  }
  return out;
}

Davit ReadDavit(const ConfigView& config) {
  Davit out;
  out.widths = ReadStages(config, "embed_dim", {128, 256, 512, 1024});
  out.depths = ReadStages(config, "depths", {1, 1, 9, 1});
  out.patches = ReadStages(config, "patch_size", {7, 3, 3, 3});
  out.norm_first = ReadNormFirst(config);
  out.channels = config.Size({"in_channels"}, 3);
  out.ratio = config.Real({"mlp_ratio"}, 4.0);
  constexpr double kMostRatio = 1024;
  if (!(out.ratio > 0 && out.ratio <= kMostRatio)) {
    config.Problem("mlp_ratio", "is no ratio between 0 and 1024",
                   "the published models state 4.0");
    out.ratio = 1;
  }
  out.bias = config.Flag({"qkv_bias"}, true);
  for (int64_t& depth : out.depths) {
    if (config.log().most_layers) {
      depth = std::min(depth, *config.log().most_layers);
    }
  }
  config.Ignore({"num_groups", "patch_stride", "patch_padding",
                 "drop_path_rate", "activation_function"});
  IgnoreTowerKeys(config);
  return out;
}

void AddBlock(const TowerModule& at, const Davit& davit, int64_t width,
              std::string_view attention) {
  constexpr int64_t kKernel = 3;
  const auto wide =
      static_cast<int64_t>(static_cast<double>(width) * davit.ratio);
  at.Convolution("conv1", {width, 1, kKernel, kKernel}, true);
  at.LayerNorm("norm1", width);
  const TowerModule attends = at.Child(attention, RegionKind::kAttention);
  attends.Linear("qkv", width, 3 * width, davit.bias);
  attends.Linear("proj", width, width, true);
  at.Convolution("conv2", {width, 1, kKernel, kKernel}, true);
  at.LayerNorm("norm2", width);
  const TowerModule mlp = at.Child("ffn", RegionKind::kMlp);
  mlp.Linear("fc1", width, wide, true);
  mlp.Linear("fc2", wide, width, true);
}

void AddTower(const TowerModule& at, const Davit& davit) {
  const TowerModule convs = at.Child("convs");
  int64_t in = davit.channels;
  for (size_t i = 0; i < davit.widths.size(); ++i) {
    const TowerModule conv = convs.Child(static_cast<int64_t>(i));
    const int64_t side = davit.patches[i];
    conv.Convolution("conv", {davit.widths[i], in, side, side}, true);
    conv.LayerNorm("norm", davit.norm_first[i] ? in : davit.widths[i]);
    in = davit.widths[i];
  }
  const TowerModule stages = at.Child("blocks");
  for (size_t i = 0; i < davit.widths.size(); ++i) {
    const TowerModule stage = stages.Child(static_cast<int64_t>(i));
    for (int64_t index = 0; index < davit.depths[i]; ++index) {
      const TowerModule block = stage.Child(index);
      AddBlock(block.Child("spatial_block"), davit, davit.widths[i],
               "window_attn");
      AddBlock(block.Child("channel_block"), davit, davit.widths[i],
               "channel_attn");
    }
  }
}

void AddProjector(const ConfigView& config, const TowerModule& at,
                  int64_t width) {
  const int64_t out = config.Size({"projection_dim"}, 1024);
  const int64_t places = config.Size({"max_position_embeddings"}, 50);
  const int64_t frames = config.Size({"max_temporal_embeddings"}, 100);
  at.Linear("image_projection", width, out, false);
  at.LayerNorm("image_proj_norm", out);
  const TowerModule table =
      at.Child("image_position_embed", RegionKind::kEmbedding);
  table.Embedding("row_embeddings", places, width / 2);
  table.Embedding("column_embeddings", places, width - width / 2);
  const Module sums = at.Child("visual_temporal_embed").module();
  sums.Buffer("pos_idx_to_embed", {frames, width}, sums.builder().dtype(),
              true);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"image_token_id", "is_encoder_decoder", "pad_token_id",
                 "eos_token_id", "bos_token_id", "ignore_index", "vocab_size",
                 "projection_dim"});
  const ConfigView text = config.Nested("text_config");
  const bool ties = config.Flag({"tie_word_embeddings"}, true);
  auto model = std::make_unique<ParametersOnly>(
      root, "Florence-2's operations are not modelled: only its parameters");
  const bool is_base = class_name.ends_with("Model");
  const Module base = is_base ? root : root.Child("model");
  const ConfigView vision = config.Nested("vision_config");
  const Davit davit = ReadDavit(vision);
  AddTower(TowerModule(base).Child("vision_tower"), davit);
  AddProjector(vision, TowerModule(base).Child("multi_modal_projector"),
               davit.widths.back());
  text.Ignore({"model_type", "architectures", "torch_dtype", "dtype"});
  const Family* bart = FamilyOfClass("BartModel");
  const size_t first = root.builder().graph().parameters.size();
  const std::unique_ptr<Model> inner =
      bart->build(text, base.Child("language_model"), "BartModel");
  if (!is_base) {
    const Linear head(root.Child("lm_head", RegionKind::kHead),
                      text.Size({"hidden_size", "d_model"}, 1024),
                      text.Size({"vocab_size"}, 50265), false);
    head.module.MarkOutputEmbeddings();
    // BART's shared table comes first of its parameters.
    if (ties) {
      root.builder().Tie(head.weight,
                         ParameterId{static_cast<uint32_t>(first)});
    }
  }
  model->stacks = inner->stacks;
  model->states = inner->states;
  model->context_length = inner->context_length;
  model->takes_decoder_ids = true;
  return model;
}

constexpr std::array<std::string_view, 1> kTypes = {"florence2"};
constexpr std::array<std::string_view, 2> kClasses = {
    "Florence2ForConditionalGeneration", "Florence2Model"};

}  // namespace

extern const Family kFlorence2Family = {
    .name = "florence2",
    .title = "Florence-2",
    .doc =
        "BART beside a tower that attends by windows and by groups of "
        "channels; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .has_operations = false,
};

}  // namespace foretell
