#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/model_rules.h"

namespace foretell {

namespace {

// Elements that a checkpoint stores once more where it writes ties out, and
// the names; nothing where there are no ties.
int64_t TiedElements(const ParameterAnalysis& parameters,
                     std::vector<std::string>& names) {
  int64_t sum = 0;
  for (const TiedName& tie : parameters.ties) {
    for (const TensorGroup& group : parameters.tensors) {
      if (group.name != tie.target) continue;
      sum += group.Elements().value_or(0);
      names.push_back(tie.name);
    }
  }
  return sum;
}

}  // namespace

RuleOutcome RulePublishedTotal(const ModelRuleInput& input) {
  RuleOutcome out;
  const auto& catalogue = input.config->catalogue;
  if (!catalogue || !catalogue->published) {
    out.cannot_tell = "no published total is known for this configuration";
    return out;
  }
  if (!catalogue->asked.empty() && catalogue->asked != catalogue->id) {
    out.cannot_tell = "the published total is that of " + catalogue->id;
    return out;
  }
  if (!input.parameters->total.is_exact()) {
    out.cannot_tell = "the derived total is unknown";
    return out;
  }
  const int64_t derived = input.parameters->total.exact();
  const int64_t published = catalogue->published->parameters;
  if (derived == published) return out;
  Finding finding;
  finding.rule = "model/published-total";
  finding.severity = Severity::kWarn;
  const double share =
      100.0 * (static_cast<double>(derived) - static_cast<double>(published)) /
      static_cast<double>(published);
  finding.what = fmt::format(
      "{} has {} parameters and the published total is {}: {}{} ({:+.3f} %)",
      input.class_name, WithSeparators(derived), WithSeparators(published),
      derived > published ? "+" : "", WithSeparators(derived - published),
      share);
  std::vector<std::string> tied;
  if (derived + TiedElements(*input.parameters, tied) == published) {
    finding.severity = Severity::kInfo;
    finding.why = fmt::format("the checkpoint stores {} although it is tied",
                              fmt::join(tied, " and "));
    finding.place.source = input.config->source;
    out.findings.push_back(std::move(finding));
    return out;
  }
  finding.why = fmt::format(
      "the checkpoint holds other tensors than the class, stores a tied one "
      "twice, or the figure was rounded ({})",
      catalogue->published->where);
  finding.place.source = input.config->source;
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
