// The names and shapes under which a model's tensor lies in a GGUF file.
//
// In: a family, and a tensor of the library's class as its state_dict has it.
// Out: the file's tensors that llama.cpp's converter makes of it: one under
// another name, the two halves of a fused one ("ffn_gate_exps", "ffn_up_exps"),
// or nothing where it leaves it out. Shapes are in PyTorch's order; the
// converter permutes rows of queries and keys, and transposes where said here,
// which leaves sizes as they are.
//
// Two spellings where versions differ: MLA's kv_b_proj is one tensor, or, since
// April 2025, attn_k_b and attn_v_b; the first list that the file has holds.
// Source: llama.cpp, gguf-py 0.19, gguf/tensor_mapping.py and constants.py;
// convert_hf_to_gguf.py (modify_tensors of each class).
#ifndef FORETELL_ANALYSIS_GGUF_NAMES_H_
#define FORETELL_ANALYSIS_GGUF_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/stored_names.h"

namespace foretell {

// What of the configuration the shapes depend on.
struct GgufShapes {
  int64_t heads = 0;
  int64_t qk_nope_head_dim = 0;  // of MLA; 0 where there is none
  int64_t v_head_dim = 0;
};

// The spellings, the newest last; empty where the name is not known to the
// mapping.
std::vector<std::vector<StoredPiece>> GgufSpellings(
    std::string_view family, std::string_view name,
    const std::vector<int64_t>& shape, const GgufShapes& shapes);

// Whether the converter's mapping is followed for this family.
bool KnowsGguf(std::string_view family);

// A tensor that llama.cpp adds, which no class has: "rope_freqs.weight".
bool IsGgufExtra(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_GGUF_NAMES_H_
