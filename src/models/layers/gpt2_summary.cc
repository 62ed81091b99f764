#include "models/layers/gpt2_summary.h"

#include <fmt/format.h>

#include "graph/ops/creation.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"

namespace foretell {

Gpt2SummaryConfig ReadGpt2Summary(const ConfigView& config, bool needed) {
  Gpt2SummaryConfig out;
  CheckFields(config, {{"summary_type", FieldKind::kText},
                       {"summary_use_proj", FieldKind::kFlag},
                       {"summary_activation", FieldKind::kText, true},
                       {"summary_proj_to_labels", FieldKind::kFlag},
                       {"summary_first_dropout", FieldKind::kNumber}});
  // No field of the class, but the head looks for it.
  config.Ignore({"summary_last_dropout"});
  if (!needed) return out;
  out.type = config.Text({"summary_type"}, "cls_index");
  out.project = config.Flag({"summary_use_proj"}, true);
  out.project_to_labels = config.Flag({"summary_proj_to_labels"}, true);
  const auto activation = config.OptionalText({"summary_activation"});
  if (activation && !activation->empty()) {
    out.activation = ActivationNamed(config, "summary_activation", *activation);
  }
  out.first_dropout = ReadDropout(config, "summary_first_dropout", 0.1);
  if (config.Has("summary_last_dropout")) {
    out.last_dropout = ReadDropout(config, "summary_last_dropout", 0);
  }
  if (out.type == "attn") {
    config.Find("model/summary", Severity::kBlock, "summary_type",
                "summary_type is attn",
                "the class has no such summary and refuses to be built",
                "\"summary_type\": \"cls_index\"");
  }
  return out;
}

Gpt2Summary::Gpt2Summary(const Module& at, const Gpt2SummaryConfig& config,
                         int64_t hidden)
    : module(at),
      type(config.type),
      first_dropout(at.Child("first_dropout"), config.first_dropout),
      last_dropout(at.Child("last_dropout"), config.last_dropout) {
  if (config.project) {
    summary.emplace(at.Child("summary", RegionKind::kLinear), hidden,
                    config.project_to_labels ? config.labels : hidden, true);
  }
  if (config.activation) {
    activation.emplace(at.Child("activation"), *config.activation);
  }
}

Tensor Gpt2Summary::Pick(const Tensor& hidden) const {
  if (type == "last") return Select(hidden, 1, -1);
  if (type == "first") return Select(hidden, 1, 0);
  if (type == "mean") return MeanOver(hidden, 1);
  if (type == "cls_index") {
    const auto last = static_cast<double>(hidden.size(-2) - 1);
    const Tensor index =
        FullLike(SliceRange(hidden, 1, 0, 1), last, DType::kInt64);
    return SqueezeAxis(Gather(hidden, -2, index), -2);
  }
  hidden.builder().Fail("no summary of type \"" + type.substr(0, 40) + "\"");
  return hidden;
}

Tensor Gpt2Summary::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Tensor out = Pick(hidden);
  out = first_dropout.Forward(out);
  if (summary) out = summary->Forward(out);
  if (activation) out = activation->Forward(out);
  return last_dropout.Forward(out);
}

}  // namespace foretell
