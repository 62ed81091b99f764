// The configuration that a GGUF file holds in its metadata, in transformers'
// keys: "qwen3moe.block_count" is num_hidden_layers, and so on.
//
// In: a checkpoint that was read from GGUF. Out: a configuration that a family
// can build, or nothing where the architecture is not among those mapped here.
// What only a tensor tells is taken from it: the vocabulary (rows of
// token_embd), ties (no output.weight), biases, latent projections.
//
// What no key tells and no shape depends on (a routing's scale, a window's
// pattern) stays at the class's default, which the report lists. The dtype is
// float16, which llama.cpp keeps its cache in unless told otherwise
// (common/common.h: cache_type_k).
// Source: llama.cpp, convert_hf_to_gguf.py (set_gguf_parameters of each class)
// and gguf-py 0.19, constants.py (Keys).
#ifndef FORETELL_INPUT_GGUF_CONFIG_H_
#define FORETELL_INPUT_GGUF_CONFIG_H_

#include <optional>
#include <string>

#include "spec/checkpoint.h"
#include "spec/model_config.h"

namespace foretell {

std::optional<ModelConfig> ConfigOfGguf(const Checkpoint& checkpoint);

// "qwen3moe"; empty where the metadata lacks it.
std::string GgufArchitecture(const Checkpoint& checkpoint);

}  // namespace foretell

#endif  // FORETELL_INPUT_GGUF_CONFIG_H_
