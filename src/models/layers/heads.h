// What stands on a base model: the language-modelling head, the generic heads
// for sequences, tokens and answers, and their losses.
//
// Source: transformers 5.23, modeling_layers.py (GenericForSequence-
// Classification and its siblings), loss/loss_utils.py (ForCausalLMLoss).
#ifndef FORETELL_MODELS_LAYERS_HEADS_H_
#define FORETELL_MODELS_LAYERS_HEADS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

enum class Head {
  kNone,  // the base model itself
  kCausalLm,
  kSequenceClassification,
  kTokenClassification,
  kQuestionAnswering,
};

// The head that a class name ends in: "ForCausalLM", "Model", …; nothing where
// the ending is another.
std::optional<Head> HeadOfClass(std::string_view class_name);

// `num_labels`, or as many as `id2label` names, or `otherwise`; notes what the
// library refuses. A number that disagrees with the names wins.
int64_t ReadLabelCount(const ConfigView& config, int64_t otherwise = 2);

// ForCausalLMLoss: logits [b, s, vocabulary] in float32, labels [b, s] shifted
// by one -> [].
Tensor CausalLmLoss(const Tensor& logits, const Tensor& labels);

// cross_entropy of logits [n, classes] and targets [n] -> [].
Tensor CrossEntropy(const Tensor& logits, const Tensor& targets);

// What a head returns: its logits, kept by the object of answers, and over them
// the loss where there are labels. `more` is what that loss reads besides.
template <class Loss, class... More>
Tensor Scored(const Tensor& logits, const ForwardInputs& inputs, Loss loss,
              const More&... more) {
  inputs.Return(logits);
  return inputs.labels.empty() ? logits : loss(logits, inputs.labels, more...);
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_HEADS_H_
