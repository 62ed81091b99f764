#include "models/layers/read_experts.h"

#include <fmt/format.h>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"

namespace foretell {

void CheckExpertsPerToken(const ConfigView& config,
                          const ExpertsConfig& experts) {
  if (experts.per_token <= experts.experts) return;
  config.Find(
      "model/experts", Severity::kBlock, "num_experts_per_tok",
      fmt::format("num_experts_per_tok {} is more than there are "
                  "experts ({})",
                  experts.per_token, experts.experts),
      "the router cannot choose so many; the forward fails",
      fmt::format("set num_experts_per_tok to at most {}", experts.experts));
}

DecoderFinish BalancedLoss(const ExpertsConfig& experts) {
  return [experts](const Tensor& loss, const DecoderOutput& kept) {
    if (kept.router_logits.empty()) {
      loss.builder().Fail("no layer has a router whose scores could be kept");
      return loss;
    }
    const Tensor uneven =
        LoadBalancingLoss(loss.builder(), kept.router_logits, experts);
    return AddInto(loss, MulScalar(uneven, 1));
  };
}

}  // namespace foretell
