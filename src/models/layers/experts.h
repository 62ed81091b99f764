// A feed-forward of experts: a router sends every token to a few of them.
//
// Experts are two fused tensors. They run as grouped matrix products over the
// tokens sorted by expert, or one after another: transformers calls these
// `experts_implementation` "grouped_mm", its default, and "eager".
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py,
// models/gpt_oss/modeling_gpt_oss.py, integrations/moe.py
// (grouped_mm_experts_forward).
// Does not model: batched_mm, deepgemm, sonicmoe, expert parallelism.
#ifndef FORETELL_MODELS_LAYERS_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_EXPERTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/layers/adapted_module.h"
#include "models/layers/mlp.h"
#include "models/layers/module.h"

namespace foretell {

// GPT-OSS's gate: both halves are cut at `limit`, `alpha` steepens the
// sigmoid, and the halves alternate column by column.
struct ClampedGate {
  double alpha = 0;
  double limit = 0;
};

struct ExpertsConfig {
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of one expert
  int64_t experts = 0;
  int64_t per_token = 0;
  Activation activation = Activation::kSilu;
  double jitter = 0;          // noise on the input while training
  bool keeps_logits = false;  // the scores outlive the layer
  bool normalizes = true;     // the chosen weights are made to sum to one
  // The softmax casts as it reads, and weights go back to the scores' dtype.
  bool softmax_casts = false;
  // The module that holds the activation; empty where a function serves.
  std::string_view activation_name = "act_fn";
  // Softmax is over the chosen scores only, in float32 (GraniteMoe).
  bool softmax_of_chosen = false;
  std::string_view router_name = "gate";  // of SparseMlp
  // GPT-OSS's form: this gate in place of an activation, biases, and tensors
  // stored as [experts, in, out].
  std::optional<ClampedGate> clamped;
};

struct Routing {
  Tensor logits;
  Tensor weights;
  Tensor experts;
};

// What a layer's feed-forward is given beside its input.
struct ExpertsCall {
  std::string_view experts = "grouped_mm";  // or "eager"
  std::vector<Tensor>* router_logits = nullptr;
};

// weight [experts, hidden]: the score of every expert for every token.
struct TopKRouter {
  TopKRouter(const Module& at, const ExpertsConfig& config);
  // [tokens, hidden] -> weights and numbers of the chosen experts
  // [tokens, per_token], and all scores [tokens, experts].
  Routing Forward(const Tensor& hidden) const;

  Module module;
  ExpertsConfig config;
  ParameterId weight;
};

// gate_up_proj [experts, 2 intermediate, hidden] and
// down_proj [experts, hidden, intermediate]; in GPT-OSS's form their last two
// axes are exchanged, and a bias [experts, out] follows each.
struct FusedExperts {
  FusedExperts(const Module& at, const ExpertsConfig& config);
  // [tokens, hidden] -> the same
  Tensor Forward(const Tensor& hidden, const Routing& routing,
                 std::string_view experts) const;
  // [rows, 2 intermediate] -> [rows, intermediate]
  Tensor ApplyGate(const Tensor& both) const;

  Tensor RunGrouped(AdaptedModule& adapted, const Tensor& hidden,
                    const Routing& routing) const;
  // One expert after another. How many tokens each gets depends on the data:
  // they are taken to spread evenly, and the graph says so. FLOPs are those of
  // the grouped products either way.
  Tensor RunLoop(AdaptedModule& adapted, const Tensor& hidden,
                 const Routing& routing) const;

  Module module;
  ExpertsConfig config;
  ParameterId gate_up_proj;
  std::optional<ParameterId> gate_up_proj_bias;
  ParameterId down_proj;
  std::optional<ParameterId> down_proj_bias;
  std::optional<ActivationModule> act_fn;
};

struct SparseMlp {
  SparseMlp(const Module& at, const ExpertsConfig& config);
  // [b, s, hidden] -> the same. The router's scores are appended where they
  // are kept.
  Tensor Forward(Tensor hidden, const ExpertsCall& call) const;

  Module module;
  ExpertsConfig config;
  TopKRouter gate;
  FusedExperts experts;
};

// load_balancing_loss_func: how unevenly all layers' routers chose, [].
Tensor LoadBalancingLoss(Builder& builder, std::span<const Tensor> logits,
                         const ExpertsConfig& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_EXPERTS_H_
