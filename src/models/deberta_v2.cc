// DeBERTa-v2 and v3: Microsoft's encoder that attends by distance, and the
// classifiers and answer finders that were made from it.
//
// Source: transformers 5.23, models/deberta_v2/modeling_deberta_v2.py and
// configuration_deberta_v2.py. It has one attention, whatever is asked for.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/bert_head.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/read_deberta.h"

namespace foretell {
namespace {

enum class DebertaHead {
  kNone,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct DebertaClass {
  std::string_view name;
  DebertaHead head;
};

constexpr std::array<DebertaClass, 6> kTable = {{
    {"DebertaV2ForMaskedLM", DebertaHead::kMaskedLm},
    {"DebertaV2Model", DebertaHead::kNone},
    {"DebertaV2ForSequenceClassification", DebertaHead::kSequence},
    {"DebertaV2ForMultipleChoice", DebertaHead::kChoice},
    {"DebertaV2ForTokenClassification", DebertaHead::kToken},
    {"DebertaV2ForQuestionAnswering", DebertaHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class Deberta : public Model {
 public:
  Deberta(const Module& root, const DebertaConfig& config, DebertaHead head)
      : config_(config),
        head_(head),
        root_(root),
        base_(head == DebertaHead::kNone ? root : root.Child("deberta")),
        embeddings_(base_.Child("embeddings"), config.stack),
        encoder_(base_.Child("encoder"), config.stack) {
    follows_mask = head != DebertaHead::kChoice;
    if (head == DebertaHead::kMaskedLm) AddVocabularyHead();
    if (head == DebertaHead::kSequence || head == DebertaHead::kChoice) {
      pooler_.emplace(root.Child("pooler", RegionKind::kHead),
                      config.pooler_width, config.pooler_dropout,
                      config.pooler_activation);
    }
    if (head == DebertaHead::kAnswer) {
      AddClassifier("qa_outputs", config.labels.count);
    } else if (head == DebertaHead::kChoice) {
      AddClassifier("classifier", 1);
    } else if (head == DebertaHead::kSequence || head == DebertaHead::kToken) {
      AddClassifier("classifier", config.labels.count);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == DebertaHead::kChoice) return RunChoice(inputs);
    const Tensor hidden = RunBase(inputs.input_ids, inputs.attention_mask);
    switch (head_) {
      case DebertaHead::kMaskedLm: {
        const Tensor logits = RunVocabularyHead(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case DebertaHead::kSequence: {
        const Tensor logits = Classify(pooler_->Forward(hidden));
        inputs.Return(logits);
        return inputs.labels.empty() ? logits : Loss(logits, inputs.labels);
      }
      case DebertaHead::kToken: {
        const Tensor logits = Classify(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case DebertaHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden), inputs);
      case DebertaHead::kNone:
      case DebertaHead::kChoice:
        break;
    }
    return hidden;
  }

 private:
  // v2's is BERT's; the newer one reads the word embeddings as they are.
  void AddVocabularyHead() {
    const DebertaStackConfig& stack = config_.stack;
    if (!config_.legacy) {
      head_of_v3_.emplace(
          root_.Child("lm_predictions.lm_head", RegionKind::kHead), stack);
      return;
    }
    const Module cls = root_.Child("cls", RegionKind::kHead);
    head_of_v2_.emplace(cls.Child("predictions", RegionKind::kHead),
                        stack.layer(), stack.vocabulary, stack.embedding_width);
    if (config_.tie_embeddings) {
      head_of_v2_->Tie(embeddings_.word_embeddings.weight);
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    classifier_.emplace(root_.Child(name, RegionKind::kHead),
                        config_.stack.layer().hidden, out, true);
    if (head_ != DebertaHead::kAnswer) {
      dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
    }
  }

  // Looks whether the first and last tokens are padding, and says so once.
  void LookForPadding(const Tensor& input_ids) const {
    if (!config_.padding) return;
    const auto take_ends = [&] {
      const Tensor places[] = {
          Transfer(LiftFresh(root_.builder(), {2}, DType::kInt64))};
      return Index(input_ids, places, 1);
    };
    const Tensor ends = take_ends();
    const Tensor found =
        Any(EqScalar(ends, static_cast<double>(*config_.padding)));
    LocalScalar(found);
  }

  // `given` is the caller's mask of padding, or empty.
  Tensor RunBase(const Tensor& input_ids, const Tensor& given) const {
    const Scope scope = base_.Enter();
    Builder& builder = root_.builder();
    if (given.empty()) LookForPadding(input_ids);
    const Tensor mask = given.empty()
                            ? Ones(builder, input_ids.shape(), DType::kFloat32)
                            : given;
    const Tensor types = Zeros(builder, input_ids.shape(), DType::kInt64);
    const Tensor embedded = embeddings_.Forward(input_ids, types, mask);
    return encoder_.Forward(embedded, mask).back();
  }

  Tensor RunVocabularyHead(const Tensor& hidden) const {
    return head_of_v2_ ? head_of_v2_->Forward(hidden)
                       : head_of_v3_->Forward(
                             hidden, embeddings_.word_embeddings.weight);
  }

  Tensor Classify(Tensor features) const {
    features = dropout_->Forward(features);
    return classifier_->Forward(features);
  }

  // Without a problem_type the class chooses the rows that have a label.
  Tensor Loss(const Tensor& logits, const Tensor& labels) const {
    if (config_.labels.problem_type.empty()) {
      root_.builder().Fail(
          "which sequences have a label depends on the data; a problem_type "
          "settles it");
      return logits;
    }
    return SequenceLoss(logits, labels, config_.labels);
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const Tensor hidden = RunBase(rows, Tensor());
    const Tensor scores = Classify(pooler_->Forward(hidden));
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  DebertaConfig config_;
  DebertaHead head_;
  Module root_;
  Module base_;
  DebertaEmbeddings embeddings_;
  DebertaEncoder encoder_;
  std::optional<BertVocabularyHead> head_of_v2_;
  std::optional<DebertaVocabularyHead> head_of_v3_;
  std::optional<DebertaPooler> pooler_;
  std::optional<Linear> classifier_;
  std::optional<Dropout> dropout_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &DebertaClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const DebertaHead head = found->head;
  const bool pools =
      head == DebertaHead::kSequence || head == DebertaHead::kChoice;
  const DebertaConfig settings =
      ReadDeberta(config, {.vocabulary_head = head == DebertaHead::kMaskedLm,
                           .labels = head == DebertaHead::kSequence ||
                                     head == DebertaHead::kToken ||
                                     head == DebertaHead::kAnswer,
                           .pooler = pools});
  auto model = std::make_unique<Deberta>(root, settings, head);
  model->stacks.push_back({"encoder", settings.stack.layers});
  model->states.resize(static_cast<size_t>(settings.stack.layers));
  model->context_length = {std::nullopt, "relative positions"};
  if (settings.stack.adds_positions) {
    model->context_length = {settings.stack.positions,
                             "max_position_embeddings"};
  } else if (!settings.stack.attention.relative) {
    model->context_length.where = "no positions at all";
  }
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"deberta-v2"};

}  // namespace

extern const Family kDebertaV2Family = {
    .name = "deberta_v2",
    .title = "DeBERTa-v2",
    .doc =
        "An encoder whose attention adds what queries and keys say of the "
        "distance between them; v3 has the same class.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
