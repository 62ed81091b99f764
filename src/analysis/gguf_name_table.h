// llama.cpp's names for the parts of a model, by the names that transformers'
// classes give them.
//
// In: a part's name without its ending (".weight"). Out: the part's name in a
// GGUF file, or nothing where llama.cpp has no place for it. What an expert's
// parts are called is theirs stacked: an expert's own index is taken out first.
// Source: llama.cpp 0.5.0 (the copy within llama-cpp-python 0.3.36),
// gguf-py/gguf/tensor_mapping.py and conversion/*.py.
#ifndef FORETELL_ANALYSIS_GGUF_NAME_TABLE_H_
#define FORETELL_ANALYSIS_GGUF_NAME_TABLE_H_

#include <string_view>

namespace foretell {

// Behind a block's index: "self_attn.q_proj" -> "attn_q". Empty where unknown.
std::string_view GgufBlockPart(std::string_view name);

// Outside blocks, by the last part of the name: "embed_tokens" -> "token_embd".
std::string_view GgufTopPart(std::string_view last);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_GGUF_NAME_TABLE_H_
