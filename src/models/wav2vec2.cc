// wav2vec 2.0, HuBERT and WavLM: convolutions over a wave, learned places from
// a wide convolution, and an encoder.
//
// Source: transformers 5.23, models/{wav2vec2,hubert,wavlm}/modeling_*.py and
// configuration_*.py. It does not model their operations.
#include <array>

#include "models/family.h"
#include "models/layers/heads.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/tower_module.h"
#include "models/layers/wave_layers.h"

namespace foretell {
namespace {

void AddPretraining(const ConfigView& config, const TowerModule& root,
                    const WaveSizes& sizes) {
  const int64_t groups = config.Size({"num_codevector_groups"}, 2);
  const int64_t each = config.Size({"num_codevectors_per_group"}, 320);
  const int64_t width = config.Size({"codevector_dim"}, 256);
  const int64_t out = config.Size({"proj_codevector_dim"}, 256);
  const int64_t all =
      ProductOf(config, "num_codevectors_per_group", groups, each);
  const TowerModule quantizer = root.Child("quantizer");
  quantizer.Parameter("codevectors", {1, all, width / groups});
  quantizer.Linear("weight_proj", sizes.channels.back(), all, true);
  root.Linear("project_hid", sizes.hidden, out, true);
  root.Linear("project_q", width, out, true);
}

void AddHead(const ConfigView& config, const TowerModule& root,
             std::string_view class_name, const WaveSizes& sizes, int64_t out) {
  config.Ignore({"num_codevector_groups", "num_codevectors_per_group",
                 "codevector_dim", "proj_codevector_dim", "tdnn_dim",
                 "tdnn_kernel", "tdnn_dilation", "xvector_output_dim",
                 "num_ctc_classes", "classifier_proj_size"});
  const bool weighs = config.Flag({"use_weighted_layer_sum"}, false);
  const bool by_sequence = class_name.ends_with("ForSequenceClassification");
  const bool by_frame = class_name.ends_with("ForAudioFrameClassification");
  if ((by_sequence || by_frame) && weighs) {
    root.Parameter("layer_weights", {sizes.layers + 1});
  }
  if (class_name.ends_with("ForCTC")) {
    root.Linear("lm_head", out, config.Size({"vocab_size"}, 32), true);
  } else if (class_name.ends_with("ForPreTraining")) {
    AddPretraining(config, root, sizes);
  } else if (by_sequence) {
    const int64_t width = config.Size({"classifier_proj_size"}, 256);
    root.Linear("projector", sizes.hidden, width, true);
    root.Linear("classifier", width, ReadLabelCount(config), true);
  } else if (by_frame) {
    root.Linear("classifier", sizes.hidden, ReadLabelCount(config), true);
  }
  config.Ignore({"vocab_size"});
}

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name, WaveKind kind,
                               std::string_view base_name) {
  const WaveSizes sizes = ReadWaveSizes(config, kind);
  IgnoreWaveKeys(config);
  if (kind == WaveKind::kHubert &&
      config.Flag({"conv_pos_batch_norm"}, false)) {
    config.Problem("conv_pos_batch_norm", "is not modelled",
                   "the published models normalize that weight");
  }
  auto model = std::make_unique<ParametersOnly>(
      root, "operations over sounds are not modelled: only the parameters");
  const bool is_base = class_name.ends_with("Model");
  const TowerModule base = TowerModule(root).Child(is_base ? "" : base_name);
  if (sizes.has_mask) base.Parameter("masked_spec_embed", {sizes.hidden});
  AddWaveExtractor(base.Child("feature_extractor"), sizes);
  const TowerModule projection = base.Child("feature_projection");
  const bool has_norm =
      kind != WaveKind::kHubert || config.Flag({"feat_proj_layer_norm"}, true);
  if (has_norm) projection.LayerNorm("layer_norm", sizes.channels.back());
  projection.Linear("projection", sizes.channels.back(), sizes.hidden, true);
  AddWaveEncoder(config, base.Child("encoder"), sizes, kind);
  const int64_t out =
      AddWaveAdapter(config, base.Child("adapter"), sizes.hidden, kind);
  AddHead(config, TowerModule(root), class_name, sizes, out);
  model->stacks.push_back({"encoder", sizes.layers});
  model->states.resize(static_cast<size_t>(sizes.layers));
  model->context_length = {std::nullopt, "places from a convolution"};
  return model;
}

std::unique_ptr<Model> BuildWav2Vec2(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name) {
  return BuildAs(config, root, class_name, WaveKind::kWav2Vec2, "wav2vec2");
}
std::unique_ptr<Model> BuildHubert(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  return BuildAs(config, root, class_name, WaveKind::kHubert, "hubert");
}
std::unique_ptr<Model> BuildWavLm(const ConfigView& config, const Module& root,
                                  std::string_view class_name) {
  return BuildAs(config, root, class_name, WaveKind::kWavLm, "wavlm");
}

constexpr std::array<std::string_view, 1> kWav2Vec2Types = {"wav2vec2"};
constexpr std::array<std::string_view, 5> kWav2Vec2Classes = {
    "Wav2Vec2Model", "Wav2Vec2ForCTC", "Wav2Vec2ForPreTraining",
    "Wav2Vec2ForSequenceClassification", "Wav2Vec2ForAudioFrameClassification"};
constexpr std::array<std::string_view, 1> kHubertTypes = {"hubert"};
constexpr std::array<std::string_view, 3> kHubertClasses = {
    "HubertModel", "HubertForCTC", "HubertForSequenceClassification"};
constexpr std::array<std::string_view, 1> kWavLmTypes = {"wavlm"};
constexpr std::array<std::string_view, 4> kWavLmClasses = {
    "WavLMModel", "WavLMForCTC", "WavLMForSequenceClassification",
    "WavLMForAudioFrameClassification"};

}  // namespace

extern const Family kWav2Vec2Family = {
    .name = "wav2vec2",
    .title = "wav2vec 2.0",
    .doc =
        "Convolutions over a wave and an encoder, whose places come from a "
        "convolution; parameters only.",
    .model_types = kWav2Vec2Types,
    .classes = kWav2Vec2Classes,
    .old_names = {},
    .build = BuildWav2Vec2,
    .has_operations = false,
};

extern const Family kHubertFamily = {
    .name = "hubert",
    .title = "HuBERT",
    .doc = "wav2vec 2.0's encoder; parameters only.",
    .model_types = kHubertTypes,
    .classes = kHubertClasses,
    .old_names = {},
    .build = BuildHubert,
    .has_operations = false,
};

extern const Family kWavLmFamily = {
    .name = "wavlm",
    .title = "WavLM",
    .doc =
        "wav2vec 2.0's encoder with gated relative positions; parameters only.",
    .model_types = kWavLmTypes,
    .classes = kWavLmClasses,
    .old_names = {},
    .build = BuildWavLm,
    .has_operations = false,
};

}  // namespace foretell
