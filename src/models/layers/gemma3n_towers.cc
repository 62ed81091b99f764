#include "models/layers/gemma3n_towers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/tower_module.h"

namespace foretell {
namespace {

// A convolution and its norm, under one name.
void AddNormed(const TowerModule& at, std::string_view name,
               const Shape& weight) {
  const TowerModule part = at.Child(name);
  part.Convolution("conv", weight, false);
  part.RmsNorm("bn", weight[0]);
}

// A bottleneck whose convolutions by channel stand before and amid the two
// that mix channels; a kernel of 0: there is none.
struct Bottleneck {
  int64_t start = 0;
  int64_t mid = 0;
  int64_t expansion = 4;
};

void AddBottleneck(const TowerModule& at, const Bottleneck& block, int64_t in,
                   int64_t out, bool is_scaled) {
  const int64_t wide = in * block.expansion;
  if (block.start > 0) {
    AddNormed(at, "dw_start", {in, 1, block.start, block.start});
  }
  AddNormed(at, "pw_exp", {wide, in, 1, 1});
  if (block.mid > 0) AddNormed(at, "dw_mid", {wide, 1, block.mid, block.mid});
  AddNormed(at, "pw_proj", {out, wide, 1, 1});
  if (is_scaled) at.Child("layer_scale").Parameter("gamma", {out});
}

// Attention of many queries to one key, which may be taken at every other
// place.
void AddAttention(const TowerModule& at, int64_t width, int64_t heads,
                  int64_t head_dim, bool is_thinned) {
  at.RmsNorm("norm", width);
  const TowerModule attention = at.Child("attn", RegionKind::kAttention);
  attention.Child("query").Convolution("proj", {heads * head_dim, width, 1, 1},
                                       false);
  for (const std::string_view name : {"key", "value"}) {
    const TowerModule one = attention.Child(name);
    if (is_thinned) {
      one.Convolution("down_conv", {width, 1, 3, 3}, false);
      one.RmsNorm("norm", width);
    }
    one.Convolution("proj", {head_dim, width, 1, 1}, false);
  }
  attention.Child("output").Convolution("proj", {width, heads * head_dim, 1, 1},
                                        false);
  at.Child("layer_scale").Parameter("gamma", {width});
}

// Pairs of attention and a bottleneck without convolutions by channel.
void AddPairs(const TowerModule& stage, int64_t first, int64_t pairs,
              int64_t width, int64_t heads, int64_t head_dim, bool is_thinned) {
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t at = first + 2 * pair;
    AddAttention(stage.Child(at), width, heads, head_dim, is_thinned);
    AddBottleneck(stage.Child(at + 1), {0, 0, 2}, width, width, true);
  }
}

void AddStages(const TowerModule& blocks) {
  const TowerModule edges = blocks.Child(0);
  for (int64_t index = 0; index < 3; ++index) {
    const int64_t in = index == 0 ? 64 : 128;
    const TowerModule block = edges.Child(index);
    block.Convolution("conv_exp", {4 * in, in, 3, 3}, false);
    block.RmsNorm("bn1", 4 * in);
    block.Convolution("conv_pwl", {128, 4 * in, 1, 1}, false);
    block.RmsNorm("bn2", 128);
  }
  const TowerModule second = blocks.Child(1);
  AddBottleneck(second.Child(0), {3, 5, 6}, 128, 256, true);
  for (int64_t index = 1; index < 5; ++index) {
    AddBottleneck(second.Child(index), {index % 2 == 1 ? 5 : 3, 0, 4}, 256, 256,
                  true);
  }
  const TowerModule third = blocks.Child(2);
  AddBottleneck(third.Child(0), {5, 5, 6}, 256, 640, true);
  for (int64_t index = 1; index < 8; ++index) {
    AddBottleneck(third.Child(index), {5, 0, 4}, 640, 640, true);
  }
  AddBottleneck(third.Child(8), {0, 0, 1}, 640, 640, true);
  AddPairs(third, 9, 14, 640, 12, 64, true);
  const TowerModule fourth = blocks.Child(3);
  AddBottleneck(fourth.Child(0), {5, 5, 6}, 640, 1280, true);
  AddPairs(fourth, 1, 19, 1280, 16, 96, false);
}

// Two numbers for each of two convolutions: of time and of frequency.
std::array<int64_t, 2> ReadFrequencies(const ConfigView& config,
                                       std::string_view key,
                                       std::array<int64_t, 2> times,
                                       std::array<int64_t, 2> otherwise,
                                       std::array<int64_t, 2>& first) {
  first = times;
  const ConfigValue* stated = config.Raw(key);
  if (stated == nullptr) {
    config.Ignore({key});
    return otherwise;
  }
  std::array<int64_t, 2> out = otherwise;
  bool is_good = stated->is_array() && stated->items().size() == 2;
  for (size_t i = 0; is_good && i < 2; ++i) {
    const auto& pair = stated->items()[i].items();
    is_good = pair.size() == 2;
    for (size_t axis = 0; is_good && axis < 2; ++axis) {
      const auto whole = pair[axis].AsInteger();
      constexpr int64_t kMost = 4096;
      is_good = whole && *whole > 0 && *whole <= kMost;
      if (is_good) (axis == 0 ? first : out)[i] = *whole;
    }
  }
  config.Ignore({key});
  if (!is_good) {
    config.Problem(key, "is no list of two pairs of small whole numbers",
                   "write [[3, 3], [3, 3]], say");
  }
  return out;
}

void AddFeedForward(const TowerModule& at, int64_t width) {
  at.module().Buffer("gradient_clipping", {}, at.module().builder().dtype(),
                     false);
  at.RmsNorm("pre_layer_norm", width);
  at.Linear("ffw_layer_1", width, 4 * width, false);
  at.Linear("ffw_layer_2", 4 * width, width, false);
  at.RmsNorm("post_layer_norm", width);
}

struct SoundSizes {
  int64_t width = 0;
  int64_t heads = 0;
  int64_t chunk = 0;
  int64_t context = 0;
  int64_t kernel = 0;
};

void AddConformerBlock(const TowerModule& at, const SoundSizes& sizes) {
  const int64_t width = sizes.width;
  const DType dtype = at.module().builder().dtype();
  AddFeedForward(at.Child("ffw_layer_start"), width);
  const TowerModule outer = at.Child("attention", RegionKind::kAttention);
  outer.module().Buffer("gradient_clipping", {}, dtype, false);
  outer.RmsNorm("pre_attn_norm", width);
  const TowerModule inner = outer.Child("attn");
  inner.Parameter("per_dim_scale", {width / sizes.heads});
  const TowerModule relative = inner.Child("relative_position_embedding");
  relative.Linear("pos_proj", width, width, false);
  relative.module().Buffer("inv_timescales", {1, 1, width / 2}, DType::kFloat32,
                           false);
  for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
    inner.Linear(name, width, width, false);
  }
  inner.module().Buffer("q_scale", {}, dtype, false);
  inner.module().Buffer("local_causal_valid_mask", {sizes.chunk, sizes.context},
                        DType::kBool, false);
  inner.module().Buffer("softcap", {}, DType::kFloat32, false);
  outer.Linear("post", width, width, false);
  outer.RmsNorm("post_norm", width);
  const TowerModule light = at.Child("lconv1d");
  light.RmsNorm("pre_layer_norm", width);
  light.Linear("linear_start", width, 2 * width, false);
  light.Convolution("depthwise_conv1d", {width, 1, sizes.kernel}, false);
  light.module().Buffer("gradient_clipping", {}, dtype, false);
  light.RmsNorm("conv_norm", width);
  light.Linear("linear_end", width, width, false);
  AddFeedForward(at.Child("ffw_layer_end"), width);
  at.module().Buffer("gradient_clipping", {}, dtype, false);
  at.RmsNorm("norm", width);
}

