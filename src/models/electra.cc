// ELECTRA: BERT's layers above embeddings of a width of their own, trained to
// tell which tokens a small generator has replaced.
//
// Source: transformers 5.23, models/electra/modeling_electra.py and
// configuration_electra.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/loss.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/electra_head.h"
#include "models/layers/heads.h"
#include "models/layers/kept_rows.h"
#include "models/layers/read_bert.h"

namespace foretell {
namespace {

enum class ElectraUse {
  kNone,
  kPreTraining,
  kCausalLm,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct ElectraClass {
  std::string_view name;
  ElectraUse use;
};

constexpr std::array<ElectraClass, 8> kTable = {{
    {"ElectraForCausalLM", ElectraUse::kCausalLm},
    {"ElectraModel", ElectraUse::kNone},
    {"ElectraForPreTraining", ElectraUse::kPreTraining},
    {"ElectraForMaskedLM", ElectraUse::kMaskedLm},
    {"ElectraForSequenceClassification", ElectraUse::kSequence},
    {"ElectraForMultipleChoice", ElectraUse::kChoice},
    {"ElectraForTokenClassification", ElectraUse::kToken},
    {"ElectraForQuestionAnswering", ElectraUse::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class Electra : public Model {
 public:
  Electra(const Module& root, const BertConfig& config,
          const Gpt2SummaryConfig& summary, ElectraUse use)
      : config_(config),
        use_(use),
        root_(root),
        base_(use == ElectraUse::kNone ? root : root.Child("electra")),
        embeddings_(base_.Child("embeddings"), TableConfig(config),
                    config.vocabulary, config.positions, config.types),
        project_(
            config.embedding != config.layer.hidden
                ? std::optional<Linear>(
                      std::in_place,
                      base_.Child("embeddings_project", RegionKind::kLinear),
                      config.embedding, config.layer.hidden, true)
                : std::nullopt),
        encoder_(base_.Child("encoder"), config.layer, config.layers) {
    AddHead(summary);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (use_ == ElectraUse::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled, cache] =
        RunBase(inputs.input_ids, inputs.attention);
    switch (use_) {
      case ElectraUse::kPreTraining: {
        const Tensor logits = discriminator_->Forward(hidden);
        inputs.Return(logits);
        return inputs.labels.empty() ? logits
                                     : ReplacedLoss(logits, inputs.labels);
      }
      case ElectraUse::kCausalLm: {
        const Tensor logits = Score(KeptRows(hidden, inputs));
        return Scored(logits, inputs, CausalLmLoss);
      }
      case ElectraUse::kMaskedLm: {
        const Tensor logits = Score(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case ElectraUse::kSequence: {
        const Tensor logits = sequence_head_->Forward(hidden);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case ElectraUse::kToken: {
        const Tensor dropped = dropout_->Forward(hidden);
        const Tensor logits = out_->Forward(dropped);
        return Scored(logits, inputs, RowLoss);
      }
      case ElectraUse::kAnswer:
        return StartLogits(out_->Forward(hidden), inputs);
      case ElectraUse::kNone:
      case ElectraUse::kChoice:
        break;
    }
    return hidden;
  }

 private:
  static BertLayerConfig TableConfig(const BertConfig& config) {
    BertLayerConfig out = config.layer;
    out.hidden = config.embedding;
    return out;
  }

  void AddHead(const Gpt2SummaryConfig& summary) {
    const int64_t width = config_.layer.hidden;
    switch (use_) {
      case ElectraUse::kNone:
        return;
      case ElectraUse::kPreTraining:
        discriminator_.emplace(
            root_.Child("discriminator_predictions", RegionKind::kHead),
            config_);
        return;
      case ElectraUse::kCausalLm:
      case ElectraUse::kMaskedLm:
        generator_.emplace(
            root_.Child("generator_predictions", RegionKind::kHead), config_);
        out_.emplace(root_.Child("generator_lm_head", RegionKind::kHead),
                     config_.embedding, config_.vocabulary, true);
        out_->module.MarkOutputEmbeddings();
        if (config_.tie_embeddings) {
          root_.builder().Tie(out_->weight, embeddings_.word_embeddings.weight);
        }
        return;
      case ElectraUse::kSequence:
        sequence_head_.emplace(root_.Child("classifier", RegionKind::kHead),
                               config_);
        return;
      case ElectraUse::kChoice:
        summary_.emplace(root_.Child("sequence_summary"), summary, width);
        return AddClassifier("classifier", 1);
      case ElectraUse::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        return AddClassifier("classifier", config_.labels.count);
      case ElectraUse::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    out_.emplace(root_.Child(name, RegionKind::kHead), config_.layer.hidden,
                 out, true);
  }

  BertResults RunBase(const Tensor& input_ids,
                      std::string_view attention) const {
    const Scope scope = base_.Enter();
    Tensor embedded = embeddings_.Forward(input_ids);
    if (project_) embedded = project_->Forward(embedded);
    return encoder_.Forward(embedded, attention);
  }

  Tensor Score(const Tensor& hidden) const {
    const Tensor narrowed = generator_->Forward(hidden);
    return out_->Forward(narrowed);
  }

  // Which tokens were replaced: one score each.
  Tensor ReplacedLoss(const Tensor& logits, const Tensor& labels) const {
    const Tensor rows = View(logits, {-1, logits.size(1)});
    return BinaryCrossEntropyWithLogits(rows, To(labels, DType::kFloat32));
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const BertResults results = RunBase(rows, inputs.attention);
    const Tensor pooled = summary_->Forward(results.hidden);
    const Tensor scores = out_->Forward(pooled);
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  BertConfig config_;
  ElectraUse use_;
  Module root_;
  Module base_;
  BertEmbeddings embeddings_;
  std::optional<Linear> project_;
  BertEncoder encoder_;
  std::optional<ElectraDiscriminator> discriminator_;
  std::optional<ElectraGenerator> generator_;
  std::optional<ElectraSequenceHead> sequence_head_;
  std::optional<Gpt2Summary> summary_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> out_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &ElectraClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const ElectraUse use = found->use;
  const bool drops = use == ElectraUse::kSequence || use == ElectraUse::kToken;
  BertConfig settings = ReadBert(
      config,
      {.activation = use == ElectraUse::kPreTraining,
       .labels = drops || use == ElectraUse::kAnswer,
       .classifier_dropout = drops},
      {.hidden = 256, .heads = 4, .intermediate = 1024, .embedding = 128});
  // Classes whose forward takes no use_cache follow the file, as decoders.
  settings.layer.fills_cache =
      settings.layer.is_decoder && use != ElectraUse::kNone &&
      use != ElectraUse::kCausalLm && config.Flag({"use_cache"}, true);
  const Gpt2SummaryConfig summary = ReadElectraSummary(
      config, use == ElectraUse::kChoice, settings.labels.count);
  CheckDirection(config, class_name, use == ElectraUse::kCausalLm,
                 use == ElectraUse::kMaskedLm);
  auto model = std::make_unique<Electra>(root, settings, summary, use);
  StateBertLayers(settings, *model);
  model->runs_without_cache =
      use == ElectraUse::kCausalLm && !settings.layer.is_decoder;
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"electra"};

}  // namespace

extern const Family kElectraFamily = {
    .name = "electra",
    .title = "ELECTRA",
    .doc =
        "BERT's layers above embeddings of a width of their own; its "
        "discriminator tells which tokens a generator has replaced.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
