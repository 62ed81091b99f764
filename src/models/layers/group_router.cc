#include "models/layers/group_router.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"
#include "models/layers/read_experts.h"

namespace foretell {

GroupRouter::GroupRouter(const Module& at, const ExpertsConfig& settings,
                         const GroupRouting& groups)
    : module(at),
      config(settings),
      routing(groups),
      weight(at.Parameter("weight", {config.experts, config.hidden})) {
  const DType dtype =
      routing.corrects_in_float ? DType::kFloat32 : at.builder().dtype();
  at.Buffer("e_score_correction_bias", {config.experts}, dtype,
            /*persistent=*/true);
  correction = at.builder().graph().buffers.back().value;
}

Routing GroupRouter::Forward(const Tensor& hidden) const {
  AdaptedModule adapted(module);
  Builder& builder = module.builder();
  const Tensor rows = View(hidden, {-1, config.hidden});
  Routing out;
  out.logits = [&] {
    const Tensor exact = To(rows, DType::kFloat32);
    return ApplyLinear(exact, To(adapted.Read(weight), DType::kFloat32),
                       Tensor());
  }();
  const Tensor scores = Sigmoid(out.logits);
  Tensor choice = Add(scores, builder.Read(correction));
  const int64_t size = config.experts / routing.groups;
  // A group counts by its two best experts.
  const auto two_best = [&] {
    return TopK(View(choice, {-1, routing.groups, size}), 2).first;
  };
  const Tensor group_scores = SumOver(two_best(), -1, /*keep=*/false);
  const Tensor group_places = TopK(group_scores, routing.kept).second;
  const Tensor group_mask = ZerosLike(group_scores);
  ScatterValue(group_mask, 1, group_places, 1);
  const Tensor mask =
      Reshape(Expand(Unsqueeze(group_mask, -1), {-1, routing.groups, size}),
              {-1, config.experts});
  choice = MaskedFill(choice, BitwiseNot(To(mask, DType::kBool)),
                      -std::numeric_limits<double>::infinity());
  out.experts = TopK(choice, config.per_token).second;
  out.weights = Gather(scores, 1, out.experts);
  // Python holds the sum until the router returns.
  Tensor sum;
  if (config.normalizes) {
    sum = AddScalar(SumOver(out.weights, -1, /*keep=*/true), 1e-20);
    out.weights = DivInto(out.weights, sum);
  }
  out.weights = MulScalar(out.weights, routing.scale);
  return out;
}

namespace {

void FindGroups(const ConfigView& config, std::string_view key,
                std::string what, std::string fix) {
  config.Find("model/experts", Severity::kBlock, key, std::move(what),
              "the router cannot choose so; the forward fails", std::move(fix));
}

void CheckGroups(const ConfigView& config, const ExpertsConfig& experts,
                 GroupRouting& routing) {
  if (experts.experts % routing.groups != 0) {
    FindGroups(config, "n_group",
               fmt::format("{} experts are not to be divided among n_group {}",
                           experts.experts, routing.groups),
               "choose a divisor of the number of experts");
  } else if (experts.experts / routing.groups < 2) {
    FindGroups(config, "n_group",
               fmt::format("n_group {} leaves fewer than two of {} experts for "
                           "a group, which counts by its two best",
                           routing.groups, experts.experts),
               "choose fewer groups");
  }
  if (routing.kept > routing.groups) {
    FindGroups(config, "topk_group",
               fmt::format("topk_group {} is more than n_group {}",
                           routing.kept, routing.groups),
               fmt::format("set topk_group to at most {}", routing.groups));
  }
}

}  // namespace

SharedExpertsKeys ReadSharedExperts(const ConfigView& config,
                                    std::string_view alias, int64_t hidden,
                                    Activation activation,
                                    const SharedExpertsDefaults& defaults) {
  SharedExpertsKeys out;
  ExpertsConfig& experts = out.experts;
  experts.hidden = hidden;
  experts.activation = activation;
  experts.intermediate =
      config.SizeOrZero({"moe_intermediate_size"}, defaults.intermediate);
  const std::string_view own =
      defaults.takes_num_experts && config.Has("num_experts")
          ? "num_experts"
          : "n_routed_experts";
  experts.experts = alias.empty()
                        ? config.SizeOrZero({own}, defaults.experts)
                        : config.SizeOrZero({alias, own}, defaults.experts);
  if (own != "n_routed_experts") {
    CheckFields(config, {{"n_routed_experts", FieldKind::kWhole}});
  }
  experts.per_token =
      config.SizeOrZero({"num_experts_per_tok"}, defaults.per_token);
  // A null is as good as false.
  const bool is_null = defaults.normalizes_may_be_null &&
                       config.Raw("norm_topk_prob") != nullptr &&
                       !config.Has("norm_topk_prob");
  experts.normalizes =
      !is_null && config.Flag({"norm_topk_prob"}, defaults.normalizes);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  CheckExpertsPerToken(config, experts);
  out.routing.groups = config.Size({"n_group"}, defaults.groups);
  out.routing.kept = config.SizeOrZero({"topk_group"}, defaults.kept);
  const bool has_scale = !defaults.scale_may_be_null ||
                         config.Raw("routed_scaling_factor") == nullptr ||
                         config.Has("routed_scaling_factor");
  out.routing.scale =
      has_scale ? config.Real({"routed_scaling_factor"}, defaults.scale) : 1;
  out.routing.corrects_in_float = defaults.corrects_in_float;
  CheckGroups(config, experts, out.routing);
  CheckFields(config, {{"routed_scaling_factor", FieldKind::kFloat,
                        defaults.scale_may_be_null}});
  if (!defaults.has_shared) return out;
  const int64_t shared =
      config.SizeOrZero({"n_shared_experts"}, defaults.shared);
  out.shared_intermediate = experts.intermediate * shared;
  return out;
}

}  // namespace foretell
