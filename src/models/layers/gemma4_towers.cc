#include "models/layers/gemma4_towers.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/layers/check_fields.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

// A linear whose input and output may be clipped.
struct Clipped {
  bool clips = false;

  void Add(const TowerModule& at, std::string_view name, int64_t in,
           int64_t out) const {
    const TowerModule outer = at.Child(name);
    if (clips) {
      const Module& module = outer.module();
      for (const std::string_view bound :
           {"input_min", "input_max", "output_min", "output_max"}) {
        module.Buffer(bound, {}, module.builder().dtype(), true);
      }
    }
    outer.Linear("linear", in, out, false);
  }
};

// The class knows angles by two axes only; the published files' "default" is
// read as such.
void CheckAxialRope(const ConfigView& config) {
  const ConfigView rope = config.Nested("rope_parameters");
  const std::string type = rope.Text({"rope_type", "type"}, "axial");
  rope.Ignore({"rope_theta"});
  if (type == "axial" || type == "default") return;
  rope.Find("model/rope", Severity::kBlock, "rope_type",
            fmt::format("the tower's rope_type is \"{}\"", type.substr(0, 40)),
            "the class knows axial ones only, and fails as it is built",
            "write axial, or remove the key");
}

// Fields that every configuration class inherits and neither tower reads.
void IgnoreInherited(const ConfigView& config) {
  config.Ignore({"chunk_size_feed_forward", "is_encoder_decoder",
                 "problem_type", "output_hidden_states", "return_dict"});
  IgnoreTowerKeys(config);
}

struct VisionSizes {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t width = 0;   // of all heads
  int64_t narrow = 0;  // of all key and value heads
  int64_t head_dim = 0;
};

void AddVisionLayer(const TowerModule& layer, const VisionSizes& sizes,
                    const Clipped& clipped) {
  const TowerModule attention =
      layer.Child("self_attn", RegionKind::kAttention);
  clipped.Add(attention, "q_proj", sizes.hidden, sizes.width);
  clipped.Add(attention, "k_proj", sizes.hidden, sizes.narrow);
  clipped.Add(attention, "v_proj", sizes.hidden, sizes.narrow);
  clipped.Add(attention, "o_proj", sizes.width, sizes.hidden);
  attention.RmsNorm("q_norm", sizes.head_dim);
  attention.RmsNorm("k_norm", sizes.head_dim);
  const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
  clipped.Add(mlp, "gate_proj", sizes.hidden, sizes.intermediate);
  clipped.Add(mlp, "up_proj", sizes.hidden, sizes.intermediate);
  clipped.Add(mlp, "down_proj", sizes.intermediate, sizes.hidden);
  for (const std::string_view name :
       {"input_layernorm", "post_attention_layernorm",
        "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
    layer.RmsNorm(name, sizes.hidden);
  }
}

struct Channels {
  int64_t first = 128;
  int64_t second = 32;
};

// Those of the two convolutions in front of the conformer.
Channels ReadChannels(const ConfigView& config) {
  constexpr std::string_view kKey = "subsampling_conv_channels";
  if (config.Raw(kKey) == nullptr) return {};
  const auto list = config.IntegerList({kKey});
  const bool fits = list && list->size() >= 2 && (*list)[0] > 0 &&
                    (*list)[1] > 0 && (*list)[0] <= kLargestSize &&
                    (*list)[1] <= kLargestSize;
  if (fits) return {(*list)[0], (*list)[1]};
  config.Problem(kKey, "is no list of two sizes", "write [128, 32]");
  return {};
}

void AddFeedForward(const TowerModule& at, int64_t hidden,
                    const Clipped& clipped) {
  clipped.Add(at, "ffw_layer_1", hidden, 4 * hidden);
  clipped.Add(at, "ffw_layer_2", 4 * hidden, hidden);
  at.RmsNorm("pre_layer_norm", hidden);
  at.RmsNorm("post_layer_norm", hidden);
}

struct AudioSizes {
  int64_t hidden = 0;
  int64_t head_dim = 0;
  int64_t width = 0;  // of all heads
  int64_t kernel = 0;
};

void AddAudioLayer(const TowerModule& layer, const AudioSizes& sizes,
                   const Clipped& clipped) {
  const int64_t hidden = sizes.hidden;
  AddFeedForward(layer.Child("feed_forward1", RegionKind::kMlp), hidden,
                 clipped);
  AddFeedForward(layer.Child("feed_forward2", RegionKind::kMlp), hidden,
                 clipped);
  const TowerModule attention =
      layer.Child("self_attn", RegionKind::kAttention);
  attention.Parameter("per_dim_scale", {sizes.head_dim});
  attention.module().Buffer("softcap", {}, attention.module().builder().dtype(),
                            false);
  for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
    clipped.Add(attention, name, hidden, sizes.width);
  }
  clipped.Add(attention, "post", hidden, hidden);
  attention.Linear("relative_k_proj", hidden, sizes.width, false);
  const TowerModule conv = layer.Child("lconv1d");
  clipped.Add(conv, "linear_start", hidden, 2 * hidden);
  clipped.Add(conv, "linear_end", hidden, hidden);
  conv.Convolution("depthwise_conv1d", {hidden, 1, sizes.kernel}, false);
  conv.RmsNorm("pre_layer_norm", hidden);
  conv.RmsNorm("conv_norm", hidden);
  for (const std::string_view name :
       {"norm_pre_attn", "norm_post_attn", "norm_out"}) {
    layer.RmsNorm(name, hidden);
  }
}

