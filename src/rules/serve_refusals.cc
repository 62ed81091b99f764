#include <algorithm>
#include <utility>

#include "rules/serve_rules.h"

namespace foretell {
namespace {

// The rules that can be told from the flags alone.
bool NeedsModel(std::string_view kind) { return kind != "flags"; }

Place PlaceOfFlag(const Launch& launch, const std::string& flag) {
  if (flag == "model") return launch.model_place;
  const LaunchSetting* setting = launch.Find(flag);
  return setting == nullptr ? Place() : setting->place;
}

Finding FindingOf(const ServeRule& rule, const ServeRuleInput& input,
                  const VllmRefusal& refusal, Severity severity) {
  Finding finding;
  finding.rule = rule.id;
  finding.severity = severity;
  finding.what = refusal.what;
  finding.why = refusal.why;
  finding.fix = refusal.fix;
  finding.place = PlaceOfFlag(*input.launch, refusal.flag);
  return finding;
}

}  // namespace

RuleOutcome RuleRefusals(const ServeRule& rule, const ServeRuleInput& input) {
  RuleOutcome out;
  if (rule.kind == "flags") {
    // With the places that only the reader of the line knows.
    for (const LaunchFault& fault : input.launch->faults) {
      if (fault.kind == LaunchFault::Kind::kFile) continue;
      Finding finding;
      finding.rule = rule.id;
      finding.severity = fault.refuses ? Severity::kBlock : Severity::kInfo;
      finding.what = fault.what;
      finding.why = fault.why;
      finding.fix = fault.fix;
      finding.place = fault.place;
      out.findings.push_back(std::move(finding));
    }
    return out;
  }
  for (const VllmRefusal& one : input.outcome->refusals) {
    if (one.kind != rule.kind) continue;
    out.findings.push_back(FindingOf(rule, input, one, Severity::kBlock));
  }
  for (const VllmRefusal& one : input.outcome->at_start) {
    if (one.kind != rule.kind) continue;
    out.findings.push_back(FindingOf(rule, input, one, Severity::kBlock));
  }
  for (const VllmRefusal& one : input.outcome->warnings) {
    if (one.kind != rule.kind) continue;
    out.findings.push_back(FindingOf(rule, input, one, Severity::kWarn));
  }
  if (out.findings.empty() && NeedsModel(rule.kind)) {
    if (!input.has_model) {
      out.cannot_tell = "the model's configuration is not known";
    } else if (!input.was_resolved) {
      out.cannot_tell = "the engine ends before it comes to this";
    }
  }
  return out;
}

}  // namespace foretell
