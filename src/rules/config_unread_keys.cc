#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/model_rules.h"

namespace foretell {

RuleOutcome RuleUnreadKeys(const ModelRuleInput& input) {
  RuleOutcome out;
  if (input.unread->empty()) return out;
  Finding finding;
  finding.rule = "config/unread-keys";
  finding.severity = Severity::kWarn;
  finding.what = fmt::format("{} of the configuration {} not read by {}: {}",
                             input.unread->size() == 1
                                 ? std::string("one key")
                                 : fmt::format("{} keys", input.unread->size()),
                             input.unread->size() == 1 ? "is" : "are",
                             input.class_name, fmt::join(*input.unread, ", "));
  finding.why =
      "the class has no use for them; a fork that does would be another model";
  finding.place.source = input.config->source;
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
