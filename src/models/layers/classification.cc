#include "models/layers/classification.h"

#include <vector>

#include "graph/ops/loss.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/heads.h"

namespace foretell {

LabelConfig ReadLabels(const ConfigView& config, bool needed) {
  LabelConfig out;
  if (needed || config.Raw("num_labels") || config.Raw("problem_type")) {
    out.count = ReadLabelCount(config);
    out.problem_type = config.OptionalText({"problem_type"}).value_or("");
  }
  config.Ignore({"id2label", "label2id"});
  return out;
}

Tensor SequenceLoss(const Tensor& logits, const Tensor& labels,
                    const LabelConfig& config) {
  const std::string inferred = config.count == 1 ? "regression"
                               : config.count > 1
                                   ? "single_label_classification"
                                   : "multi_label_classification";
  const std::string& type =
      config.problem_type.empty() ? inferred : config.problem_type;
  if (type == "single_label_classification") return RowLoss(logits, labels);
  if (type == "regression" && config.count == 1) {
    const Tensor numbers = Squeeze(logits);
    return MseLoss(numbers, Squeeze(labels));
  }
  logits.builder().Fail("a " + type + " of several labels needs labels of " +
                        logits.shape().ToString() + ", not " +
                        labels.shape().ToString());
  return logits;
}

Tensor RowLoss(const Tensor& logits, const Tensor& labels) {
  const Tensor rows = View(logits, {-1, logits.size(-1)});
  return CrossEntropy(rows, View(labels, {-1}));
}

Tensor StartLogits(const Tensor& logits) {
  const std::vector<Tensor> ends = Split(logits, 1, -1);
  if (ends.size() < 2) {
    logits.builder().Fail("an answer's ends need two labels, not " +
                          std::to_string(ends.size()));
    return logits;
  }
  const Tensor start = Contiguous(SqueezeAxis(ends[0], -1));
  const Tensor end = Contiguous(SqueezeAxis(ends[1], -1));
  return start;
}

}  // namespace foretell
