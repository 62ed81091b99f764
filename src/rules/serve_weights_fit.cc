#include <fmt/format.h>

#include "rules/serve_rules.h"

namespace foretell {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

}  // namespace

RuleOutcome RuleWeightsFit(const ServeRule& rule, const ServeRuleInput& input) {
  RuleOutcome out;
  if (!input.weights_bytes || !input.budget_bytes) {
    out.cannot_tell = input.weights_bytes
                          ? "how much memory the card has"
                          : "how many bytes one rank's weights take";
    return out;
  }
  if (*input.weights_bytes <= *input.budget_bytes) return out;
  const double weights = static_cast<double>(*input.weights_bytes) / kGib;
  const double budget = static_cast<double>(*input.budget_bytes) / kGib;
  Finding finding;
  finding.rule = rule.id;
  finding.severity = Severity::kBlock;
  finding.what = fmt::format(
      "one rank's weights take {:.2f} GiB, and the engine may take {:.2f} GiB",
      weights, budget);
  finding.why =
      "the start ends out of memory, or with \"No available memory for the "
      "cache blocks\"";
  const ServingSettings& settings = input.outcome->settings;
  finding.fix =
      fmt::format("--tensor-parallel-size {}", settings.tensor_parallel * 2);
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
