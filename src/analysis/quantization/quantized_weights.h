// A model's weights in one quantization: bytes in the file and in memory.
//
// In: the tensors of a model's class (with those that a checkpoint holds
// beyond it) and the quantization. Out: both figures, how many bytes each type
// of element takes, what stays unquantized, and every assumption. Unknown with
// the reason where a format has no place for a tensor.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_QUANTIZED_WEIGHTS_H_
#define FORETELL_ANALYSIS_QUANTIZATION_QUANTIZED_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/parameters.h"
#include "analysis/quantization/gguf_recipe.h"
#include "base/figure.h"

namespace foretell {

struct TypeBytes {
  std::string type;  // "Q4_K", "I32", "BF16"
  Bytes bytes;
};

struct QuantizedWeights {
  std::string name;  // as it was asked for: "awq", "Q4_K_M"
  // The class's elements that are stored, a packed one counted as what it
  // stands for; towers that the file leaves out are not among them.
  int64_t elements = 0;
  // How many elements the hub counts in the files' headers: scales are
  // elements too (packed_linear.h says how packed ones count).
  Count stored;
  Bytes tensors;                  // of all tensors, without a header
  Bytes file;                     // with it
  Bytes memory;                   // that the loaded weights take
  std::vector<TypeBytes> types;   // largest first
  std::vector<std::string> kept;  // what stays unquantized, folded names
  std::vector<std::string> assumed;
};

// Eight times the tensors' bytes over the elements; 0 where unknown.
double BitsPerWeight(const QuantizedWeights& weights);

// In memory: the tensors, as llama.cpp maps or copies them; an embedding that
// serves as the output too is copied to the device once more, which an
// assumption says.
QuantizedWeights QuantizeToGguf(const std::vector<TensorGroup>& tensors,
                                const GgufFacts& facts,
                                const GgufRecipe& recipe, int64_t vocabulary);

// Sums bytes by type, the largest first.
std::vector<TypeBytes> SortedTypes(std::vector<TypeBytes> types);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_QUANTIZED_WEIGHTS_H_
