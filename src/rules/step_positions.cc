#include <fmt/format.h>

#include "base/figure.h"
#include "rules/step_rules.h"

namespace foretell {

RuleOutcome RulePositions(const StepRuleInput& input) {
  RuleOutcome out;
  const bool has_table = !input.position_table.empty();
  if (!input.context) {
    if (has_table) {
      out.cannot_tell = "how many positions " + input.position_table + " has";
    }
    return out;
  }
  if (input.sequence <= *input.context) return out;
  Finding finding;
  finding.rule = "step/positions";
  finding.severity = has_table ? Severity::kBlock : Severity::kWarn;
  const std::string tokens = WithSeparators(input.sequence);
  const std::string most = WithSeparators(*input.context);
  finding.what =
      fmt::format("a sequence has {} tokens, and {} reaches {} positions ({})",
                  tokens, input.class_name, most, input.context_source);
  finding.why =
      has_table
          ? fmt::format(
                "{} has no row for later positions: PyTorch stops "
                "with \"index out of range in self\", on a card with "
                "a device-side assert",
                input.position_table)
          : "the step runs, at positions that the model was not trained for";
  finding.fix = fmt::format("--seq {}", *input.context);
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
