// DeepSeek-V3's feed-forward of experts: a router that scores by a sigmoid and
// chooses among the best groups of experts, and experts that every token meets
// beside the chosen ones.
//
// Source: transformers 5.23, models/deepseek_v3/modeling_deepseek_v3.py
// (DeepseekV3TopkRouter, DeepseekV3MoE), which GLM-4 MoE and others share.
#ifndef FORETELL_MODELS_LAYERS_GROUP_ROUTER_H_
#define FORETELL_MODELS_LAYERS_GROUP_ROUTER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/experts.h"
#include "models/layers/mlp.h"
#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

struct GroupRouting {
  int64_t groups = 1;  // of experts, equal in number
  int64_t kept = 1;    // groups that a token may choose from
  double scale = 1;    // of the chosen weights
  // The correction is made in float32 whatever the model's dtype.
  bool corrects_in_float = false;
};

// weight [experts, hidden] and a buffer e_score_correction_bias [experts].
struct GroupRouter {
  GroupRouter(const Module& at, const ExpertsConfig& config,
              const GroupRouting& groups);
  // [..., hidden] -> weights and numbers of the chosen experts
  // [tokens, per_token], and all scores [tokens, experts] in float32.
  Routing Forward(const Tensor& hidden) const;

  Module module;
  ExpertsConfig config;
  GroupRouting routing;
  ParameterId weight;
  ValueId correction;
};

struct SharedExpertsKeys {
  ExpertsConfig experts;
  GroupRouting routing;
  int64_t shared_intermediate = 0;
  bool shared_bias = false;
};

// experts, gate and shared_experts: the order of the names.
template <class Router = GroupRouter>
struct SharedExpertsMlp {
  SharedExpertsMlp(const Module& at, const SharedExpertsKeys& keys)
      : module(at),
        experts(at.Child("experts", RegionKind::kExperts), keys.experts),
        gate(at.Child("gate", RegionKind::kRouter), keys.experts, keys.routing),
        shared_experts(at.Child("shared_experts", RegionKind::kMlp),
                       keys.experts.hidden, keys.shared_intermediate,
                       keys.shared_bias, keys.experts.activation) {}

  // [b, s, hidden] -> the same
  Tensor Forward(const Tensor& input, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Routing routing = gate.Forward(input);
    if (gate.config.keeps_logits) call.router_logits->push_back(routing.logits);
    const Shape shape = input.shape();
    Tensor hidden = View(input, {-1, input.size(-1)});
    hidden = View(experts.Forward(hidden, routing, call.experts), shape);
    return Add(hidden, shared_experts.Forward(input));
  }

  Module module;
  FusedExperts experts;
  Router gate;
  GatedMlp shared_experts;
};

// Either kind of feed-forward, under the one name `mlp`.
template <class Router = GroupRouter>
struct SharedOrDenseMlp {
  SharedOrDenseMlp(const Module& at, bool is_sparse,
                   const SharedExpertsKeys& keys, int64_t dense_intermediate) {
    if (is_sparse) {
      sparse.emplace(at, keys);
    } else {
      dense.emplace(at, keys.experts.hidden, dense_intermediate,
                    keys.shared_bias, keys.experts.activation);
    }
  }

  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const {
    return sparse ? sparse->Forward(hidden, call) : dense->Forward(hidden);
  }

  std::optional<SharedExpertsMlp<Router>> sparse;
  std::optional<GatedMlp> dense;
};

// Class defaults of what ReadSharedExperts reads.
struct SharedExpertsDefaults {
  int64_t intermediate = 2048;  // moe_intermediate_size
  int64_t experts = 256;
  int64_t per_token = 8;
  int64_t shared = 1;
  int64_t groups = 8;
  int64_t kept = 4;
  double scale = 2.5;
  bool normalizes = true;
  bool normalizes_may_be_null = false;
  bool scale_may_be_null = false;  // which counts for 1 (MiMo)
  bool has_shared = true;          // n_shared_experts is a key of the class
  bool takes_num_experts = false;  // a num_experts in the file decides
  bool corrects_in_float = false;
};

// moe_intermediate_size, n_routed_experts (by that name or by `alias`, which
// decides), n_shared_experts, num_experts_per_tok, n_group, topk_group,
// routed_scaling_factor, norm_topk_prob and output_router_logits; findings
// where no router can choose so.
SharedExpertsKeys ReadSharedExperts(const ConfigView& config,
                                    std::string_view alias, int64_t hidden,
                                    Activation activation,
                                    const SharedExpertsDefaults& defaults);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GROUP_ROUTER_H_
