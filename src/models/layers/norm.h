// Normalisation layers.
//
// Source: transformers 5.23, models/llama/modeling_llama.py (LlamaRMSNorm),
// which Mistral, Mixtral, Qwen2, Qwen3 and Phi-3 share,
// models/gemma/modeling_gemma.py (GemmaRMSNorm), models/olmo/modeling_olmo.py
// (OlmoLayerNorm), models/nemotron/modeling_nemotron.py
// (NemotronLayerNorm1P); torch 2.15,
// torch/nn/modules/normalization.py (LayerNorm).
#ifndef FORETELL_MODELS_LAYERS_NORM_H_
#define FORETELL_MODELS_LAYERS_NORM_H_

#include <cstdint>
#include <optional>

#include "models/layers/module.h"

namespace foretell {

// What an RMSNorm multiplies by.
enum class RmsScale {
  kWeight,         // the weight, in the input's dtype (Llama)
  kOnePlusWeight,  // 1 + weight, still in float32 (Gemma)
  kWeightInFloat,  // the weight, still in float32 (GPT-OSS, OLMo 2)
};

// x / sqrt(mean of squares over the last axis + epsilon), the mean a temporary.
Tensor OverRootMeanSquare(const Tensor& x, double epsilon);

// weight [width]; the mean of squares is taken in float32.
struct RmsNorm {
  RmsNorm(const Module& at, int64_t width, double eps,
          RmsScale scale_by = RmsScale::kWeight);
  Tensor Forward(const Tensor& input) const;

  Module module;
  ParameterId weight;
  double epsilon;
  RmsScale scale;
};

// Which parameters a LayerNorm has.
enum class LayerNormTerms {
  kBoth,
  kWeight,  // its bias was set to None (MPT)
  kNone,    // elementwise_affine=False
};

// torch.nn.LayerNorm: weight and bias [width].
struct LayerNorm {
  LayerNorm(const Module& at, int64_t width, double eps,
            LayerNormTerms terms = LayerNormTerms::kBoth);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  std::optional<ParameterId> weight;
  std::optional<ParameterId> bias;
  double epsilon;
};

// torch.nn.functional.layer_norm in float32, by no weight and no bias (OLMo).
struct PlainLayerNorm {
  PlainLayerNorm(const Module& at, int64_t width, double eps);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  double epsilon;
};

// A LayerNorm whose weight counts from 1 (Nemotron).
struct OnePlusLayerNorm {
  OnePlusLayerNorm(const Module& at, int64_t width, double eps);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  ParameterId weight;
  ParameterId bias;
  double epsilon;
};

// A LayerNorm without a bias, written out in float32 (Cohere).
struct CenteredNorm {
  CenteredNorm(const Module& at, int64_t width, double eps);
  // A weight for each head and dim, applied to [..., heads, dims].
  CenteredNorm(const Module& at, const Shape& widths, double eps);
  Tensor Forward(const Tensor& input) const;

  Module module;
  ParameterId weight;
  double epsilon;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_NORM_H_
