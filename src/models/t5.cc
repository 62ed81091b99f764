// T5, mT5 and UMT5: the encoder-decoders of Google's T5, T5 1.1, Flan-T5, ByT5
// and mT5, and the text encoders of many image models.
//
// mT5 differs in its defaults and scales nothing; each layer of UMT5 has its
// own bias by distance.
// Source: transformers 5.23, models/{t5,mt5,umt5}/modeling_*.py and
// configuration_*.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/read_t5.h"
#include "models/layers/shift_right.h"
#include "models/layers/t5_stack.h"

namespace foretell {
namespace {

enum class T5Head { kNone, kLm, kSequence, kToken, kAnswer };

struct T5Class {
  std::string_view name;
  T5Head head;
  bool has_decoder;
};

// By UMT5's names; the others lack the first letters.
constexpr std::array<T5Class, 6> kTable = {{
    {"UMT5ForConditionalGeneration", T5Head::kLm, true},
    {"UMT5Model", T5Head::kNone, true},
    {"UMT5EncoderModel", T5Head::kNone, false},
    {"UMT5ForSequenceClassification", T5Head::kSequence, true},
    {"UMT5ForTokenClassification", T5Head::kToken, false},
    {"UMT5ForQuestionAnswering", T5Head::kAnswer, true},
}};

constexpr auto ClassesWithout(size_t letters) {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = kTable[i].name.substr(letters);
  }
  return names;
}
constexpr auto kUmt5Classes = ClassesWithout(0);
constexpr auto kMt5Classes = ClassesWithout(1);
constexpr auto kClasses = ClassesWithout(2);

class T5 : public Model {
 public:
  T5(const Module& root, const T5Config& config, const T5Class& which)
      : config_(config),
        head_(which.head),
        root_(root),
        base_(head_ == T5Head::kSequence || head_ == T5Head::kToken
                  ? root.Child("transformer")
                  : root),
        shared_(base_.Child("shared", RegionKind::kEmbedding),
                config.vocabulary, config.layer.width),
        encoder_(base_.Child("encoder"), config.layer, config.vocabulary,
                 config.encoder_layers,
                 config.is_decoder && !which.has_decoder) {
    if (which.has_decoder) {
      decoder_.emplace(base_.Child("decoder"), config.layer, config.vocabulary,
                       config.decoder_layers, true);
    }
    AddHead();
    if (!config.tie_embeddings) return;
    Builder& builder = root.builder();
    builder.Tie(encoder_.embed_tokens.weight, shared_.weight);
    if (decoder_) builder.Tie(decoder_->embed_tokens.weight, shared_.weight);
    if (head_ == T5Head::kLm) builder.Tie(out_->weight, shared_.weight);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor& labels = inputs.labels;
    switch (head_) {
      case T5Head::kLm: {
        const Decoded decoded = RunBoth(inputs, labels, true);
        const Tensor hidden = Scale(decoded.hidden);
        const Tensor logits = out_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case T5Head::kNone:
        // The decoder's tokens are an input of their own.
        return decoder_ ? RunBoth(inputs, labels, false).hidden
                        : RunEncoder(inputs);
      case T5Head::kSequence:
        root_.builder().Fail("which tokens end a sequence depends on the data");
        return inputs.input_ids;
      case T5Head::kToken: {
        const Tensor hidden = dropout_->Forward(RunEncoder(inputs));
        const Tensor logits = out_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case T5Head::kAnswer: {
        const Decoded decoded = RunBoth(inputs, inputs.input_ids, true);
        return StartLogits(out_->Forward(decoded.hidden), inputs);
      }
    }
    return inputs.input_ids;
  }

 private:
  // Names that the class's forward holds to its end.
  struct Decoded {
    Tensor ids;
    Tensor hidden;
  };

  void AddHead() {
    const int64_t width = config_.layer.width;
    switch (head_) {
      case T5Head::kNone:
        return;
      case T5Head::kLm:
        out_.emplace(root_.Child("lm_head", RegionKind::kHead), width,
                     config_.vocabulary, false);
        out_->module.MarkOutputEmbeddings();
        return;
      case T5Head::kSequence: {
        const Module head =
            root_.Child("classification_head", RegionKind::kHead);
        dense_.emplace(head.Child("dense", RegionKind::kHead), width, width,
                       true);
        dropout_.emplace(head.Child("dropout"), config_.classifier_dropout);
        out_.emplace(head.Child("out_proj", RegionKind::kHead), width,
                     config_.labels.count, true);
        return;
      }
      case T5Head::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        out_.emplace(root_.Child("classifier", RegionKind::kHead), width,
                     config_.labels.count, true);
        return;
      case T5Head::kAnswer:
        out_.emplace(root_.Child("qa_outputs", RegionKind::kHead), width,
                     config_.labels.count, true);
        return;
    }
  }

  // T5EncoderModel, which is the root or below a classifier.
  Tensor RunEncoder(const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    return encoder_.Forward(inputs.input_ids, Tensor(), inputs.attention,
                            inputs.attention_mask);
  }

  // Encoder and decoder; the decoder reads `targets`, moved on by one where
  // `shift` is set.
  Decoded RunBoth(const ForwardInputs& inputs, const Tensor& targets,
                  bool shift) const {
    Builder& builder = root_.builder();
    const bool is_told = !inputs.decoder_ids.empty();
    if ((targets.empty() || inputs.past > 0) && !is_told) {
      builder.Fail("the decoder has no tokens to read");
      return {inputs.input_ids, inputs.input_ids};
    }
    Tensor ids = inputs.decoder_ids;
    if (!is_told && head_ == T5Head::kAnswer) ids = Shift(targets);
    const EncoderDecoderSizes sizes = {
        config_.decoder_layers, config_.layer.heads, config_.layer.head_dim,
        config_.layer.width};
    EncoderDecoderCache cache =
        StartEncoderDecoderCache(builder, inputs, sizes);
    const Tensor encoded =
        inputs.past > 0
            ? EncodedBefore(builder, inputs, sizes)
            : encoder_.Forward(inputs.input_ids, Tensor(), inputs.attention,
                               inputs.attention_mask);
    inputs.Return(encoded);
    if (ids.empty()) ids = shift ? Shift(targets) : targets;
    Tensor hidden = decoder_->Forward(ids, encoded, inputs.attention,
                                      inputs.attention_mask, &cache);
    ReturnCache(cache, inputs);
    return {std::move(ids), std::move(hidden)};
  }

  Tensor Shift(const Tensor& ids) const {
    return ShiftRight(ids, config_.start, config_.padding);
  }

  Tensor Scale(const Tensor& hidden) const {
    if (!config_.scale_outputs) return hidden;
    return MulScalar(hidden,
                     1 / std::sqrt(static_cast<double>(config_.layer.width)));
  }

  T5Config config_;
  T5Head head_;
  Module root_;
  Module base_;
  Embedding shared_;
  T5Stack encoder_;
  std::optional<T5Stack> decoder_;
  std::optional<Linear> dense_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> out_;
};

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name,
                               const T5Dialect& dialect) {
  const auto* const found =
      std::ranges::find_if(kTable, [class_name](const T5Class& one) {
        return one.name.ends_with(class_name);
      });
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const bool classifies =
      found->head == T5Head::kSequence || found->head == T5Head::kToken;
  const T5Config settings =
      ReadT5(config,
             {.labels = classifies || found->head == T5Head::kAnswer,
              .classifier_dropout = classifies},
             dialect);
  auto model = std::make_unique<T5>(root, settings, *found);
  const T5LayerConfig& layer = settings.layer;
  LayerState kept = {LayerState::Kind::kFull, layer.heads, layer.head_dim,
                     layer.head_dim, 0};
  LayerState cross = kept;
  cross.kind = LayerState::Kind::kCross;
  const auto add = [&](std::string_view name, int64_t layers, bool keeps) {
    model->stacks.push_back({std::string(name), layers});
    for (int64_t index = 0; index < layers; ++index) {
      model->states.push_back(keeps ? kept : LayerState());
      if (keeps) model->states.push_back(cross);
    }
  };
  add("encoder", settings.encoder_layers,
      settings.is_decoder && !found->has_decoder);
  if (found->has_decoder) add("decoder", settings.decoder_layers, true);
  model->takes_decoder_ids = found->has_decoder;
  // A lone encoder that the file makes a decoder would read it otherwise.
  model->follows_mask = found->has_decoder || !settings.is_decoder;
  model->context_length = {std::nullopt, "relative positions"};
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  return BuildAs(config, root, class_name, {});
}
std::unique_ptr<Model> BuildMt5(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  return BuildAs(config, root, class_name, kMt5);
}
std::unique_ptr<Model> BuildUmt5(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAs(config, root, class_name, kUmt5);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"t5"};
constexpr std::array<std::string_view, 1> kMt5ModelTypes = {"mt5"};
constexpr std::array<std::string_view, 1> kUmt5ModelTypes = {"umt5"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kOldNames = {{{"T5WithLMHeadModel", "T5ForConditionalGeneration"}}};

}  // namespace

extern const Family kT5Family = {
    .name = "t5",
    .title = "T5",
    .doc =
        "An encoder and a decoder with cross attention, relative positions "
        "shared by all layers of a stack, RMSNorms, and no biases.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = kOldNames,
    .build = Build,
};

extern const Family kMt5Family = {
    .name = "mt5",
    .title = "mT5",
    .doc = "T5 1.1 over a vocabulary of many languages.",
    .model_types = kMt5ModelTypes,
    .classes = kMt5Classes,
    .old_names = {},
    .build = BuildMt5,
};

extern const Family kUmt5Family = {
    .name = "umt5",
    .title = "UMT5",
    .doc = "mT5 whose layers each have relative positions of their own.",
    .model_types = kUmt5ModelTypes,
    .classes = kUmt5Classes,
    .old_names = {},
    .build = BuildUmt5,
};

}  // namespace foretell
