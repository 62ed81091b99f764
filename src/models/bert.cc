// BERT: the encoder of Google's BERT and of the many text embedders that share
// its class (BGE, GTE, E5, MiniLM, …).
//
// Source: transformers 5.23, models/bert/modeling_bert.py and
// configuration_bert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/bert_head.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/read_bert.h"

namespace foretell {
namespace {

enum class BertHead {
  kNone,
  kPreTraining,
  kCausalLm,
  kMaskedLm,
  kNextSentence,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct BertClass {
  std::string_view name;
  BertHead head;
  bool pooler;
};

constexpr std::array<BertClass, 9> kTable = {{
    {"BertLMHeadModel", BertHead::kCausalLm, false},
    {"BertModel", BertHead::kNone, true},
    {"BertForPreTraining", BertHead::kPreTraining, true},
    {"BertForMaskedLM", BertHead::kMaskedLm, false},
    {"BertForNextSentencePrediction", BertHead::kNextSentence, true},
    {"BertForSequenceClassification", BertHead::kSequence, true},
    {"BertForMultipleChoice", BertHead::kChoice, true},
    {"BertForTokenClassification", BertHead::kToken, false},
    {"BertForQuestionAnswering", BertHead::kAnswer, false},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

bool HasVocabularyHead(BertHead head) {
  return head == BertHead::kPreTraining || head == BertHead::kCausalLm ||
         head == BertHead::kMaskedLm;
}

class Bert : public Model {
 public:
  Bert(const Module& root, const BertConfig& config, const BertClass& which)
      : config_(config),
        head_(which.head),
        root_(root),
        base_(head_ == BertHead::kNone ? root : root.Child("bert")),
        embeddings_(base_.Child("embeddings"), config.layer, config.vocabulary,
                    config.positions, config.types),
        encoder_(base_.Child("encoder"), config.layer, config.layers) {
    if (which.pooler) pooler_.emplace(base_.Child("pooler"), Hidden());
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor& labels = inputs.labels;
    if (head_ == BertHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled, cache] =
        RunBase(inputs.input_ids, inputs.attention);
    switch (head_) {
      case BertHead::kPreTraining: {
        // Without labels of the next sentence there is no loss.
        const Tensor logits = vocabulary_head_->Forward(hidden);
        const Tensor relation = classifier_->Forward(pooled);
        inputs.Return(logits);
        inputs.Return(relation);
        return logits;
      }
      case BertHead::kCausalLm: {
        const Tensor logits = vocabulary_head_->Forward(Alias(hidden));
        inputs.Return(logits);
        return labels.empty() ? logits : CausalLmLoss(logits, labels);
      }
      case BertHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        inputs.Return(logits);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kNextSentence: {
        const Tensor logits = classifier_->Forward(pooled);
        inputs.Return(logits);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kSequence: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(pooled));
        inputs.Return(logits);
        return labels.empty() ? logits
                              : SequenceLoss(logits, labels, config_.labels);
      }
      case BertHead::kToken: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(hidden));
        inputs.Return(logits);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden), inputs);
      case BertHead::kNone:
      case BertHead::kChoice:
        break;
    }
    inputs.Return(pooled);
    return hidden;
  }

 private:
  int64_t Hidden() const { return config_.layer.hidden; }

  void AddHead() {
    const bool has_cls =
        HasVocabularyHead(head_) || head_ == BertHead::kNextSentence;
    if (has_cls) cls_ = root_.Child("cls", RegionKind::kHead);
    if (HasVocabularyHead(head_)) {
      vocabulary_head_.emplace(cls_->Child("predictions", RegionKind::kHead),
                               config_.layer, config_.vocabulary, Hidden());
      if (config_.tie_embeddings) {
        vocabulary_head_->Tie(embeddings_.word_embeddings.weight);
      }
    }
    switch (head_) {
      case BertHead::kPreTraining:
      case BertHead::kNextSentence:
        classifier_.emplace(cls_->Child("seq_relationship", RegionKind::kHead),
                            Hidden(), 2, true);
        return;
      case BertHead::kSequence:
      case BertHead::kToken:
        return AddClassifier("classifier", config_.labels.count);
      case BertHead::kChoice:
        return AddClassifier("classifier", 1);
      case BertHead::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
      default:
        return;
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    if (head_ != BertHead::kAnswer) {
      dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
    }
    classifier_.emplace(root_.Child(name, RegionKind::kHead), Hidden(), out,
                        true);
  }

  BertResults RunBase(const Tensor& input_ids,
                      std::string_view attention) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    BertResults out = encoder_.Forward(embedded, attention);
    if (pooler_) out.pooled = pooler_->Forward(out.hidden);
    return out;
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const BertResults results = RunBase(rows, inputs.attention);
    const Tensor pooled = dropout_->Forward(results.pooled);
    const Tensor logits = View(classifier_->Forward(pooled), {-1, choices});
    inputs.Return(logits);
    return inputs.labels.empty() ? logits : CrossEntropy(logits, inputs.labels);
  }

  BertConfig config_;
  BertHead head_;
  Module root_;
  Module base_;
  BertEmbeddings embeddings_;
  BertEncoder encoder_;
  std::optional<BertPooler> pooler_;
  std::optional<Module> cls_;
  std::optional<BertVocabularyHead> vocabulary_head_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const BertHead head = found->head;
  const bool drops = head == BertHead::kSequence || head == BertHead::kToken;
  BertConfig settings = ReadBert(
      config, {.activation = HasVocabularyHead(head),
               .labels = drops || head == BertHead::kAnswer,
               .classifier_dropout = drops || head == BertHead::kChoice});
  // Classes whose forward takes no use_cache follow the file, as decoders.
  settings.layer.fills_cache =
      settings.layer.is_decoder && head != BertHead::kNone &&
      head != BertHead::kCausalLm && config.Flag({"use_cache"}, true);
  CheckDirection(config, class_name, head == BertHead::kCausalLm,
                 head == BertHead::kMaskedLm);
  auto model = std::make_unique<Bert>(root, settings, *found);
  StateBertLayers(settings, *model);
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bert"};

}  // namespace

extern const Family kBertFamily = {
    .name = "bert",
    .title = "BERT",
    .doc =
        "An encoder with learned positions and segments and a LayerNorm after "
        "attention and feed-forward; a decoder where is_decoder is set.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
