#include "rules/model_rules.h"

#include <array>

namespace foretell {
namespace {

constexpr std::array<ModelRule, 3> kRules = {{
    {"config/unread-keys",
     "Lists every key of the configuration that the class does not read and "
     "that is not known to be without effect, so that nothing is ignored in "
     "silence.",
     RuleUnreadKeys},
    {"model/published-total",
     "Compares the derived parameters with the total that was published for "
     "the checkpoint. A difference means tensors that the class does not have, "
     "a tie stored twice, or a figure that was rounded.",
     RulePublishedTotal},
    {"model/quantization",
     "Says where the checkpoint is stored in another format than the dtype, so "
     "that its bytes are not those of the plain parameters.",
     RuleQuantization},
}};

}  // namespace

std::span<const ModelRule> ModelRules() { return kRules; }

}  // namespace foretell
