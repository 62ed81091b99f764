#include "models/layers/classification.h"

#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/loss.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "models/layers/functional.h"
#include "models/layers/heads.h"

namespace foretell {

LabelConfig ReadLabels(const ConfigView& config, bool needed,
                       int64_t otherwise) {
  LabelConfig out;
  out.count = otherwise;
  if (needed || config.Raw("num_labels") || config.Raw("problem_type")) {
    out.count = ReadLabelCount(config, otherwise);
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
  const auto joined = BroadcastShapes(logits.shape(), labels.shape());
  if (type == "regression" && joined) {
    const Tensor numbers =
        logits.shape() == *joined ? logits : Expand(logits, *joined);
    return MseLoss(
        numbers, labels.shape() == *joined ? labels : Expand(labels, *joined));
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

Tensor TokenLoss(const Tensor& logits, const Tensor& labels) {
  const Tensor rows = View(logits, {-1, logits.size(-1)});
  const Tensor targets = View(labels, {-1});
  return CrossEntropy(To(rows, DType::kFloat32), targets);
}

LastTokens LastOfRow(const Tensor& logits, const Tensor& input_ids,
                     std::optional<int64_t> padding) {
  LastTokens out;
  Builder& builder = logits.builder();
  const int64_t batch = input_ids.size(0);
  if (!padding) {
    if (batch != 1) {
      builder.Fail("several sequences need pad_token_id, which is not set");
    }
    const Tensor rows[] = {Arange(builder, batch)};
    out.scores = Index(Select(logits, 1, -1), rows);
    return out;
  }
  out.is_kept =
      To(NeScalar(input_ids, static_cast<double>(*padding)), DType::kInt32);
  out.places = Arange(builder, input_ids.size(-1), DType::kInt32);
  out.last = Argmax(Mul(out.places, out.is_kept), -1);
  const Tensor chosen[] = {Arange(builder, batch), out.last};
  out.scores = Index(logits, chosen);
  return out;
}

Tensor StartLogits(const Tensor& logits, const ForwardInputs& inputs) {
  const std::vector<Tensor> ends = Split(logits, 1, -1);
  if (ends.size() != 2) {
    logits.builder().Fail("an answer has two ends, not " +
                          std::to_string(ends.size()));
    return logits;
  }
  const Tensor start = Contiguous(SqueezeAxis(ends[0], -1));
  inputs.Return(Contiguous(SqueezeAxis(ends[1], -1)));
  return start;
}

}  // namespace foretell
