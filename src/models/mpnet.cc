// MPNet: the encoder of microsoft/mpnet-base and of the sentence embedders that
// were made from it.
//
// Source: transformers 5.23, models/mpnet/modeling_mpnet.py and
// configuration_mpnet.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/heads.h"
#include "models/layers/mpnet_layer.h"
#include "models/layers/roberta_layer.h"

namespace foretell {
namespace {

enum class MpnetHead { kNone, kMaskedLm, kSequence, kChoice, kToken, kAnswer };

struct MpnetClass {
  std::string_view name;
  MpnetHead head;
};

constexpr std::array<MpnetClass, 6> kTable = {{
    {"MPNetForMaskedLM", MpnetHead::kMaskedLm},
    {"MPNetModel", MpnetHead::kNone},
    {"MPNetForSequenceClassification", MpnetHead::kSequence},
    {"MPNetForMultipleChoice", MpnetHead::kChoice},
    {"MPNetForTokenClassification", MpnetHead::kToken},
    {"MPNetForQuestionAnswering", MpnetHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class Mpnet : public Model {
 public:
  Mpnet(const Module& root, const BertConfig& config, int64_t buckets,
        MpnetHead head)
      : config_(config),
        head_(head),
        root_(root),
        base_(head == MpnetHead::kNone ? root : root.Child("mpnet")),
        embeddings_(base_.Child("embeddings"), config),
        encoder_(base_.Child("encoder"), config, buckets) {
    if (head == MpnetHead::kNone || head == MpnetHead::kChoice) {
      pooler_.emplace(base_.Child("pooler"), config.layer.hidden);
    }
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == MpnetHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled] = RunBase(inputs.input_ids);
    switch (head_) {
      case MpnetHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case MpnetHead::kSequence: {
        const Tensor logits = sequence_head_->Forward(hidden);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case MpnetHead::kToken: {
        const Tensor dropped = dropout_->Forward(hidden);
        const Tensor logits = classifier_->Forward(dropped);
        return Scored(logits, inputs, RowLoss);
      }
      case MpnetHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden), inputs);
      case MpnetHead::kNone:
      case MpnetHead::kChoice:
        break;
    }
    inputs.Return(pooled);
    return hidden;
  }

 private:
  struct Results {
    Tensor hidden;
    Tensor pooled;  // empty where there is no pooler
  };

  void AddHead() {
    switch (head_) {
      case MpnetHead::kNone:
        return;
      case MpnetHead::kMaskedLm:
        vocabulary_head_.emplace(root_.Child("lm_head", RegionKind::kHead),
                                 config_);
        if (config_.tie_embeddings) {
          vocabulary_head_->Tie(embeddings_.word_embeddings.weight, false);
        }
        return;
      case MpnetHead::kSequence:
        sequence_head_.emplace(root_.Child("classifier", RegionKind::kHead),
                               config_);
        return;
      case MpnetHead::kChoice:
        dropout_.emplace(root_.Child("dropout"), config_.layer.hidden_dropout);
        return AddClassifier("classifier", 1);
      case MpnetHead::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.layer.hidden_dropout);
        return AddClassifier("classifier", config_.labels.count);
      case MpnetHead::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    classifier_.emplace(root_.Child(name, RegionKind::kHead),
                        config_.layer.hidden, out, true);
  }

  Results RunBase(const Tensor& input_ids) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    Results out;
    out.hidden = encoder_.Forward(embedded);
    if (pooler_) out.pooled = pooler_->Forward(out.hidden);
    return out;
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const Results results = RunBase(rows);
    const Tensor pooled = dropout_->Forward(results.pooled);
    const Tensor scores = classifier_->Forward(pooled);
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  BertConfig config_;
  MpnetHead head_;
  Module root_;
  Module base_;
  MpnetEmbeddings embeddings_;
  MpnetEncoder encoder_;
  std::optional<BertPooler> pooler_;
  std::optional<RobertaVocabularyHead> vocabulary_head_;
  std::optional<RobertaSequenceHead> sequence_head_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &MpnetClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const MpnetHead head = found->head;
  const BertConfig settings = ReadBert(
      config,
      {.labels = head == MpnetHead::kSequence || head == MpnetHead::kToken ||
                 head == MpnetHead::kAnswer},
      {.vocabulary = 30527,
       .padding = 1,
       .has_types = false,
       .pads_by_number = false,
       .decodes = false});
  const int64_t buckets =
      SizeOrEmpty(config, {"relative_attention_num_buckets"}, 32);
  auto model = std::make_unique<Mpnet>(root, settings, buckets, head);
  StateBertLayers(settings, *model);
  // Padding takes the first two rows.
  model->context_length = {std::max<int64_t>(0, settings.positions - 2),
                           "max_position_embeddings, without two rows that "
                           "padding takes"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mpnet"};

}  // namespace

extern const Family kMpnetFamily = {
    .name = "mpnet",
    .title = "MPNet",
    .doc =
        "BERT's layers with a learned bias by distance that all of them "
        "share, and no segments.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
