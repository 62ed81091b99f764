// DistilBERT: BERT with half the layers, without segments and without a pooler,
// which a smaller model learned from BERT itself.
//
// Source: transformers 5.23, models/distilbert/modeling_distilbert.py and
// configuration_distilbert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/activations.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/classification.h"
#include "models/layers/distilbert_layer.h"
#include "models/layers/heads.h"

namespace foretell {
namespace {

enum class DistilBertHead {
  kNone,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct DistilBertClass {
  std::string_view name;
  DistilBertHead head;
};

constexpr std::array<DistilBertClass, 6> kTable = {{
    {"DistilBertForMaskedLM", DistilBertHead::kMaskedLm},
    {"DistilBertModel", DistilBertHead::kNone},
    {"DistilBertForSequenceClassification", DistilBertHead::kSequence},
    {"DistilBertForMultipleChoice", DistilBertHead::kChoice},
    {"DistilBertForTokenClassification", DistilBertHead::kToken},
    {"DistilBertForQuestionAnswering", DistilBertHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class DistilBert : public Model {
 public:
  DistilBert(const Module& root, const DistilBertConfig& config,
             DistilBertHead head)
      : config_(config),
        head_(head),
        root_(root),
        activation_(head == DistilBertHead::kMaskedLm
                        ? std::optional<ActivationModule>(
                              std::in_place, root.Child("activation"),
                              config.activation)
                        : std::nullopt),
        base_(head == DistilBertHead::kNone ? root : root.Child("distilbert")),
        embeddings_(base_.Child("embeddings"), config),
        transformer_(base_.Child("transformer"), config) {
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == DistilBertHead::kChoice) return RunChoice(inputs);
    const Tensor hidden = RunBase(inputs.input_ids, inputs.attention);
    switch (head_) {
      case DistilBertHead::kMaskedLm: {
        Tensor logits = dense_->Forward(hidden);
        logits = activation_->Forward(logits);
        logits = norm_->Forward(logits);
        logits = out_->Forward(logits);
        inputs.Return(logits);
        return inputs.labels.empty() ? logits
                                     : MaskedLoss(logits, inputs.labels);
      }
      case DistilBertHead::kSequence: {
        const Tensor pooled = Pool(hidden);
        const Tensor logits = out_->Forward(pooled);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case DistilBertHead::kToken: {
        const Tensor logits = out_->Forward(dropout_->Forward(hidden));
        return Scored(logits, inputs, RowLoss);
      }
      case DistilBertHead::kAnswer:
        return StartLogits(out_->Forward(dropout_->Forward(hidden)), inputs);
      case DistilBertHead::kNone:
      case DistilBertHead::kChoice:
        break;
    }
    return hidden;
  }

 private:
  void AddHead() {
    switch (head_) {
      case DistilBertHead::kNone:
        return;
      case DistilBertHead::kMaskedLm: {
        AddLinear(dense_, "vocab_transform", config_.width);
        norm_.emplace(root_.Child("vocab_layer_norm", RegionKind::kNorm),
                      config_.width, kDistilBertEpsilon);
        AddLinear(out_, "vocab_projector", config_.vocabulary);
        loss_.emplace(root_.Child("mlm_loss_fct"));
        out_->module.MarkOutputEmbeddings();
        if (config_.tie_embeddings) {
          root_.builder().Tie(out_->weight, embeddings_.word_embeddings.weight);
        }
        return;
      }
      case DistilBertHead::kSequence:
      case DistilBertHead::kChoice: {
        const bool chooses = head_ == DistilBertHead::kChoice;
        AddLinear(dense_, "pre_classifier", config_.width);
        AddLinear(out_, "classifier", chooses ? 1 : config_.labels.count);
        dropout_.emplace(root_.Child("dropout"), config_.head_dropout);
        return;
      }
      case DistilBertHead::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.head_dropout);
        return AddLinear(out_, "classifier", config_.labels.count);
      case DistilBertHead::kAnswer:
        AddLinear(out_, "qa_outputs", config_.labels.count);
        dropout_.emplace(root_.Child("dropout"), config_.head_dropout);
        return;
    }
  }

  void AddLinear(std::optional<Linear>& linear, std::string_view name,
                 int64_t out) {
    linear.emplace(root_.Child(name, RegionKind::kHead), config_.width, out,
                   true);
  }

  Tensor RunBase(const Tensor& input_ids, std::string_view attention) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    return transformer_.Forward(embedded, attention);
  }

  // A loss that is a module: its rows are made before it runs.
  Tensor MaskedLoss(const Tensor& logits, const Tensor& labels) const {
    const Tensor rows = View(logits, {-1, logits.size(-1)});
    const Tensor targets = View(labels, {-1});
    const Scope scope = loss_->Enter();
    return CrossEntropy(rows, targets);
  }

  // Each row's first token, through a layer of the head's own.
  Tensor Pool(const Tensor& hidden) const {
    Tensor pooled = Select(hidden, 1, 0);
    pooled = dense_->Forward(pooled);
    pooled = Relu(pooled);
    return dropout_->Forward(pooled);
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const Tensor hidden = RunBase(rows, inputs.attention);
    const Tensor pooled = Pool(hidden);
    const Tensor scores = out_->Forward(pooled);
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  DistilBertConfig config_;
  DistilBertHead head_;
  Module root_;
  std::optional<ActivationModule> activation_;
  Module base_;
  DistilBertEmbeddings embeddings_;
  DistilBertTransformer transformer_;
  std::optional<Linear> dense_;
  std::optional<LayerNorm> norm_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> out_;
  std::optional<Module> loss_;
};

DistilBertNeeds NeedsOf(DistilBertHead head) {
  DistilBertNeeds needs;
  needs.activation = head == DistilBertHead::kMaskedLm;
  needs.labels = head == DistilBertHead::kSequence ||
                 head == DistilBertHead::kToken ||
                 head == DistilBertHead::kAnswer;
  needs.answers = head == DistilBertHead::kAnswer;
  if (head == DistilBertHead::kSequence || head == DistilBertHead::kChoice) {
    needs.dropout = {"seq_classif_dropout", 0.2};
  } else if (needs.answers) {
    needs.dropout = {"qa_dropout", 0.1};
  }
  return needs;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found =
      std::ranges::find(kTable, class_name, &DistilBertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const DistilBertConfig settings =
      ReadDistilBert(config, NeedsOf(found->head));
  auto model = std::make_unique<DistilBert>(root, settings, found->head);
  model->stacks.push_back({"encoder", settings.layers});
  model->states.resize(static_cast<size_t>(settings.layers));
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"distilbert"};

}  // namespace

extern const Family kDistilBertFamily = {
    .name = "distilbert",
    .title = "DistilBERT",
    .doc =
        "BERT's encoder without segments and without a pooler, under names of "
        "its own.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
