#include "report/findings_section.h"

#include <utility>

namespace foretell {

SectionShape FindingsSection() {
  return {
      .title = "Findings",
      .rows = {
          FindingsRow("findings", "Findings",
                      "What the rules found, each with what mends it."),
          FieldRow("rules_ran", "Rules that ran", CellType::kTexts,
                   "The rules that could be judged, whatever they found."),
          MapRow(
              "rules_not_run", "Rules that could not run",
              "The rules that could not be judged, and why.",
              {.name = "rule", .label = "Rule", .doc = "The rule's id."},
              {.name = "reason", .label = "Reason", .doc = "What it lacks."}),
      }};
}

void SetFindings(Document& document, const std::vector<Finding>& findings,
                 std::vector<std::string> rules_ran,
                 const std::vector<RuleNotRun>& rules_not_run) {
  for (const Finding& finding : findings) {
    document.AddFinding("findings", finding);
  }
  document.Set("rules_ran", std::move(rules_ran));
  for (const RuleNotRun& rule : rules_not_run) {
    document.AddRow("rules_not_run", {rule.rule, rule.reason});
  }
}

}  // namespace foretell
