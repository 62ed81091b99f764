// The classes of BERT's modeling file over any body with its names: embeddings
// and encoder below "bert", a pooler, and the heads.
//
// A body is built at a module with a BertConfig, has `embeddings` with
// `word_embeddings`, and gives of input_ids [b, s] a BertResults.
// Source: transformers 5.23, models/{bert,megatron_bert}/modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_BERT_CLASSES_H_
#define FORETELL_MODELS_LAYERS_BERT_CLASSES_H_

#include <memory>
#include <optional>
#include <string_view>

#include "graph/ops/views.h"
#include "models/layers/bert_head.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/kept_rows.h"
#include "models/layers/read_bert.h"
#include "models/model.h"

namespace foretell {

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

inline bool HasVocabularyHead(BertHead head) {
  return head == BertHead::kPreTraining || head == BertHead::kCausalLm ||
         head == BertHead::kMaskedLm;
}

template <class Body>
class BertClasses : public Model {
 public:
  BertClasses(const Module& root, const BertConfig& config,
              const BertClass& which)
      : config_(config),
        head_(which.head),
        root_(root),
        base_(head_ == BertHead::kNone ? root : root.Child("bert")),
        body_(base_, config) {
    follows_mask = kTakesMask && head_ != BertHead::kChoice;
    if (which.pooler) pooler_.emplace(base_.Child("pooler"), Hidden());
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (head_ == BertHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled, cache] = RunBase(inputs.input_ids, inputs);
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
        const Tensor logits =
            vocabulary_head_->Forward(KeptRows(hidden, inputs));
        return Scored(logits, inputs, CausalLmLoss);
      }
      case BertHead::kMaskedLm: {
        const Tensor logits = vocabulary_head_->Forward(hidden);
        return Scored(logits, inputs, RowLoss);
      }
      case BertHead::kNextSentence: {
        const Tensor logits = classifier_->Forward(pooled);
        return Scored(logits, inputs, RowLoss);
      }
      case BertHead::kSequence: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(pooled));
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case BertHead::kToken: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(hidden));
        return Scored(logits, inputs, RowLoss);
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
        vocabulary_head_->Tie(body_.embeddings.word_embeddings.weight);
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
                      const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    BertResults out = RunBody(input_ids, inputs);
    if (pooler_) out.pooled = pooler_->Forward(out.hidden);
    return out;
  }

  static constexpr bool kTakesMask =
      requires(const Body& body, const Tensor& tensor) {
        body.Forward(tensor, std::string_view(), tensor);
      };

  BertResults RunBody(const Tensor& input_ids,
                      const ForwardInputs& inputs) const {
    if constexpr (kTakesMask) {
      return body_.Forward(input_ids, inputs.attention, inputs.attention_mask);
    } else {
      return body_.Forward(input_ids, inputs.attention);
    }
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
  BertHead head_;
  Module root_;
  Module base_;
  Body body_;
  std::optional<BertPooler> pooler_;
  std::optional<Module> cls_;
  std::optional<BertVocabularyHead> vocabulary_head_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

// What the class's head reads.
inline BertNeeds NeedsOf(BertHead head) {
  const bool drops = head == BertHead::kSequence || head == BertHead::kToken;
  return {.activation = HasVocabularyHead(head),
          .labels = drops || head == BertHead::kAnswer,
          .classifier_dropout = drops || head == BertHead::kChoice};
}

// The model of a class, from what its configuration says.
template <class Body>
std::unique_ptr<Model> BuildBertClass(const ConfigView& config,
                                      const Module& root, BertConfig settings,
                                      const BertClass& which) {
  const BertHead head = which.head;
  const bool is_causal = head == BertHead::kCausalLm;
  // Classes whose forward takes no use_cache follow the file, as decoders.
  settings.layer.fills_cache = settings.layer.is_decoder &&
                               head != BertHead::kNone && !is_causal &&
                               config.Flag({"use_cache"}, true);
  CheckDirection(config, which.name, is_causal, head == BertHead::kMaskedLm);
  auto model = std::make_unique<BertClasses<Body>>(root, settings, which);
  StateBertLayers(settings, *model);
  model->runs_without_cache = is_causal && !settings.layer.is_decoder;
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BERT_CLASSES_H_
