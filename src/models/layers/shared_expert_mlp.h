// A feed-forward of experts beside one that every token passes, which a gate of
// its own weighs: Qwen2-MoE's.
//
// Source: transformers 5.23, models/qwen2_moe/modeling_qwen2_moe.py
// (Qwen2MoeSparseMoeBlock).
#ifndef FORETELL_MODELS_LAYERS_SHARED_EXPERT_MLP_H_
#define FORETELL_MODELS_LAYERS_SHARED_EXPERT_MLP_H_

#include <cstdint>
#include <optional>

#include "models/layers/experts.h"
#include "models/layers/linear.h"
#include "models/layers/mlp.h"
#include "models/layers/module.h"

namespace foretell {

struct SharedExpertMlp {
  // `shared` is the width of the feed-forward that serves every token.
  SharedExpertMlp(const Module& at, const ExpertsConfig& config,
                  int64_t shared);
  // [b, s, hidden] -> the same
  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const;

  Module module;
  TopKRouter gate;
  FusedExperts experts;
  GatedMlp shared_expert;
  Linear shared_expert_gate;
};

// Either kind of feed-forward, under one name.
template <class Sparse>
struct SparseOrDense {
  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const {
    return sparse ? sparse->Forward(hidden, call) : dense->Forward(hidden);
  }

  std::optional<Sparse> sparse;
  std::optional<GatedMlp> dense;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SHARED_EXPERT_MLP_H_
