// The names of a GGUF file for the tensors of a model's class.
//
// In: a tensor's own name, indices folded ("model.layers.#.mlp.up_proj.weight",
// an expert's index too). Out: llama.cpp's name ("blk.#.ffn_up.weight"), or
// nothing where it has no place for it. Only tensors of two or more dims have
// a row: what has one is stored in float32 under whatever name.
// Source: llama.cpp 0.5.0 (the copy within llama-cpp-python 0.3.36),
// gguf-py/gguf/tensor_mapping.py and conversion/*.py.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_GGUF_NAMES_H_
#define FORETELL_ANALYSIS_QUANTIZATION_GGUF_NAMES_H_

#include <string>
#include <string_view>

namespace foretell {

// Empty where there is none.
std::string GgufNameOf(std::string_view folded);

// Whether the name belongs to a tower or its projector, which llama.cpp keeps
// in a file of its own (mmproj).
bool IsTowerName(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_GGUF_NAMES_H_
