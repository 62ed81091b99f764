// The losses of classes whose head is not generated text: one label per
// sequence, one per token, the ends of an answer.
//
// Which loss a sequence's labels take is the configuration's `problem_type`;
// where it says nothing, one label is a regression.
// Source: transformers 5.23, models/{bert,gpt2,t5}/modeling_*.py
// (ForSequenceClassification, ForTokenClassification, ForQuestionAnswering),
// modeling_layers.py, loss/loss_utils.py.
#ifndef FORETELL_MODELS_LAYERS_CLASSIFICATION_H_
#define FORETELL_MODELS_LAYERS_CLASSIFICATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "graph/builder.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

struct LabelConfig {
  int64_t count = 2;
  std::string problem_type;  // empty where it follows from the count
};

// num_labels, id2label and problem_type. A class without labels (`needed` is
// false) still refuses what the library refuses for all.
LabelConfig ReadLabels(const ConfigView& config, bool needed,
                       int64_t otherwise = 2);

// logits [b, count], labels [b] -> [].
Tensor SequenceLoss(const Tensor& logits, const Tensor& labels,
                    const LabelConfig& config);
// logits [..., classes], labels of as many rows -> [].
Tensor RowLoss(const Tensor& logits, const Tensor& labels);
// The same in float32, as the generic class for tokens computes it.
Tensor TokenLoss(const Tensor& logits, const Tensor& labels);
// The scores at the last token of each row that is not padding, and what found
// that token: names of the class's forward, which live through its loss.
struct LastTokens {
  Tensor is_kept;  // [b, s]
  Tensor places;   // [s]
  Tensor last;     // [b]
  Tensor scores;   // [b, count]
};

// Of logits [b, s, count]. Without a padding token the last of all, of one row
// only.
LastTokens LastOfRow(const Tensor& logits, const Tensor& input_ids,
                     std::optional<int64_t> padding);
// logits [b, s, 2] -> those of the start [b, s]; without positions there is no
// loss. Those of the end are returned beside them.
Tensor StartLogits(const Tensor& logits, const ForwardInputs& inputs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CLASSIFICATION_H_
