// BigBird: BERT for long texts, whose attention goes by blocks where a sequence
// is long enough for them.
//
// Source: transformers 5.23, models/big_bird/modeling_big_bird.py and
// configuration_big_bird.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/bert_head.h"
#include "models/layers/big_bird_layer.h"
#include "models/layers/check_fields.h"
#include "models/layers/heads.h"
#include "models/layers/kept_rows.h"

namespace foretell {
namespace {

enum class BigBirdHead {
  kNone,
  kPreTraining,
  kCausalLm,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct BigBirdClass {
  std::string_view name;
  BigBirdHead head;
};

constexpr std::array<BigBirdClass, 8> kTable = {{
    {"BigBirdForCausalLM", BigBirdHead::kCausalLm},
    {"BigBirdModel", BigBirdHead::kNone},
    {"BigBirdForPreTraining", BigBirdHead::kPreTraining},
    {"BigBirdForMaskedLM", BigBirdHead::kMaskedLm},
    {"BigBirdForSequenceClassification", BigBirdHead::kSequence},
    {"BigBirdForMultipleChoice", BigBirdHead::kChoice},
    {"BigBirdForTokenClassification", BigBirdHead::kToken},
    {"BigBirdForQuestionAnswering", BigBirdHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

bool HasVocabularyHead(BigBirdHead head) {
  return head == BigBirdHead::kPreTraining || head == BigBirdHead::kCausalLm ||
         head == BigBirdHead::kMaskedLm;
}

class BigBird : public Model {
 public:
  BigBird(const Module& root, const BertConfig& config, const BigBirdForm& form,
          BigBirdHead head)
      : config_(config),
        head_(head),
        root_(root),
        body_(head == BigBirdHead::kNone ? root : root.Child("bert"), config,
              form, head != BigBirdHead::kAnswer) {
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor& labels = inputs.labels;
    if (head_ == BigBirdHead::kAnswer) {
      root_.builder().Fail("where a question ends depends on the data");
      return inputs.input_ids;
    }
    if (head_ == BigBirdHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled, cache] = body_.Forward(inputs.input_ids);
    switch (head_) {
      case BigBirdHead::kPreTraining: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        const Tensor relation = out_->Forward(pooled);
        inputs.Return(logits);
        inputs.Return(relation);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BigBirdHead::kCausalLm: {
        const Tensor logits =
            vocabulary_head_->Forward(KeptRows(hidden, inputs));
        return Scored(logits, inputs, CausalLmLoss);
      }
      case BigBirdHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case BigBirdHead::kSequence: {
        const Tensor logits = ClassifyFirst(hidden);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case BigBirdHead::kToken: {
        const Tensor dropped = dropout_->Forward(hidden);
        const Tensor logits = out_->Forward(dropped);
        return Scored(logits, inputs, RowLoss);
      }
      case BigBirdHead::kNone:
      case BigBirdHead::kChoice:
      case BigBirdHead::kAnswer:
        break;
    }
    inputs.Return(pooled);
    return hidden;
  }

 private:
  void AddHead() {
    const int64_t width = config_.layer.hidden;
    if (HasVocabularyHead(head_)) {
      const Module cls = root_.Child("cls", RegionKind::kHead);
      vocabulary_head_.emplace(cls.Child("predictions", RegionKind::kHead),
                               config_.layer, config_.vocabulary, width);
      if (config_.tie_embeddings) {
        vocabulary_head_->Tie(body_.embeddings.word_embeddings.weight);
      }
      if (head_ == BigBirdHead::kPreTraining) {
        AddClassifier(cls, "seq_relationship", 2);
      }
      return;
    }
    switch (head_) {
      case BigBirdHead::kSequence: {
        classifier_ = root_.Child("classifier", RegionKind::kHead);
        dense_.emplace(classifier_->Child("dense", RegionKind::kHead), width,
                       width, true);
        dropout_.emplace(classifier_->Child("dropout"),
                         config_.classifier_dropout);
        return AddClassifier(*classifier_, "out_proj", config_.labels.count);
      }
      case BigBirdHead::kChoice:
        dropout_.emplace(root_.Child("dropout"), config_.layer.hidden_dropout);
        return AddClassifier(root_, "classifier", 1);
      case BigBirdHead::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        return AddClassifier(root_, "classifier", config_.labels.count);
      case BigBirdHead::kAnswer: {
        const Module at = root_.Child("qa_classifier", RegionKind::kHead);
        intermediate_.emplace(at.Child("intermediate"), config_.layer);
        output_.emplace(at.Child("output"), config_.layer,
                        config_.layer.intermediate);
        return AddClassifier(at, "qa_outputs", 2);
      }
      default:
        return;
    }
  }

  void AddClassifier(const Module& at, std::string_view name, int64_t out) {
    out_.emplace(at.Child(name, RegionKind::kHead), config_.layer.hidden, out,
                 true);
  }

  Tensor ClassifyFirst(const Tensor& features) const {
    const Scope scope = classifier_->Enter();
    Tensor x = Select(features, 1, 0);
    x = dropout_->Forward(x);
    x = dense_->Forward(x);
    x = Activate(config_.layer.activation, x);
    x = dropout_->Forward(x);
    return out_->Forward(x);
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    const BertResults results = body_.Forward(rows);
    const Tensor pooled = dropout_->Forward(results.pooled);
    const Tensor scores = out_->Forward(pooled);
    const Tensor logits = View(scores, {-1, choices});
    return Scored(logits, inputs, CrossEntropy);
  }

  BertConfig config_;
  BigBirdHead head_;
  Module root_;
  BigBirdBody body_;
  std::optional<BertVocabularyHead> vocabulary_head_;
  std::optional<Module> classifier_;
  std::optional<Linear> dense_;
  std::optional<Dropout> dropout_;
  std::optional<BertIntermediate> intermediate_;
  std::optional<BertOutput> output_;
  std::optional<Linear> out_;
};

BigBirdForm ReadForm(const ConfigView& config, int64_t layers) {
  BigBirdForm out;
  CheckFields(config, {{"sep_token_id", FieldKind::kWhole, true}});
  const std::string type = config.Text({"attention_type"}, "block_sparse");
  out.sparse = type != "original_full";
  if (layers > 0 && out.sparse && type != "block_sparse") {
    config.Find("model/attention-type", Severity::kBlock, "attention_type",
                "attention_type is neither original_full nor block_sparse",
                "BigBirdAttention refuses it as the model is built",
                "\"attention_type\": \"original_full\"");
  }
  const int64_t block = config.SizeOrZero({"block_size"}, 64);
  const int64_t random = config.SizeOrZero({"num_random_blocks"}, 3);
  // Both are below 2^31.
  out.reach = (5 + 2 * random) * std::min<int64_t>(block, 1 << 20);
  out.has_bias = config.Flag({"use_bias"}, true);
  out.rescales = config.Flag({"rescale_embeddings"}, false);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BigBirdClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const BigBirdHead head = found->head;
  const bool drops =
      head == BigBirdHead::kSequence || head == BigBirdHead::kToken;
  BertConfig settings = ReadBert(
      config,
      {.activation = HasVocabularyHead(head) || head == BigBirdHead::kAnswer ||
                     head == BigBirdHead::kSequence,
       .labels = drops,
       .classifier_dropout = drops},
      {.vocabulary = 50358, .activation = "gelu_new", .positions = 4096});
  const BigBirdForm form = ReadForm(config, settings.layers);
  const bool is_causal = head == BigBirdHead::kCausalLm;
  // Classes whose forward takes no use_cache follow the file, as decoders.
  settings.layer.fills_cache = settings.layer.is_decoder &&
                               head != BigBirdHead::kNone && !is_causal &&
                               config.Flag({"use_cache"}, true);
  CheckDirection(config, class_name, is_causal, head == BigBirdHead::kMaskedLm);
  auto model = std::make_unique<BigBird>(root, settings, form, head);
  StateBertLayers(settings, *model);
  model->runs_without_cache = is_causal && !settings.layer.is_decoder;
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"big_bird"};

}  // namespace

extern const Family kBigBirdFamily = {
    .name = "big_bird",
    .title = "BigBird",
    .doc =
        "BERT for long texts: attention goes by blocks where a sequence is "
        "long enough for them, and over all tokens where it is not.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
