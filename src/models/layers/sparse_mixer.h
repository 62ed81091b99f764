// PhiMoE's router: two experts drawn at random in turn, each among those whose
// scores are near the best, and weights whose gradient is the source's own.
//
// Source: transformers 5.23, models/phimoe/modeling_phimoe.py (sparsemixer,
// PhimoeMultiplier, PhimoeTopKRouter, PhimoeSparseMoeBlock).
#ifndef FORETELL_MODELS_LAYERS_SPARSE_MIXER_H_
#define FORETELL_MODELS_LAYERS_SPARSE_MIXER_H_

#include "models/layers/experts.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

// Weights and numbers of two experts for each row of `scores` [tokens,
// experts]. `nearness` is half of how far a score may lie from the best.
Routing MixSparsely(const Tensor& scores, double nearness);

struct PhimoeKeys {
  ExpertsConfig experts;   // of which a token meets two, whatever is stated
  double nearness = 0.01;  // router_jitter_noise
  double input_noise = 0;  // input_jitter_noise
};

// router, experts: the order of the names.
struct PhimoeMlp {
  PhimoeMlp(const Module& at, const PhimoeKeys& keys);
  // [b, s, hidden] -> the same
  Tensor Forward(Tensor hidden, const ExpertsCall& call) const;

  Module module;
  PhimoeKeys keys;
  Linear router;
  FusedExperts experts;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SPARSE_MIXER_H_
