#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/figure.h"
#include "rules/serve_rules.h"

namespace foretell {

RuleOutcome RulePreemption(const ServeRule& rule, const ServeRuleInput& input) {
  RuleOutcome out;
  if (!input.pressure) return out;  // no length is asked
  const ServePressure& pressure = *input.pressure;
  const ServingSettings& settings = input.outcome->settings;
  const auto most = static_cast<double>(settings.max_num_seqs);
  if (pressure.holds_low >= most) return out;
  Finding finding;
  finding.rule = rule.id;
  finding.severity = Severity::kInfo;
  finding.what = fmt::format(
      "the scheduler lets {} sequences in, and the cache holds {:.1f} to "
      "{:.1f} "
      "requests of {} tokens",
      WithSeparators(settings.max_num_seqs), pressure.holds_low,
      pressure.holds_high, WithSeparators(pressure.tokens));
  finding.why =
      settings.is_v1
          ? "past so many the newest request is preempted: its blocks are "
            "freed, and it is computed again from its prompt on"
          : "past so many the newest request is preempted: it is computed "
            "again, or swapped to the host where it has several sequences";
  const auto holds = static_cast<int64_t>(std::max(1.0, pressure.holds_low));
  finding.fix = fmt::format("--max-num-seqs {}", holds);
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
