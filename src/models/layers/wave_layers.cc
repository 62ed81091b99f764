#include "models/layers/wave_layers.h"

#include <algorithm>
#include <string>

namespace foretell {
namespace {

std::vector<int64_t> ReadList(const ConfigView& config, std::string_view key,
                              std::vector<int64_t> otherwise) {
  constexpr size_t kMost = 64;
  const auto list = config.IntegerList({key});
  if (!list) return otherwise;
  const bool fits = !list->empty() && list->size() <= kMost &&
                    std::ranges::all_of(*list, [](int64_t size) {
                      return size >= 1 && size <= kLargestSize;
                    });
  if (fits) return *list;
  config.Problem(key, "is no list of up to 64 sizes",
                 "the published models list seven");
  return otherwise;
}

void AddAttention(const ConfigView& config, const TowerModule& at,
                  const WaveSizes& sizes, WaveKind kind, bool is_first) {
  const int64_t hidden = sizes.hidden;
  if (kind == WaveKind::kWavLm) {
    at.Parameter("gru_rel_pos_const", {1, sizes.heads, 1, 1});
  }
  for (const std::string_view name :
       {"k_proj", "v_proj", "q_proj", "out_proj"}) {
    at.Linear(name, hidden, hidden, true);
  }
  if (kind != WaveKind::kWavLm) return;
  constexpr int64_t kGates = 8;
  at.Linear("gru_rel_pos_linear", hidden / sizes.heads, kGates, true);
  if (is_first) {
    at.Embedding("rel_attn_embed", config.Size({"num_buckets"}, 320),
                 sizes.heads);
  }
}

}  // namespace

WaveSizes ReadWaveSizes(const ConfigView& config, WaveKind kind) {
  WaveSizes out;
  out.hidden = config.Size({"hidden_size"}, 768);
  out.intermediate = config.Size({"intermediate_size"}, 3072);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  out.heads = config.Size({"num_attention_heads"}, 12);
  out.channels =
      ReadList(config, "conv_dim", {512, 512, 512, 512, 512, 512, 512});
  out.kernels = ReadList(config, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  if (out.channels.size() != out.kernels.size()) {
    config.Problem("conv_kernel", "lists not as many sizes as conv_dim",
                   "list one for each convolution");
    out.kernels = std::vector<int64_t>(out.channels.size(), 1);
  }
  out.conv_bias = config.Flag({"conv_bias"}, false);
  out.norms_all = config.Text({"feat_extract_norm"}, "group") == "layer";
  const double masked_time = config.Real({"mask_time_prob"}, 0.05);
  const double masked_features = config.Real({"mask_feature_prob"}, 0);
  out.has_mask = masked_time > 0 || masked_features > 0;
  out.places_kernel = config.Size({"num_conv_pos_embeddings"}, 128);
  out.places_groups = config.Size({"num_conv_pos_embedding_groups"}, 16);
  if (out.hidden % out.places_groups != 0) {
    config.Problem("num_conv_pos_embedding_groups",
                   "does not divide hidden_size", "choose a divisor");
  }
  const bool is_stable = config.Flag({"do_stable_layer_norm"}, false);
  if (kind != WaveKind::kWavLm && is_stable) {
    out.adapter_width = config.OptionalSize({"adapter_attn_dim"}).value_or(0);
  }
  config.Ignore({"adapter_attn_dim"});
  return out;
}

void IgnoreWaveKeys(const ConfigView& config) {
  config.Ignore({"conv_stride",
                 "feat_extract_activation",
                 "feat_extract_dropout",
                 "feat_proj_dropout",
                 "feat_quantizer_dropout",
                 "final_dropout",
                 "activation_dropout",
                 "hidden_dropout",
                 "layerdrop",
                 "apply_spec_augment",
                 "mask_time_length",
                 "mask_time_min_masks",
                 "mask_feature_length",
                 "mask_feature_min_masks",
                 "mask_channel_length",
                 "mask_channel_min_space",
                 "mask_channel_other",
                 "mask_channel_prob",
                 "mask_channel_selection",
                 "mask_time_min_space",
                 "mask_time_other",
                 "mask_time_selection",
                 "contrastive_logits_temperature",
                 "num_negatives",
                 "diversity_loss_weight",
                 "ctc_loss_reduction",
                 "ctc_zero_infinity",
                 "num_feat_extract_layers",
                 "max_bucket_distance",
                 "pad_token_id",
                 "bos_token_id",
                 "eos_token_id",
                 "adapter_stride"});
  IgnoreTowerKeys(config);
}

void AddWaveExtractor(const TowerModule& at, const WaveSizes& sizes) {
  const TowerModule list = at.Child("conv_layers");
  int64_t in = 1;
  for (size_t i = 0; i < sizes.channels.size(); ++i) {
    const int64_t out = sizes.channels[i];
    const TowerModule layer = list.Child(static_cast<int64_t>(i));
    layer.Convolution("conv", {out, in, sizes.kernels[i]}, sizes.conv_bias);
    if (i == 0 || sizes.norms_all) layer.LayerNorm("layer_norm", out);
    in = out;
  }
}

void AddWaveEncoder(const ConfigView& config, const TowerModule& at,
                    const WaveSizes& sizes, WaveKind kind) {
  const int64_t hidden = sizes.hidden;
  const TowerModule places =
      at.Child("pos_conv_embed", RegionKind::kEmbedding).Child("conv");
  places.Parameter("bias", {hidden});
  const TowerModule weight = places.Child("parametrizations.weight");
  weight.Parameter("original0", {1, 1, sizes.places_kernel});
  weight.Parameter("original1",
                   {hidden, hidden / sizes.places_groups, sizes.places_kernel});
  at.LayerNorm("layer_norm", hidden);
  const TowerModule layers = at.Child("layers");
  for (int64_t index = 0; index < sizes.layers; ++index) {
    const TowerModule layer = layers.Child(index);
    AddAttention(config, layer.Child("attention", RegionKind::kAttention),
                 sizes, kind, index == 0);
    layer.LayerNorm("layer_norm", hidden);
    const TowerModule mlp = layer.Child("feed_forward", RegionKind::kMlp);
    mlp.Linear("intermediate_dense", hidden, sizes.intermediate, true);
    mlp.Linear("output_dense", sizes.intermediate, hidden, true);
    layer.LayerNorm("final_layer_norm", hidden);
    if (sizes.adapter_width == 0) continue;
    const TowerModule adapter = layer.Child("adapter_layer");
    adapter.LayerNorm("norm", hidden);
    adapter.Linear("linear_1", hidden, sizes.adapter_width, true);
    adapter.Linear("linear_2", sizes.adapter_width, hidden, true);
  }
}

int64_t AddWaveAdapter(const ConfigView& config, const TowerModule& at,
                       int64_t hidden, WaveKind kind) {
  const int64_t kernel = config.Size({"adapter_kernel_size"}, 3);
  const int64_t layers = config.Layers({"num_adapter_layers"}, 3);
  const int64_t out =
      config.OptionalSize({"output_hidden_size"}).value_or(hidden);
  const bool adds =
      kind != WaveKind::kHubert && config.Flag({"add_adapter"}, false);
  config.Ignore({"add_adapter"});
  if (!adds) return hidden;
  if (out != hidden) {
    at.Linear("proj", hidden, out, true);
    at.LayerNorm("proj_layer_norm", out);
  }
  const TowerModule list = at.Child("layers");
  for (int64_t index = 0; index < layers; ++index) {
    list.Child(index).Convolution("conv", {2 * out, out, kernel}, true);
  }
  return out;
}

}  // namespace foretell
