// Whisper: an encoder of a spectrogram and a decoder that attends to it.
//
// Source: transformers 5.23, models/whisper/modeling_whisper.py and
// configuration_whisper.py. It does not model their operations.
#include <array>

#include "models/family.h"
#include "models/layers/linear.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/speech_layers.h"

namespace foretell {
namespace {

struct Decoder {
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
};

Decoder ReadDecoderKeys(const ConfigView& config) {
  Decoder out;
  out.layers = config.Layers({"decoder_layers"}, 4);
  out.heads = config.Size({"decoder_attention_heads"}, 6);
  out.intermediate = config.Size({"decoder_ffn_dim"}, 1536);
  out.vocabulary = config.Size({"vocab_size"}, 51865);
  out.positions = config.Size({"max_target_positions"}, 448);
  config.Ignore({"decoder_layerdrop", "classifier_proj_size",
                 "use_weighted_layer_sum", "pad_token_id", "bos_token_id",
                 "eos_token_id"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const SpeechEncoder encoder = ReadSpeechEncoder(config, {});
  const Decoder decoder = ReadDecoderKeys(config);
  const bool ties = config.Flag({"tie_word_embeddings"}, true);
  auto model = std::make_unique<ParametersOnly>(
      root, "Whisper's operations are not modelled: only its parameters");
  const bool is_base = class_name.ends_with("Model");
  const Module base = is_base ? root : root.Child("model");
  AddSpeechEncoder(config, base.Child("encoder"), encoder);
  const Module at = base.Child("decoder");
  const Embedding table(at.Child("embed_tokens", RegionKind::kEmbedding),
                        decoder.vocabulary, encoder.hidden);
  table.module.MarkInputEmbeddings();
  const TowerModule plain(at);
  plain.Embedding("embed_positions", decoder.positions, encoder.hidden);
  const TowerModule layers = plain.Child("layers");
  for (int64_t index = 0; index < decoder.layers; ++index) {
    AddSpeechLayer(layers.Child(index), {.hidden = encoder.hidden,
                                         .intermediate = decoder.intermediate,
                                         .crosses = true});
  }
  plain.LayerNorm("layer_norm", encoder.hidden);
  if (!is_base) {
    const Linear head(root.Child("proj_out", RegionKind::kHead), encoder.hidden,
                      decoder.vocabulary, false);
    head.module.MarkOutputEmbeddings();
    if (ties) root.builder().Tie(head.weight, table.weight);
  }
  const int64_t head_dim = encoder.hidden / decoder.heads;
  const LayerState kept = {LayerState::Kind::kFull, decoder.heads, head_dim,
                           head_dim, 0};
  LayerState cross = kept;
  cross.kind = LayerState::Kind::kCross;
  model->stacks = {{"encoder", encoder.layers}, {"decoder", decoder.layers}};
  model->states.resize(static_cast<size_t>(encoder.layers));
  for (int64_t index = 0; index < decoder.layers; ++index) {
    model->states.push_back(kept);
    model->states.push_back(cross);
  }
  model->takes_decoder_ids = true;
  model->context_length = {decoder.positions, "max_target_positions"};
  return model;
}

constexpr std::array<std::string_view, 1> kTypes = {"whisper"};
constexpr std::array<std::string_view, 2> kClasses = {
    "WhisperForConditionalGeneration", "WhisperModel"};

}  // namespace

extern const Family kWhisperFamily = {
    .name = "whisper",
    .title = "Whisper",
    .doc =
        "An encoder of a spectrogram and a decoder that attends to it, whose "
        "keys have no bias; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .has_operations = false,
};

}  // namespace foretell
