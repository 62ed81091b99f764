// Which type each tensor of a GGUF file gets: llama.cpp's mixed recipes.
//
// In: a file type by the name that people write ("Q4_K_M"), the laid-out
// tensors and the model's facts. Out: a type per tensor. Attention values and
// the way down of the feed-forward get more bits in some blocks, the output
// (or the embedding that serves as one) has its own rule, rows that do not
// divide fall back.
// Source: llama.cpp 0.5.0 (the copy within llama-cpp-python 0.3.36),
// src/llama-quant.cpp (tensor_allows_quantization, llama_tensor_get_type_impl,
// tensor_type_fallback, llama_ftype_get_default_type).
//
// Does not model: --tensor-type overrides, --pure, mixes that are chosen per
// model (unsloth's UD-…), types of the fork ik_llama.cpp, GLM5-Next's and
// BailingMoE3's exceptions.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_GGUF_RECIPE_H_
#define FORETELL_ANALYSIS_QUANTIZATION_GGUF_RECIPE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/quantization/gguf_layout.h"
#include "spec/ggml_type.h"

namespace foretell {

struct GgufFileType {
  std::string_view name;          // "Q4_K_M"
  std::string_view default_type;  // "Q4_K"
  bool needs_imatrix = false;     // refused without an importance matrix
};

// Every file type that `llama-quantize` writes; null where there is none of
// this name, letters' case aside.
const GgufFileType* FindGgufFileType(std::string_view name);
std::vector<std::string_view> GgufFileTypeNames();

struct GgufRecipe {
  const GgufFileType* file_type = nullptr;
  // Some types of blocks are chosen otherwise where the file was made with an
  // importance matrix.
  bool has_imatrix = false;
  // What is not quantized keeps what the converter wrote: "F16" or "BF16".
  std::string_view base_type = "F16";
};

// One type a tensor, in the layout's order.
std::vector<const GgmlType*> GgufTypesOf(const GgufLayout& layout,
                                         const GgufFacts& facts,
                                         const GgufRecipe& recipe);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_GGUF_RECIPE_H_
