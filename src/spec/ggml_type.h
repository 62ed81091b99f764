// The element types of GGUF files: how many elements make a block, and how
// many bytes a block has.
//
// Source: ggml/include/ggml.h (enum ggml_type) and ggml/src/ggml-common.h
// (block_*) of llama.cpp; gguf-py 0.19 (constants.py, GGML_QUANT_SIZES) says
// the same, but for Q8_1: it writes 40 bytes, ggml's block_q8_1 (two halves and
// 32 bytes) has 36; no file holds that type. Types 4, 5, 31 to 33 and 36 to 38
// were removed; the repacked ones keep their bytes, so that old files are read.
#ifndef FORETELL_SPEC_GGML_TYPE_H_
#define FORETELL_SPEC_GGML_TYPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace foretell {

struct GgmlType {
  int32_t id = 0;         // as the file has it
  std::string_view name;  // "Q4_K"
  int32_t block = 1;      // elements
  int32_t bytes = 0;      // of a block
};

std::span<const GgmlType> AllGgmlTypes();
// Null where there is none.
const GgmlType* GgmlTypeOf(int64_t id);
const GgmlType* GgmlTypeNamed(std::string_view name);

// Bytes of `elements`, which are whole blocks; nothing where they are not, or
// past 2^63 - 1.
std::optional<int64_t> BytesOf(const GgmlType& type, int64_t elements);

}  // namespace foretell

#endif  // FORETELL_SPEC_GGML_TYPE_H_