// How many frequencies two convolutions leave, a border of one on each side.
int64_t FrequenciesLeft(const ConfigView& config, int64_t from,
                        const std::array<int64_t, 2>& kernels,
                        const std::array<int64_t, 2>& strides) {
  int64_t left = from;
  for (size_t i = 0; i < 2; ++i) {
    if (left + 2 < kernels[i]) {
      config.Problem("input_feat_size",
                     fmt::format("{} frequencies leave nothing", from),
                     "choose more, or smaller kernels");
      return 1;
    }
    left = (left + 2 - kernels[i]) / strides[i] + 1;
  }
  return left;
}

}  // namespace

void AddGemma3nVisionTower(const ConfigView& config, const Module& at) {
  constexpr std::string_view kKnown = "mobilenetv5_300m_enc";
  const std::string name = config.Text({"architecture"}, kKnown);
  if (name != kKnown || config.Has("model_args")) {
    config.Problem("architecture",
                   fmt::format("\"{}\" with these model_args is not modelled",
                               name.substr(0, 60)),
                   fmt::format("{} is, without model_args", kKnown));
  }
  config.Ignore({"do_pooling", "label_names", "num_classes", "model_args"});
  IgnoreTowerKeys(config);
  const TowerModule tower = TowerModule(at).Child("timm_model");
  const TowerModule stem = tower.Child("conv_stem");
  stem.Convolution("conv", {64, 3, 3, 3}, true);
  stem.RmsNorm("bn", 64);
  AddStages(tower.Child("blocks"));
  // Joins the last two stages.
  const TowerModule fusion = tower.Child("msfa");
  AddBottleneck(fusion.Child("ffn"), {0, 0, 2}, 640 + 1280, 2048, false);
  fusion.RmsNorm("norm", 2048);
}

