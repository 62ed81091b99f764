// Rules over a launch of a serving engine: what the engine itself would refuse
// or quietly change, and whether its cache can hold what is asked.
//
// Each kind of refusal has a row in `ServeRules()` with its doc; the engine's
// folder found what is wrong (engines/vllm/launch.h), a rule says it with its
// numbers and the fix. The first blocking finding is the engine's own verdict.
#ifndef FORETELL_RULES_SERVE_RULES_H_
#define FORETELL_RULES_SERVE_RULES_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/vllm/launch.h"
#include "rules/model_rules.h"
#include "spec/serving.h"

namespace foretell {

// Whether one request of the served length finds its place in the cache.
struct ServeCacheFit {
  int64_t needed_bytes = 0;
  int64_t left_low = 0;  // for the cache
  int64_t left_high = 0;
  int64_t length = 0;            // served
  int64_t estimated_length = 0;  // that would fit; 0: none
  bool fits = false;             // under everything that may be left
  bool fails = false;            // surely
  bool has_left = true;          // the two bounds of what is left are known
  std::string missing = {};      // what keeps it from being told
  std::string reason = {};       // of layers that cannot share a cache
};

// Requests of an asked length: how many the cache holds at once.
struct ServePressure {
  int64_t tokens = 0;    // prompt and answer of one
  double holds_low = 0;  // under the least and the most that may be left
  double holds_high = 0;
};

// What a rule sees.
struct ServeRuleInput {
  const Launch* launch = nullptr;
  const VllmLaunch* outcome = nullptr;
  bool has_model = true;     // a configuration was found
  bool was_resolved = true;  // the configuration was worked out to its end
  // Weights of one rank against the engine's share of the card's memory.
  std::optional<int64_t> weights_bytes;
  std::optional<int64_t> budget_bytes;
  std::optional<ServeCacheFit> cache;
  std::optional<ServePressure> pressure;  // where a length is asked
};

struct ServeRule {
  std::string_view id;    // "serve/context-length"
  std::string_view kind;  // of VllmRefusal; empty: the rule computes
  std::string_view doc;
  RuleOutcome (*run)(const ServeRule& rule, const ServeRuleInput& input);
};

std::span<const ServeRule> ServeRules();

// One function per file.
RuleOutcome RuleRefusals(const ServeRule& rule, const ServeRuleInput& input);
RuleOutcome RuleCacheFit(const ServeRule& rule, const ServeRuleInput& input);
RuleOutcome RulePreemption(const ServeRule& rule, const ServeRuleInput& input);
RuleOutcome RuleWeightsFit(const ServeRule& rule, const ServeRuleInput& input);

}  // namespace foretell

#endif  // FORETELL_RULES_SERVE_RULES_H_
