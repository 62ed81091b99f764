#include "models/layers/read_experts.h"

#include <fmt/format.h>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "models/layers/check_fields.h"
#include "models/layers/read_decoder.h"

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

bool ReadKeepsLogits(const ConfigView& config) {
  CheckFields(config, {{"router_aux_loss_coef", FieldKind::kFloat, true}});
  return FlagOrNull(config, "output_router_logits", false);
}

SparseLayers ReadSparseLayers(const ConfigView& config, int64_t layers,
                              const ExpertsConfig& experts) {
  SparseLayers out;
  out.any = experts.experts > 0;
  out.dense =
      config.IntegerList({"mlp_only_layers"}).value_or(std::vector<int64_t>());
  out.step = config.Whole({"decoder_sparse_step"}, 1);
  if (out.step != 0) return out;
  out.step = 1;
  bool asks = false;
  for (int64_t layer = 0; layer < layers; ++layer) {
    asks = asks || out.Contains(layer);
  }
  if (!asks) return out;
  config.Find("model/experts", Severity::kBlock, "decoder_sparse_step",
              "decoder_sparse_step is 0",
              "the class takes the number of a layer modulo it and fails",
              "set it to 1 for experts in every layer");
  return out;
}

DecoderFinish BalancedLoss(const ExpertsConfig& experts) {
  return [experts](const Tensor& loss, const DecoderOutput& kept,
                   const ForwardInputs& inputs) {
    if (kept.router_logits.empty()) {
      loss.builder().Fail("no layer has a router whose scores could be kept");
      return loss;
    }
    const Tensor uneven =
        LoadBalancingLoss(loss.builder(), kept.router_logits, experts);
    inputs.Return(uneven);
    // Without labels there is no loss to add it to.
    if (inputs.labels.empty()) return loss;
    return AddInto(loss, MulScalar(uneven, 1));
  };
}

}  // namespace foretell
