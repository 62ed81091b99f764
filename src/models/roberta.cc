// RoBERTa and XLM-RoBERTa: BERT's layers under other embeddings and heads, the
// base of many rerankers, classifiers and text embedders (BGE-M3, E5, …).
//
// The two differ in the names of their classes, the vocabulary's default, and
// whether the base or the head over the vocabulary is registered first.
// Source: transformers 5.23, models/roberta/modeling_roberta.py,
// models/xlm_roberta/modeling_xlm_roberta.py and their configurations.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/read_bert.h"
#include "models/layers/roberta_layer.h"

namespace foretell {
namespace {

enum class RobertaHead {
  kNone,
  kCausalLm,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct RobertaClass {
  std::string_view name;  // XLM-RoBERTa's; RoBERTa's lacks the first letters
  RobertaHead head;
};

constexpr std::string_view kXlm = "XLM";

constexpr std::array<RobertaClass, 7> kTable = {{
    {"XLMRobertaForCausalLM", RobertaHead::kCausalLm},
    {"XLMRobertaModel", RobertaHead::kNone},
    {"XLMRobertaForMaskedLM", RobertaHead::kMaskedLm},
    {"XLMRobertaForSequenceClassification", RobertaHead::kSequence},
    {"XLMRobertaForMultipleChoice", RobertaHead::kChoice},
    {"XLMRobertaForTokenClassification", RobertaHead::kToken},
    {"XLMRobertaForQuestionAnswering", RobertaHead::kAnswer},
}};

constexpr auto kXlmClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names = kXlmClasses;
  for (std::string_view& name : names) name.remove_prefix(kXlm.size());
  return names;
}();

class Roberta : public Model {
 public:
  Roberta(const Module& root, const BertConfig& config, RobertaHead head,
          bool is_xlm)
      : config_(config),
        head_(head),
        root_(root),
        vocabulary_head_(is_xlm ? MakeVocabularyHead() : std::nullopt),
        base_(head == RobertaHead::kNone ? root : root.Child("roberta")),
        embeddings_(base_.Child("embeddings"), config),
        encoder_(base_.Child("encoder"), config.layer, config.layers) {
    follows_mask = head != RobertaHead::kChoice;
    if (head == RobertaHead::kNone || head == RobertaHead::kChoice) {
      pooler_.emplace(base_.Child("pooler"), config.layer.hidden);
    }
    if (!is_xlm) vocabulary_head_ = MakeVocabularyHead();
    if (vocabulary_head_ && config.tie_embeddings) {
      const ParameterId words = embeddings_.word_embeddings.weight;
      vocabulary_head_->Tie(words, is_xlm);
    }
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == RobertaHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled, cache] = RunBase(inputs.input_ids, inputs);
    switch (head_) {
      case RobertaHead::kCausalLm: {
        const Tensor logits = vocabulary_head_->Forward(Alias(hidden));
        return Scored(logits, inputs, CausalLmLoss);
      }
      case RobertaHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case RobertaHead::kSequence: {
        const Tensor logits = sequence_head_->Forward(hidden);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case RobertaHead::kToken: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(hidden));
        return Scored(logits, inputs, RowLoss);
      }
      case RobertaHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden), inputs);
      case RobertaHead::kNone:
      case RobertaHead::kChoice:
        break;
    }
    inputs.Return(pooled);
    return hidden;
  }

 private:
  std::optional<RobertaVocabularyHead> MakeVocabularyHead() const {
    const bool has_head =
        head_ == RobertaHead::kCausalLm || head_ == RobertaHead::kMaskedLm;
    if (!has_head) return std::nullopt;
    return RobertaVocabularyHead(root_.Child("lm_head", RegionKind::kHead),
                                 config_);
  }

  void AddHead() {
    switch (head_) {
      case RobertaHead::kNone:
      case RobertaHead::kCausalLm:
      case RobertaHead::kMaskedLm:
        return;
      case RobertaHead::kSequence:
        sequence_head_.emplace(root_.Child("classifier", RegionKind::kHead),
                               config_);
        return;
      case RobertaHead::kChoice:
        dropout_.emplace(root_.Child("dropout"), config_.layer.hidden_dropout);
        return AddClassifier("classifier", 1);
      case RobertaHead::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        return AddClassifier("classifier", config_.labels.count);
      case RobertaHead::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    classifier_.emplace(root_.Child(name, RegionKind::kHead),
                        config_.layer.hidden, out, true);
  }

  BertResults RunBase(const Tensor& input_ids,
                      const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    BertResults out =
        encoder_.Forward(embedded, inputs.attention, inputs.attention_mask);
    if (pooler_) out.pooled = pooler_->Forward(out.hidden);
    return out;
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const BertResults results = RunBase(rows, inputs);
    const Tensor pooled = dropout_->Forward(results.pooled);
    const Tensor logits = View(classifier_->Forward(pooled), {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  BertConfig config_;
  RobertaHead head_;
  Module root_;
  std::optional<RobertaVocabularyHead> vocabulary_head_;
  Module base_;
  RobertaEmbeddings embeddings_;
  BertEncoder encoder_;
  std::optional<BertPooler> pooler_;
  std::optional<RobertaSequenceHead> sequence_head_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

// Padding takes the positions up to its own number.
ContextLength Context(const BertConfig& settings) {
  if (!settings.padding || *settings.padding < 0) {
    return {settings.positions, "max_position_embeddings"};
  }
  return {std::max<int64_t>(0, settings.positions - *settings.padding - 1),
          "max_position_embeddings, without those up to pad_token_id"};
}

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name, RobertaHead head,
                               bool is_xlm) {
  const bool drops =
      head == RobertaHead::kSequence || head == RobertaHead::kToken;
  BertConfig settings =
      ReadBert(config,
               {.activation = false,
                .labels = drops || head == RobertaHead::kAnswer,
                .classifier_dropout = drops},
               {.vocabulary = is_xlm ? 30522 : 50265,
                .padding = 1,
                .pads_positions = true});
  // Classes whose forward takes no use_cache follow the file, as decoders.
  settings.layer.fills_cache =
      settings.layer.is_decoder && head != RobertaHead::kNone &&
      head != RobertaHead::kCausalLm && config.Flag({"use_cache"}, true);
  CheckDirection(config, class_name, head == RobertaHead::kCausalLm,
                 head == RobertaHead::kMaskedLm);
  auto model = std::make_unique<Roberta>(root, settings, head, is_xlm);
  StateBertLayers(settings, *model);
  model->context_length = Context(settings);
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kClasses, class_name);
  FORETELL_CHECK(found != kClasses.end(), "a class of another family");
  const auto index = static_cast<size_t>(found - kClasses.begin());
  return BuildAs(config, root, class_name, kTable[index].head, false);
}

std::unique_ptr<Model> BuildXlm(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &RobertaClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildAs(config, root, class_name, found->head, true);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"roberta"};
constexpr std::array<std::string_view, 1> kXlmModelTypes = {"xlm-roberta"};

}  // namespace

extern const Family kRobertaFamily = {
    .name = "roberta",
    .title = "RoBERTa",
    .doc =
        "BERT's layers below positions that are counted from the tokens, so "
        "that padding takes none; a decoder where is_decoder is set.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

extern const Family kXlmRobertaFamily = {
    .name = "xlm_roberta",
    .title = "XLM-RoBERTa",
    .doc = "RoBERTa over a vocabulary of many languages.",
    .model_types = kXlmModelTypes,
    .classes = kXlmClasses,
    .old_names = {},
    .build = BuildXlm,
};

}  // namespace foretell