void AddSubsampling(const TowerModule& at, const Channels& channels,
                    int64_t hidden) {
  constexpr int64_t kSide = 3;      // of a convolution's kernel
  constexpr int64_t kMelsKept = 4;  // a quarter of the first's channels
  const TowerModule first = at.Child("layer0");
  first.Convolution("conv", {channels.first, 1, kSide, kSide}, false);
  first.RmsNorm("norm", channels.first);
  const TowerModule second = at.Child("layer1");
  second.Convolution("conv", {channels.second, channels.first, kSide, kSide},
                     false);
  second.RmsNorm("norm", channels.second);
  at.Linear("input_proj_linear", channels.first / kMelsKept * channels.second,
            hidden, false);
}

}  // namespace

int64_t AddGemma4VisionTower(const ConfigView& config, const Module& at) {
  VisionSizes sizes;
  sizes.hidden = config.Size({"hidden_size"}, 768);
  sizes.intermediate = config.Size({"intermediate_size"}, 3072);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 16);
  const int64_t heads = config.Size({"num_attention_heads"}, 12);
  const int64_t kv_heads = config.Size({"num_key_value_heads"}, 12);
  sizes.head_dim = config.Size({"head_dim"}, 64);
  sizes.width = ProductOf(config, "head_dim", heads, sizes.head_dim);
  sizes.narrow = ProductOf(config, "head_dim", kv_heads, sizes.head_dim);
  const int64_t patch = config.Size({"patch_size"}, 16);
  const int64_t positions = config.Size({"position_embedding_size"}, 10240);
  const Clipped clipped = {config.Flag({"use_clipped_linears"}, false)};
  CheckAxialRope(config);
  CheckFields(config, {{"hidden_activation", FieldKind::kText},
                       {"pooling_kernel_size", FieldKind::kWhole},
                       {"attention_bias", FieldKind::kFlag, true}});
  const TowerModule tower(at);
  if (config.Flag({"standardize"}, false)) {
    at.Buffer("std_bias", {sizes.hidden}, at.builder().dtype(), true);
    at.Buffer("std_scale", {sizes.hidden}, at.builder().dtype(), true);
  }
  constexpr int64_t kColors = 3;
  constexpr int64_t kAxes = 2;
  const TowerModule patches =
      tower.Child("patch_embedder", RegionKind::kEmbedding);
  patches.Parameter("position_embedding_table",
                    {kAxes, positions, sizes.hidden});
  const int64_t pixels = ProductOf(config, "patch_size", patch, patch);
  patches.Linear("input_proj", ProductOf(config, "patch_size", kColors, pixels),
                 sizes.hidden, false);
  const TowerModule encoder = tower.Child("encoder");
  // Half a head for each axis, and an angle turns two dims.
  encoder.Angles("rotary_emb", (sizes.head_dim / kAxes + 1) / 2);
  const TowerModule list = encoder.Child("layers");
  for (int64_t index = 0; index < layers; ++index) {
    AddVisionLayer(list.Child(index), sizes, clipped);
  }
  // How many tokens an image gives, and keys that the class does not read.
  config.Ignore({"default_output_length", "image_seq_length",
                 "video_seq_length", "global_head_dim"});
  IgnoreInherited(config);
  return config.OptionalSize({"output_proj_dims"}).value_or(sizes.hidden);
}

int64_t AddGemma4AudioTower(const ConfigView& config, const Module& at) {
  AudioSizes sizes;
  sizes.hidden = config.Size({"hidden_size"}, 1024);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 12);
  const int64_t heads = config.Size({"num_attention_heads"}, 8);
  sizes.head_dim = sizes.hidden / heads;
  sizes.width = heads * sizes.head_dim;
  if (sizes.head_dim == 0) {
    config.Problem("num_attention_heads",
                   "leaves nothing of hidden_size for a head",
                   "choose fewer heads");
    sizes.head_dim = 1;
  }
  sizes.kernel = config.Size({"conv_kernel_size"}, 5);
  const int64_t out = config.Size({"output_proj_dims"}, 1536);
  const Channels channels = ReadChannels(config);
  const Clipped clipped = {config.Flag({"use_clipped_linears"}, true)};
  CheckFields(config, {{"attention_chunk_size", FieldKind::kWhole},
                       {"attention_context_left", FieldKind::kWhole},
                       {"attention_context_right", FieldKind::kWhole},
                       {"attention_logit_cap", FieldKind::kFloat},
                       {"attention_invalid_logits_value", FieldKind::kFloat},
                       {"residual_weight", FieldKind::kFloat},
                       {"gradient_clipping", FieldKind::kFloat}});
  const TowerModule tower(at);
  AddSubsampling(tower.Child("subsample_conv_projection"), channels,
                 sizes.hidden);
  const Module distances = at.Child("rel_pos_enc");
  distances.Buffer("inv_timescales", {1, 1, sizes.hidden / 2},
                   at.builder().dtype(), false);
  const TowerModule list = tower.Child("layers");
  for (int64_t index = 0; index < layers; ++index) {
    AddAudioLayer(list.Child(index), sizes, clipped);
  }
  tower.Linear("output_proj", sizes.hidden, out, true);
  IgnoreInherited(config);
  return out;
}

}  // namespace foretell
