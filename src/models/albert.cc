// ALBERT: a BERT whose layers are one, run again and again, and whose tables
// are narrow.
//
// Source: transformers 5.23, models/albert/modeling_albert.py and
// configuration_albert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/albert_layer.h"
#include "models/layers/check_fields.h"
#include "models/layers/heads.h"

namespace foretell {
namespace {

enum class AlbertHead {
  kNone,
  kPreTraining,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct AlbertClass {
  std::string_view name;
  AlbertHead head;
  bool pooler;
};

constexpr std::array<AlbertClass, 7> kTable = {{
    {"AlbertForMaskedLM", AlbertHead::kMaskedLm, false},
    {"AlbertModel", AlbertHead::kNone, true},
    {"AlbertForPreTraining", AlbertHead::kPreTraining, true},
    {"AlbertForSequenceClassification", AlbertHead::kSequence, true},
    {"AlbertForMultipleChoice", AlbertHead::kChoice, true},
    {"AlbertForTokenClassification", AlbertHead::kToken, false},
    {"AlbertForQuestionAnswering", AlbertHead::kAnswer, false},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class Albert : public Model {
 public:
  Albert(const Module& root, const BertConfig& config,
         const AlbertGroups& groups, const AlbertClass& which)
      : config_(config),
        head_(which.head),
        root_(root),
        base_(head_ == AlbertHead::kNone ? root : root.Child("albert")),
        embeddings_(base_.Child("embeddings"), TableConfig(config),
                    config.vocabulary, config.positions, config.types),
        encoder_(base_.Child("encoder"), config, groups) {
    if (which.pooler) {
      pooler_.emplace(base_.Child("pooler", RegionKind::kLinear),
                      config.layer.hidden, config.layer.hidden, true);
      pooler_activation_.emplace(base_.Child("pooler_activation"),
                                 Activation::kTanh);
    }
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == AlbertHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled] = RunBase(inputs.input_ids, inputs.attention);
    switch (head_) {
      case AlbertHead::kPreTraining: {
        // Without labels of the sentences' order there is no loss.
        const Tensor logits = vocabulary_head_->Forward(hidden);
        const Tensor order = ScoreOrder(pooled);
        inputs.Return(logits);
        inputs.Return(order);
        return logits;
      }
      case AlbertHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case AlbertHead::kSequence: {
        const Tensor dropped = dropout_->Forward(pooled);
        const Tensor logits = classifier_->Forward(dropped);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case AlbertHead::kToken: {
        const Tensor dropped = dropout_->Forward(hidden);
        const Tensor logits = classifier_->Forward(dropped);
        return Scored(logits, inputs, RowLoss);
      }
      case AlbertHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden), inputs);
      case AlbertHead::kNone:
      case AlbertHead::kChoice:
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

  static BertLayerConfig TableConfig(const BertConfig& config) {
    BertLayerConfig out = config.layer;
    out.hidden = config.embedding;
    return out;
  }

  void AddHead() {
    const int64_t labels = config_.labels.count;
    switch (head_) {
      case AlbertHead::kNone:
        return;
      case AlbertHead::kPreTraining:
      case AlbertHead::kMaskedLm:
        vocabulary_head_.emplace(root_.Child("predictions", RegionKind::kHead),
                                 config_);
        if (config_.tie_embeddings) {
          vocabulary_head_->Tie(embeddings_.word_embeddings.weight);
        }
        if (head_ == AlbertHead::kMaskedLm) return;
        sop_ = root_.Child("sop_classifier", RegionKind::kHead);
        return AddClassifier(*sop_, "classifier", labels);
      case AlbertHead::kChoice:
        return AddClassifier(root_, "classifier", 1);
      case AlbertHead::kSequence:
      case AlbertHead::kToken:
        return AddClassifier(root_, "classifier", labels);
      case AlbertHead::kAnswer:
        return AddClassifier(root_, "qa_outputs", labels);
    }
  }

  void AddClassifier(const Module& at, std::string_view name, int64_t out) {
    if (head_ != AlbertHead::kAnswer) {
      dropout_.emplace(at.Child("dropout"), config_.classifier_dropout);
    }
    classifier_.emplace(at.Child(name, RegionKind::kHead), config_.layer.hidden,
                        out, true);
  }

  Tensor ScoreOrder(const Tensor& pooled) const {
    const Scope scope = sop_->Enter();
    const Tensor dropped = dropout_->Forward(pooled);
    return classifier_->Forward(dropped);
  }

  Results RunBase(const Tensor& input_ids, std::string_view attention) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    Results out;
    out.hidden = encoder_.Forward(embedded, attention);
    if (!pooler_) return out;
    const auto pool = [&] {
      return pooler_->Forward(Select(out.hidden, 1, 0));
    };
    out.pooled = pooler_activation_->Forward(pool());
    return out;
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const Results results = RunBase(rows, inputs.attention);
    const Tensor pooled = dropout_->Forward(results.pooled);
    const Tensor scores = classifier_->Forward(pooled);
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  BertConfig config_;
  AlbertHead head_;
  Module root_;
  Module base_;
  BertEmbeddings embeddings_;
  AlbertTransformer encoder_;
  std::optional<Linear> pooler_;
  std::optional<ActivationModule> pooler_activation_;
  std::optional<AlbertVocabularyHead> vocabulary_head_;
  std::optional<Module> sop_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

AlbertGroups ReadGroups(const ConfigView& config, int64_t depth) {
  AlbertGroups out;
  // The layers exist however often they run.
  out.groups = config.SizeOrZero({"num_hidden_groups"}, 1);
  out.inner = config.SizeOrZero({"inner_group_num"}, 1);
  if (out.groups > kLargestLayerCount ||
      out.inner > kLargestLayerCount / std::max<int64_t>(1, out.groups)) {
    config.Problem("num_hidden_groups",
                   "gives, with inner_group_num, more layers than any model",
                   "write 1 for both");
    return {};
  }
  if (out.groups == 0 && depth > 0) {
    config.Find("model/groups", Severity::kWarn, "num_hidden_groups",
                "there is no group of layers",
                "the model is built, but its forward fails",
                "\"num_hidden_groups\": 1");
  }
  // Switches of Google's own code.
  config.Ignore({"net_structure_type", "gap_size", "num_memory_blocks",
                 "down_scale_factor", "output_past"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &AlbertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const AlbertHead head = found->head;
  const bool drops = head != AlbertHead::kNone &&
                     head != AlbertHead::kMaskedLm &&
                     head != AlbertHead::kAnswer;
  CheckFields(config, {{"classifier_dropout_prob", FieldKind::kNumber}});
  const BertConfig settings = ReadBert(
      config,
      {.activation = true,
       .labels = head != AlbertHead::kNone && head != AlbertHead::kMaskedLm &&
                 head != AlbertHead::kChoice,
       .classifier_dropout = drops},
      {.vocabulary = 30000,
       .hidden = 4096,
       .heads = 64,
       .intermediate = 16384,
       .activation = "gelu_new",
       .dropout = 0,
       .embedding = 128,
       .decodes = false,
       .classifier_dropout = "classifier_dropout_prob",
       .classifier_chance = 0.1});
  auto model = std::make_unique<Albert>(
      root, settings, ReadGroups(config, settings.layers), *found);
  StateBertLayers(settings, *model);
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"albert"};

}  // namespace

extern const Family kAlbertFamily = {
    .name = "albert",
    .title = "ALBERT",
    .doc =
        "BERT's layers, of which one serves at every depth, above embeddings "
        "of a width of their own.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
