// DBRX's layer: one product gives queries, keys and values, held within
// limits, and experts are rows of three tables, run one after another.
//
// How many tokens each expert gets depends on the data: they are taken to
// spread evenly, which the graph says.
// Source: transformers 5.23, models/dbrx/modeling_dbrx.py.
// Does not model: adapters of the experts' tables.
#ifndef FORETELL_MODELS_LAYERS_DBRX_LAYER_H_
#define FORETELL_MODELS_LAYERS_DBRX_LAYER_H_

#include <cstdint>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"

namespace foretell {

struct DbrxExpertsConfig {
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of one expert
  int64_t experts = 0;
  int64_t per_token = 0;
  double jitter = 0;          // noise on what the router sees, while training
  bool normalizes = false;    // the chosen weights by their norm
  bool keeps_logits = false;  // the scores outlive the layer
  Activation activation = Activation::kSilu;
};

// torch.nn.LayerNorm without a bias.
struct DbrxNorm : LayerNorm {
  DbrxNorm(const Module& at, int64_t width, double eps)
      : LayerNorm(at, width, eps, LayerNormTerms::kWeight) {}
};

struct DbrxAttention {
  DbrxAttention(const Module& at, const AttentionConfig& settings);
  // [b, s, hidden] -> the same
  Tensor Forward(const Tensor& hidden, const DecoderContext& context) const;

  Module module;
  AttentionConfig config;
  Linear wqkv;
  Linear out_proj;
};

struct DbrxExperts {
  DbrxExperts(const Module& at, const DbrxExpertsConfig& settings);
  // [b, s, hidden] -> the same; the router's scores are appended where they
  // are kept.
  Tensor Forward(const Tensor& hidden, std::vector<Tensor>* kept) const;

  Module module;
  DbrxExpertsConfig config;
  Linear router;
  Module experts;
  ParameterId w1;
  ParameterId v1;
  ParameterId w2;

 private:
  Tensor Run(const Tensor& hidden, const Tensor& weights,
             const Tensor& chosen) const;
};

struct DbrxLayer {
  DbrxLayer(const Module& at, const AttentionConfig& attention,
            const DbrxExpertsConfig& experts, double dropout);
  Tensor Forward(const Tensor& input, const DecoderContext& context) const;

  Module module;
  Module outer;
  DbrxNorm norm_1;
  DbrxAttention attn;
  DbrxNorm norm_2;
  DbrxExperts ffn;
  double dropout;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DBRX_LAYER_H_
