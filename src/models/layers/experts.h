// A feed-forward of experts: a router sends every token to a few of them.
//
// Experts are two fused tensors, and run as grouped matrix products over the
// tokens sorted by expert.
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py,
// integrations/moe.py (grouped_mm_experts_forward, what training uses).
#ifndef FORETELL_MODELS_LAYERS_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_EXPERTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "models/layers/mlp.h"
#include "models/layers/module.h"

namespace foretell {

struct ExpertsConfig {
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of one expert
  int64_t experts = 0;
  int64_t per_token = 0;
  Activation activation = Activation::kSilu;
  double jitter = 0;          // noise on the input while training
  bool keeps_logits = false;  // the scores outlive the layer
};

struct Routing {
  Tensor logits;
  Tensor weights;
  Tensor experts;
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
// down_proj [experts, hidden, intermediate].
struct GroupedExperts {
  GroupedExperts(const Module& at, const ExpertsConfig& config);
  // [tokens, hidden] -> the same
  Tensor Forward(const Tensor& hidden, const Routing& routing) const;
  // act_fn(gate) * up of [rows, 2 intermediate]
  Tensor ApplyGate(const Tensor& both) const;

  Module module;
  ExpertsConfig config;
  ParameterId gate_up_proj;
  ParameterId down_proj;
  ActivationModule act_fn;
};

struct SparseMlp {
  SparseMlp(const Module& at, const ExpertsConfig& config);
  // [b, s, hidden] -> the same. The router's scores are appended where they
  // are kept.
  Tensor Forward(Tensor hidden, std::vector<Tensor>& router_logits) const;

  Module module;
  ExpertsConfig config;
  TopKRouter gate;
  GroupedExperts experts;
};

// load_balancing_loss_func: how unevenly all layers' routers chose, [].
Tensor LoadBalancingLoss(Builder& builder, std::span<const Tensor> logits,
                         const ExpertsConfig& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_EXPERTS_H_
