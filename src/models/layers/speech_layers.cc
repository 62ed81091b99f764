#include "models/layers/speech_layers.h"
#include "models/layers/fixed_parameter.h"

namespace foretell {
namespace {

void AddAttention(const TowerModule& at, int64_t hidden, bool key_bias) {
  at.Linear("k_proj", hidden, hidden, key_bias);
  for (const std::string_view name : {"v_proj", "q_proj", "out_proj"}) {
    at.Linear(name, hidden, hidden, true);
  }
}

}  // namespace

void AddSpeechLayer(const TowerModule& at, const SpeechLayer& layer) {
  AddAttention(at.Child("self_attn", RegionKind::kAttention), layer.hidden,
               layer.key_bias);
  at.LayerNorm("self_attn_layer_norm", layer.hidden);
  if (layer.crosses) {
    AddAttention(at.Child("encoder_attn", RegionKind::kAttention), layer.hidden,
                 layer.key_bias);
    at.LayerNorm("encoder_attn_layer_norm", layer.hidden);
  }
  at.Linear("fc1", layer.hidden, layer.intermediate, true);
  at.Linear("fc2", layer.intermediate, layer.hidden, true);
  at.LayerNorm("final_layer_norm", layer.hidden);
}

SpeechEncoder ReadSpeechEncoder(const ConfigView& config,
                                const SpeechEncoder& otherwise, bool by_new) {
  SpeechEncoder out;
  if (by_new) {
    out.hidden = config.Size({"d_model", "hidden_size"}, otherwise.hidden);
    out.intermediate = config.Size({"encoder_ffn_dim", "intermediate_size"},
                                   otherwise.intermediate);
    out.layers = config.Layers({"encoder_layers", "num_hidden_layers"},
                               otherwise.layers);
  } else {
    out.hidden = config.Size({"hidden_size", "d_model"}, otherwise.hidden);
    out.intermediate = config.Size({"encoder_ffn_dim"}, otherwise.intermediate);
    out.layers = config.Layers({"num_hidden_layers", "encoder_layers"},
                               otherwise.layers);
  }
  out.bins = config.Size({"num_mel_bins"}, otherwise.bins);
  IgnoreSpeechKeys(config);
  return out;
}

void AddSpeechEncoder(const ConfigView& config, const Module& at,
                      const SpeechEncoder& sizes) {
  const int64_t positions = config.Size({"max_source_positions"}, 1500);
  const TowerModule tower(at);
  constexpr int64_t kKernel = 3;
  tower.Convolution("conv1", {sizes.hidden, sizes.bins, kKernel}, true);
  tower.Convolution("conv2", {sizes.hidden, sizes.hidden, kKernel}, true);
  // Of sines, which no step trains.
  const TowerModule places =
      tower.Child("embed_positions", RegionKind::kEmbedding);
  FixedParameter(places.module(), "weight", {positions, sizes.hidden});
  const TowerModule layers = tower.Child("layers");
  for (int64_t index = 0; index < sizes.layers; ++index) {
    AddSpeechLayer(layers.Child(index), {.hidden = sizes.hidden,
                                         .intermediate = sizes.intermediate});
  }
  tower.LayerNorm("layer_norm", sizes.hidden);
}

void IgnoreSpeechKeys(const ConfigView& config) {
  config.Ignore({"encoder_attention_heads",
                 "encoder_layerdrop",
                 "layerdrop",
                 "activation_function",
                 "activation_dropout",
                 "dropout",
                 "attention_dropout",
                 "scale_embedding",
                 "init_std",
                 "num_key_value_heads",
                 "is_encoder_decoder",
                 "decoder_start_token_id",
                 "median_filter_width",
                 "apply_spec_augment",
                 "mask_time_prob",
                 "mask_time_length",
                 "mask_time_min_masks",
                 "mask_feature_prob",
                 "mask_feature_length",
                 "mask_feature_min_masks",
                 "suppress_tokens",
                 "begin_suppress_tokens",
                 "forced_decoder_ids",
                 "max_length"});
  IgnoreTowerKeys(config);
}

}  // namespace foretell
