// NomicBERT: the encoder of Nomic's text embedders, BERT with rotary positions
// and gated feed-forwards.
//
// Files that were written for Nomic's own code name their keys as GPT-2 does:
// the library looks at none of those and takes its defaults.
// Source: transformers 5.23, models/nomic_bert/modeling_nomic_bert.py and
// configuration_nomic_bert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/heads.h"
#include "models/layers/nomic_bert_layer.h"

namespace foretell {
namespace {

enum class NomicHead { kNone, kMaskedLm, kSequence, kToken };

struct NomicClass {
  std::string_view name;
  NomicHead head;
};

constexpr std::array<NomicClass, 4> kTable = {{
    {"NomicBertForMaskedLM", NomicHead::kMaskedLm},
    {"NomicBertModel", NomicHead::kNone},
    {"NomicBertForSequenceClassification", NomicHead::kSequence},
    {"NomicBertForTokenClassification", NomicHead::kToken},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

class NomicBert : public Model {
 public:
  NomicBert(const Module& root, const BertConfig& config,
            const RopeConfig& rope, NomicHead head)
      : config_(config),
        head_(head),
        root_(root),
        body_(head == NomicHead::kNone ? root : root.Child("nomic_bert"),
              config, rope, head == NomicHead::kSequence) {
    if (head == NomicHead::kNone) return;
    if (head == NomicHead::kMaskedLm) {
      vocabulary_head_.emplace(root.Child("cls", RegionKind::kHead)
                                   .Child("predictions", RegionKind::kHead),
                               config);
      if (config.tie_embeddings) {
        vocabulary_head_->Tie(body_.word_embeddings.weight);
      }
      return;
    }
    dropout_.emplace(root.Child("dropout"), config.classifier_dropout);
    classifier_.emplace(root.Child("classifier", RegionKind::kHead),
                        config.layer.hidden, config.labels.count, true);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const BertResults results =
        body_.Forward(inputs.input_ids, inputs.attention);
    switch (head_) {
      case NomicHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(results.hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case NomicHead::kSequence: {
        const Tensor pooled = dropout_->Forward(results.pooled);
        const Tensor logits = classifier_->Forward(pooled);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case NomicHead::kToken: {
        const Tensor dropped = dropout_->Forward(results.hidden);
        const Tensor logits = classifier_->Forward(dropped);
        return Scored(logits, inputs, RowLoss);
      }
      case NomicHead::kNone:
        break;
    }
    return results.hidden;
  }

 private:
  BertConfig config_;
  NomicHead head_;
  Module root_;
  NomicBody body_;
  std::optional<NomicVocabularyHead> vocabulary_head_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

// A head's width stands by itself here.
void ReadHeadDim(const ConfigView& config, BertConfig& settings) {
  if (!config.Has("head_dim")) {
    config.Derive("head_dim",
                  ConfigValue::Number(std::to_string(settings.layer.head_dim)));
    return;
  }
  settings.layer.head_dim = config.Size({"head_dim"}, settings.layer.head_dim);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &NomicClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const NomicHead head = found->head;
  const bool classifies =
      head == NomicHead::kSequence || head == NomicHead::kToken;
  CheckFields(config, {{"hidden_dropout_prob", FieldKind::kFloat},
                       {"attention_probs_dropout_prob", FieldKind::kFloat},
                       {"classifier_dropout", FieldKind::kFloat, true},
                       {"pad_token_id", FieldKind::kWhole}});
  BertConfig settings = ReadBert(config,
                                 {.activation = head == NomicHead::kMaskedLm,
                                  .labels = classifies,
                                  .classifier_dropout = classifies},
                                 {.vocabulary = 30528,
                                  .activation = "silu",
                                  .dropout = 0,
                                  .positions = 2048,
                                  .checks_heads = false,
                                  .decodes = false});
  ReadHeadDim(config, settings);
  const RopeConfig rope =
      ReadRope(config, {.default_theta = 1000,
                        .positions = settings.positions,
                        .head_dim = settings.layer.head_dim,
                        .head_dim_is_held = config.Has("head_dim")});
  auto model = std::make_unique<NomicBert>(root, settings, rope, head);
  StateBertLayers(settings, *model);
  model->context_length = RopeContext(rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"nomic_bert"};

}  // namespace

extern const Family kNomicBertFamily = {
    .name = "nomic_bert",
    .title = "NomicBERT",
    .doc =
        "BERT with rotary positions and gated feed-forwards, without biases in "
        "its layers.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
