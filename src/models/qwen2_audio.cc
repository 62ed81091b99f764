// Qwen2-Audio and Voxtral: a text model of its own family beside Whisper's
// encoder.
//
// Source: transformers 5.23, models/qwen2_audio/modeling_qwen2_audio.py and
// models/voxtral/modeling_voxtral.py with their configurations. It does not
// model the towers' operations.
#include <array>
#include <utility>

#include "graph/ops/views.h"
#include "models/composite.h"
#include "models/family.h"
#include "models/layers/functional.h"
#include "models/layers/heads.h"
#include "models/layers/speech_layers.h"

namespace foretell {
namespace {

constexpr SpeechEncoder kLargeWhisper = {
    .hidden = 1280, .intermediate = 5120, .layers = 32, .bins = 128};

// The scores of all tokens but the last beside the labels of all but the
// first, in the type of the scores.
Tensor ShiftedLoss(const Tensor& logits, const Tensor& labels) {
  const Tensor rows = Contiguous(SliceRange(logits, 1, 0, logits.size(1) - 1));
  const Tensor next = Contiguous(SliceRange(labels, 1, 1, labels.size(1)));
  const Tensor flat = View(rows, {-1, rows.size(-1)});
  return CrossEntropy(flat, View(next, {-1}));
}

std::unique_ptr<Model> BuildQwen2Audio(const ConfigView& config,
                                       const Module& root,
                                       std::string_view class_name) {
  config.Ignore(
      {"audio_token_index", "audio_token_id", "ignore_index", "vocab_size"});
  SpeechEncoder encoder;
  return MakeComposite(
      config, root, class_name,
      {.text_type = "qwen2",
       .never_ties = true,
       .run = TextRun{.loss = ShiftedLoss}},
      [&](const Module& base, int64_t) {
        const ConfigView audio = config.Nested("audio_config");
        encoder = ReadSpeechEncoder(audio, kLargeWhisper);
        AddSpeechEncoder(audio, base.Child("audio_tower"), encoder);
      },
      [&](const Module& base, int64_t hidden) {
        TowerModule(base)
            .Child("multi_modal_projector")
            .Linear("linear", encoder.hidden, hidden, true);
      });
}

// VoxtralConfig's own defaults of its text model.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9>
    kVoxtralText = {{{"vocab_size", "131072"},
                     {"hidden_size", "3072"},
                     {"intermediate_size", "8192"},
                     {"num_hidden_layers", "30"},
                     {"num_key_value_heads", "8"},
                     {"max_position_embeddings", "131072"},
                     {"rms_norm_eps", "1e-05"},
                     {"rope_theta", "100000000.0"},
                     {"head_dim", "128"}}};

std::unique_ptr<Model> BuildVoxtral(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  config.Ignore(
      {"audio_token_id", "projector_hidden_act", "hidden_size", "vocab_size"});
  int64_t frames = 0;
  return MakeComposite(
      config, root, class_name,
      {.text_type = "llama",
       .never_ties = true,
       .text_defaults = kVoxtralText,
       .run = TextRun{}},
      [&](const Module& base, int64_t) {
        const ConfigView audio = config.Nested("audio_config");
        const SpeechEncoder encoder =
            ReadSpeechEncoder(audio, kLargeWhisper, true);
        // Neighbouring frames are joined until they are this wide.
        frames = audio.Size({"encoder_ffn_dim", "intermediate_size"}, 5120);
        AddSpeechEncoder(audio, base.Child("audio_tower"), encoder);
      },
      [&](const Module& base, int64_t hidden) {
        const TowerModule projector =
            TowerModule(base).Child("multi_modal_projector");
        projector.Linear("linear_1", frames, hidden, false);
        projector.Linear("linear_2", hidden, hidden, false);
      });
}

constexpr std::array<std::string_view, 1> kQwenTypes = {"qwen2_audio"};
constexpr std::array<std::string_view, 2> kQwenClasses = {
    "Qwen2AudioForConditionalGeneration", "Qwen2AudioModel"};
constexpr std::array<std::string_view, 1> kVoxtralTypes = {"voxtral"};
constexpr std::array<std::string_view, 2> kVoxtralClasses = {
    "VoxtralForConditionalGeneration", "VoxtralModel"};

}  // namespace

extern const Family kQwen2AudioFamily = {
    .name = "qwen2_audio",
    .title = "Qwen2-Audio",
    .doc = "Qwen2 beside Whisper's encoder; steps are of text alone.",
    .model_types = kQwenTypes,
    .classes = kQwenClasses,
    .old_names = {},
    .build = BuildQwen2Audio,
};

extern const Family kVoxtralFamily = {
    .name = "voxtral",
    .title = "Voxtral",
    .doc =
        "Llama beside Whisper's encoder whose frames are joined four by four; "
        "its steps are of text alone.",
    .model_types = kVoxtralTypes,
    .classes = kVoxtralClasses,
    .old_names = {},
    .build = BuildVoxtral,
};

}  // namespace foretell
