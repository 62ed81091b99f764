// torch.nn.Linear, transformers' Conv1D and torch.nn.Embedding: a table and
// how it is applied.
//
// A linear layer with an adapter beside it (passes/adapters) runs as peft's
// lora.Linear, which holds it.
// Source: torch 2.15, torch/nn/modules/linear.py, sparse.py;
// transformers 5.23, pytorch_utils.py (Conv1D keeps its weight transposed),
// models/gemma/modeling_gemma.py (GemmaTextScaledWordEmbedding);
// peft 0.21, tuners/lora/layer.py (Linear.forward).
#ifndef FORETELL_MODELS_LAYERS_LINEAR_H_
#define FORETELL_MODELS_LAYERS_LINEAR_H_

#include <cstdint>
#include <optional>

#include "models/layers/module.h"

namespace foretell {

// weight [out, in], bias [out].
struct Linear {
  // In the model's dtype unless another is given.
  Linear(const Module& at, int64_t in, int64_t out, bool has_bias,
         std::optional<DType> dtype = std::nullopt);
  // [..., in] -> [..., out]
  Tensor Forward(const Tensor& x) const;

  Module module;
  ParameterId weight;
  std::optional<ParameterId> bias;
};

// weight [in, out], bias [out]; always with a bias.
struct Conv1D {
  Conv1D(const Module& at, int64_t in, int64_t out);
  Tensor Forward(const Tensor& x) const;

  Module module;
  ParameterId weight;
  ParameterId bias;
};

// enable_input_require_grads(): what an input table gives becomes a leaf.
void RequireInputGradient(const Module& module, const Tensor& rows);

// weight [rows, width]. A scaled one (Gemma's) multiplies rows by a buffer
// embed_scale [] in the weight's dtype, or of whole numbers, which is cast each
// time (MiniCPM3's).
struct Embedding {
  Embedding(const Module& at, int64_t rows, int64_t width,
            bool is_scaled = false, bool is_whole = false);
  // [...] whole numbers -> [..., width]
  Tensor Forward(const Tensor& indices) const;

  Module module;
  ParameterId weight;
  std::optional<ValueId> scale;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LINEAR_H_
