// Rules over one step: what its sizes ask of the model, judged before any
// operation is written.
//
// One file per rule; each has a row in `StepRules()` with its doc.
#ifndef FORETELL_RULES_STEP_RULES_H_
#define FORETELL_RULES_STEP_RULES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rules/model_rules.h"

namespace foretell {

// What a rule sees.
struct StepRuleInput {
  std::string class_name;
  int64_t sequence = 0;  // tokens of the longest side, encoder or decoder
  // How far positions reach, and the key that says so.
  std::optional<int64_t> context = std::nullopt;
  std::string context_source = {};
  // The name of a learned table of positions; empty where there is none.
  std::string position_table = {};
};

struct StepRule {
  std::string_view id;   // "step/positions"
  std::string_view doc;  // what it checks and why, a sentence or two
  RuleOutcome (*run)(const StepRuleInput& input);
};

std::span<const StepRule> StepRules();

// One function per rule's file.
RuleOutcome RulePositions(const StepRuleInput& input);

}  // namespace foretell

#endif  // FORETELL_RULES_STEP_RULES_H_
