// Rules over a model that was read: what its figures and its file say beside
// each other.
//
// One file per rule; each has a row in `ModelRules()` with its doc. Families
// report what their classes refuse themselves, under `model/…` and `config/…`,
// since only they know it.
#ifndef FORETELL_RULES_MODEL_RULES_H_
#define FORETELL_RULES_MODEL_RULES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/parameters.h"
#include "base/finding.h"
#include "spec/model_config.h"

namespace foretell {

// What a rule sees.
struct ModelRuleInput {
  const ModelConfig* config = nullptr;
  std::string class_name;
  const ParameterAnalysis* parameters = nullptr;
  const std::vector<std::string>* unread = nullptr;  // keys that nothing read
};

struct RuleOutcome {
  std::vector<Finding> findings;
  std::string cannot_tell;  // why the rule could not run; empty where it did
};

struct ModelRule {
  std::string_view id;   // "model/published-total"
  std::string_view doc;  // what it checks and why, a sentence or two
  RuleOutcome (*run)(const ModelRuleInput& input);
};

std::span<const ModelRule> ModelRules();

// One function per rule's file.
RuleOutcome RuleUnreadKeys(const ModelRuleInput& input);
RuleOutcome RulePublishedTotal(const ModelRuleInput& input);
RuleOutcome RuleQuantization(const ModelRuleInput& input);

}  // namespace foretell

#endif  // FORETELL_RULES_MODEL_RULES_H_
