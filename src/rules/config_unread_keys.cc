#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/model_rules.h"

namespace foretell {

RuleOutcome RuleUnreadKeys(const ModelRuleInput& input) {
  RuleOutcome out;
  if (input.unread->empty()) return out;
  // A hostile file may hold a million keys, or one of a megabyte.
  constexpr size_t kShown = 40;
  constexpr size_t kLongest = 80;
  std::vector<std::string> keys;
  for (const std::string& key : *input.unread) {
    if (keys.size() == kShown) {
      keys.push_back(fmt::format("and {} more", input.unread->size() - kShown));
      break;
    }
    keys.push_back(key.size() > kLongest ? key.substr(0, kLongest) + "…" : key);
  }
  Finding finding;
  finding.rule = "config/unread-keys";
  finding.severity = Severity::kWarn;
  finding.what = fmt::format("{} of the configuration {} not read by {}: {}",
                             input.unread->size() == 1
                                 ? std::string("one key")
                                 : fmt::format("{} keys", input.unread->size()),
                             input.unread->size() == 1 ? "is" : "are",
                             input.class_name, fmt::join(keys, ", "));
  finding.why =
      "the class has no use for them; a fork that does would be another model";
  finding.place.source = input.config->source;
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
