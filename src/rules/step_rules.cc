#include "rules/step_rules.h"

#include <array>

namespace foretell {
namespace {

constexpr std::array<StepRule, 1> kRules = {{
    {"step/positions",
     "Compares the tokens of a sequence with the positions that the class has: "
     "past a learned table the look-up fails, past a trained range the model "
     "runs and answers worse.",
     RulePositions},
}};

}  // namespace

std::span<const StepRule> StepRules() { return kRules; }

}  // namespace foretell
