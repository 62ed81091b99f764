// T5: the encoder-decoder of Google's T5, T5 1.1, Flan-T5 and ByT5, and the
// text encoder of many image models.
//
// Source: transformers 5.23, models/t5/modeling_t5.py and configuration_t5.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/t5_stack.h"

namespace foretell {
namespace {

enum class T5Head { kNone, kLm, kSequence, kToken, kAnswer };

struct T5Class {
  std::string_view name;
  T5Head head;
  bool has_decoder;
};

constexpr std::array<T5Class, 6> kTable = {{
    {"T5ForConditionalGeneration", T5Head::kLm, true},
    {"T5Model", T5Head::kNone, true},
    {"T5EncoderModel", T5Head::kNone, false},
    {"T5ForSequenceClassification", T5Head::kSequence, true},
    {"T5ForTokenClassification", T5Head::kToken, false},
    {"T5ForQuestionAnswering", T5Head::kAnswer, true},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

struct T5Config {
  T5LayerConfig layer;
  int64_t vocabulary = 0;
  int64_t encoder_layers = 0;
  int64_t decoder_layers = 0;
  bool encoder_is_decoder = false;
  bool tie_embeddings = true;
  bool scale_outputs = true;
  double classifier_dropout = 0;
  LabelConfig labels;
  std::optional<int64_t> padding;
  std::optional<int64_t> start;
};

// "relu", "gated-gelu": how the class reads the form of its feed-forward as it
// loads. The two attributes that it makes of it win where a file has them.
void ReadFeedForward(const ConfigView& config, T5LayerConfig& out) {
  const std::string form = config.Text({"feed_forward_proj"}, "relu");
  const size_t dash = form.find('-');
  const std::string first = form.substr(0, dash);
  std::string name = form.substr(form.rfind('-') + 1);
  const bool two_parts = dash != std::string::npos;
  if ((two_parts && first != "gated") || std::ranges::count(form, '-') > 1) {
    config.Find("model/feed-forward", Severity::kBlock, "feed_forward_proj",
                fmt::format("feed_forward_proj is \"{}\"", form.substr(0, 40)),
                "T5Config refuses what is neither ACTIVATION nor "
                "gated-ACTIVATION",
                "\"feed_forward_proj\": \"gated-gelu\"");
  }
  if (form == "gated-gelu") name = "gelu_new";
  out.gated = first == "gated";
  if (config.Raw("is_gated_act")) {
    out.gated = config.Flag({"is_gated_act"}, out.gated);
  }
  std::string_view key = "feed_forward_proj";
  if (config.Raw("dense_act_fn")) {
    key = "dense_act_fn";
    name = config.Text({key}, name);
  }
  config.Derive("is_gated_act", ConfigValue::Bool(out.gated));
  config.Derive("dense_act_fn", ConfigValue::String(name));
  out.activation = ActivationNamed(config, key, name);
}

T5LayerConfig ReadLayer(const ConfigView& config) {
  T5LayerConfig out;
  out.width = SizeOrEmpty(config, {"hidden_size", "d_model"}, 512);
  out.heads = SizeOrEmpty(config, {"num_attention_heads", "num_heads"}, 8);
  out.head_dim = SizeOrEmpty(config, {"head_dim", "d_kv"}, 64);
  out.inner = SizeOrEmpty(config, {"d_ff"}, 2048);
  out.buckets = SizeOrEmpty(config, {"relative_attention_num_buckets"}, 32);
  out.max_distance =
      SizeOrEmpty(config, {"relative_attention_max_distance"}, 128);
  out.dropout = ReadDropout(config, "dropout_rate", 0.1);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-6);
  ReadFeedForward(config, out);
  return out;
}

// The decoder is as deep as the encoder is said to be by the class's own name,
// which is read before an alias of it is.
void ReadDepth(const ConfigView& config, T5Config& out) {
  out.encoder_layers = config.Layers({"num_hidden_layers", "num_layers"}, 6);
  const ConfigValue* stated = config.Raw("num_decoder_layers");
  // Null is filled in as the class loads, and refused afterwards.
  const bool is_null = stated != nullptr && stated->is_null();
  if (stated != nullptr && (!is_null || config.config().is_loaded)) {
    out.decoder_layers = config.Layers({"num_decoder_layers"}, 6);
  } else if (config.Has("num_layers")) {
    out.decoder_layers = config.Layers({"num_layers"}, 6);
  } else {
    out.decoder_layers = 6;
  }
  config.Derive("num_decoder_layers",
                ConfigValue::Number(std::to_string(out.decoder_layers)));
}

// The class ties always; what the file says decides whether the decoder's
// output is scaled, as it does where the two go together in older files.
void ReadTies(const ConfigView& config, T5Config& out) {
  const ConfigValue* stated = config.Raw("tie_word_embeddings");
  const bool untied = stated != nullptr && stated->AsBool() == false;
  out.scale_outputs = !untied;
  if (config.Raw("scale_decoder_outputs")) {
    out.scale_outputs = config.Flag({"scale_decoder_outputs"}, true);
  }
  out.tie_embeddings = !(untied && config.config().is_loaded);
  config.Derive("tie_word_embeddings", ConfigValue::Bool(true));
  config.Derive("scale_decoder_outputs", ConfigValue::Bool(out.scale_outputs));
}

T5Config ReadConfig(const ConfigView& config, const T5Class& which) {
  T5Config out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_factor", FieldKind::kFloat},
                       {"is_encoder_decoder", FieldKind::kFlag},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 32128);
  out.layer = ReadLayer(config);
  ReadDepth(config, out);
  ReadTies(config, out);
  // An encoder alone follows the flag; beside a decoder it is set aside.
  const bool is_decoder = config.Flag({"is_decoder"}, false);
  out.encoder_is_decoder = is_decoder && !which.has_decoder;
  if (which.head == T5Head::kSequence || which.head == T5Head::kToken) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0);
  }
  const bool labelled =
      which.head != T5Head::kNone && which.head != T5Head::kLm;
  out.labels = ReadLabels(config, labelled);
  const ConfigValue* padding = config.Raw("pad_token_id");
  out.padding = padding ? config.OptionalInteger({"pad_token_id"}) : 0;
  out.start = config.OptionalInteger({"decoder_start_token_id"});
  // Positions are relative and have no table; the rest is what older versions
  // and other runs wrote.
  config.Ignore(
      {"n_positions", "use_cache", "classifier_dropout", "pruned_heads"});
  return out;
}

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
                 config.encoder_layers, config.encoder_is_decoder) {
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
        const Tensor hidden = RunBoth(inputs, labels, true);
        const Tensor logits = RunLmHead(hidden);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case T5Head::kNone:
        // The decoder's tokens are an input of their own.
        return decoder_ ? RunBoth(inputs, labels, false) : RunEncoder(inputs);
      case T5Head::kSequence:
        root_.builder().Fail("which tokens end a sequence depends on the data");
        return inputs.input_ids;
      case T5Head::kToken: {
        const Tensor hidden = dropout_->Forward(RunEncoder(inputs));
        const Tensor logits = out_->Forward(hidden);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case T5Head::kAnswer:
        return StartLogits(
            out_->Forward(RunBoth(inputs, inputs.input_ids, true)));
    }
    return inputs.input_ids;
  }

 private:
  void AddHead() {
    const int64_t width = config_.layer.width;
    switch (head_) {
      case T5Head::kNone:
        return;
      case T5Head::kLm:
        out_.emplace(root_.Child("lm_head", RegionKind::kHead), width,
                     config_.vocabulary, false);
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
    return encoder_.Forward(inputs.input_ids, Tensor(), inputs.attention);
  }

  // Encoder and decoder; the decoder reads `targets`, moved on by one where
  // `shift` is set.
  Tensor RunBoth(const ForwardInputs& inputs, const Tensor& targets,
                 bool shift) const {
    if (targets.empty()) {
      root_.builder().Fail("the decoder has no tokens to read");
      return inputs.input_ids;
    }
    const Tensor encoded =
        encoder_.Forward(inputs.input_ids, Tensor(), inputs.attention);
    const Tensor ids = shift ? ShiftRight(targets) : targets;
    return decoder_->Forward(ids, encoded, inputs.attention);
  }

  // A row that begins with the start token and ends one token early.
  Tensor ShiftRight(const Tensor& ids) const {
    if (!config_.start || !config_.padding) {
      root_.builder().Fail(
          "decoder_start_token_id and pad_token_id have to be set");
      return ids;
    }
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor shifted = NewZeros(ids, ids.shape());
    CopyInto(Slice(shifted, 1, 1, kToTheEnd),
             CloneContiguous(Slice(ids, 1, 0, -1)));
    FillWith(Select(shifted, 1, 0), static_cast<double>(*config_.start));
    FillWhere(shifted, EqScalar(shifted, -100),
              static_cast<double>(*config_.padding));
    return shifted;
  }

  Tensor RunLmHead(Tensor hidden) const {
    if (config_.scale_outputs) {
      hidden = MulScalar(
          hidden, 1 / std::sqrt(static_cast<double>(config_.layer.width)));
    }
    return out_->Forward(hidden);
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

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &T5Class::name);
  const T5Config settings = ReadConfig(config, *found);
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
  add("encoder", settings.encoder_layers, settings.encoder_is_decoder);
  if (found->has_decoder) add("decoder", settings.decoder_layers, true);
  model->context_length = {std::nullopt, "relative positions"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"t5"};
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

}  // namespace foretell