void AddGemma3nAudioTower(const ConfigView& config, const Module& at) {
  SoundSizes sizes;
  sizes.width = config.Size({"hidden_size"}, 1536);
  sizes.heads = config.Size({"conf_num_attention_heads"}, 8);
  const int64_t layers = config.Layers({"conf_num_hidden_layers"}, 12);
  sizes.kernel = config.Size({"conf_conv_kernel_size"}, 5);
  sizes.chunk = config.Size({"conf_attention_chunk_size"}, 12);
  const int64_t left = config.SizeOrZero({"conf_attention_context_left"}, 13);
  const int64_t right = config.SizeOrZero({"conf_attention_context_right"}, 0);
  sizes.context = sizes.chunk + std::max<int64_t>(left - 1, 0) + right;
  const int64_t frequencies = config.Size({"input_feat_size"}, 128);
  std::array<int64_t, 2> kernel_times = {};
  std::array<int64_t, 2> stride_times = {};
  const auto kernels = ReadFrequencies(config, "sscp_conv_kernel_size", {3, 3},
                                       {3, 3}, kernel_times);
  const auto strides = ReadFrequencies(config, "sscp_conv_stride_size", {2, 2},
                                       {2, 2}, stride_times);
  std::vector<int64_t> channels = config.IntegerList({"sscp_conv_channel_size"})
                                      .value_or(std::vector<int64_t>{128, 32});
  const bool has_channels = channels.size() == 2 && channels[0] > 0 &&
                            channels[1] > 0 &&
                            std::max(channels[0], channels[1]) <= 1 << 20;
  if (!has_channels) {
    config.Problem("sscp_conv_channel_size", "is no list of two sizes",
                   "write [128, 32], say");
    channels = {1, 1};
  }
  config.Ignore({"conf_attention_logit_cap", "conf_reduction_factor",
                 "conf_residual_weight", "gradient_clipping",
                 "sscp_conv_group_norm_eps"});
  IgnoreTowerKeys(config);
  const TowerModule tower(at);
  const TowerModule subsample = tower.Child("subsample_conv_projection");
  int64_t in = 1;
  for (size_t i = 0; i < 2; ++i) {
    const TowerModule one = subsample.Child("conv_" + std::to_string(i));
    one.Convolution("conv", {channels[i], in, kernel_times[i], kernels[i]},
                    false);
    one.RmsNorm("norm", channels[i]);
    in = channels[i];
  }
  const int64_t last = FrequenciesLeft(config, frequencies, kernels, strides);
  subsample.Linear("input_proj_linear",
                   ProductOf(config, "sscp_conv_channel_size", in, last),
                   sizes.width, false);
  const TowerModule blocks = tower.Child("conformer");
  for (int64_t layer = 0; layer < layers; ++layer) {
    AddConformerBlock(blocks.Child(layer), sizes);
  }
}

}  // namespace foretell
