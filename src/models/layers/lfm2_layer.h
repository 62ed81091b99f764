// LFM2's layer: attention or a gated short convolution, and a feed-forward,
// each behind a norm.
//
// Source: transformers 5.23, models/lfm2/modeling_lfm2.py,
// models/lfm2_moe/modeling_lfm2_moe.py, as they run without the package
// causal-conv1d.
#ifndef FORETELL_MODELS_LAYERS_LFM2_LAYER_H_
#define FORETELL_MODELS_LAYERS_LFM2_LAYER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/short_convolution.h"
#include "spec/config_view.h"

namespace foretell {

struct Lfm2Experts {
  ExpertsConfig experts;
  int64_t dense_layers = 0;  // the first so many have none
  bool has_bias = true;      // of each expert's score, where they are chosen
  double scaling = 1;
};

struct Lfm2Config {
  AttentionConfig attention;
  DecoderKeys keys;
  std::vector<std::string> layer_types;
  int64_t kernel = 3;  // tokens that the convolution sees
  bool conv_bias = false;
  std::optional<Lfm2Experts> sparse;

  bool Convolves(int64_t layer) const;
};

// What both classes read alike; `layer_types`, the feed-forward and experts are
// the family's.
Lfm2Config ReadLfm2(const ConfigView& config, std::string_view class_name,
                    const DecoderDefaults& defaults, int64_t hidden);

// w2(silu(w1(x)) * w3(x))
struct Lfm2Mlp {
  Lfm2Mlp(const Module& at, int64_t hidden, int64_t intermediate);
  Tensor Forward(const Tensor& x) const;

  Module module;
  Linear w1;
  Linear w3;
  Linear w2;
};

// The scores are sigmoids, and a bias takes part in the choice only.
struct Lfm2SparseMlp {
  Lfm2SparseMlp(const Module& at, const Lfm2Experts& config);
  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const;

  Module module;
  Lfm2Experts config;
  FusedExperts experts;
  Module gate;
  ParameterId gate_weight;             // [experts, hidden]
  std::optional<ValueId> expert_bias;  // [experts] float32

 private:
  Routing Route(const Tensor& rows) const;
};

struct Lfm2ShortConv {
  Lfm2ShortConv(const Module& at, const Lfm2Config& config);
  // [b, s, hidden] -> the same
  Tensor Forward(const Tensor& hidden, CachedLayer* cached) const;

  Module module;
  int64_t channels;
  int64_t kernel;
  DepthwiseConv1d conv;
  Linear in_proj;
  Linear out_proj;
};

struct Lfm2Layer {
  Lfm2Layer(const Module& at, const Lfm2Config& config, int64_t index);
  Tensor Forward(const Tensor& input, const DecoderContext& context) const;

  Module module;
  std::optional<GroupedQueryAttention> self_attn;
  std::optional<Lfm2ShortConv> conv;
  std::optional<Lfm2Mlp> dense;
  std::optional<Lfm2SparseMlp> sparse;
  RmsNorm operator_norm;
  RmsNorm ffn_norm;
};

// The kinds of the layers must be known.
std::unique_ptr<Model> MakeLfm2(const Module& root, const Lfm2Config& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LFM2_LAYER_H_
