// The header of a GGUF file, version 1 to 3 in either byte order: metadata,
// and each tensor's name, type, shape and place.
//
// In: a source of bytes; read from the front until the last tensor is told.
// Out: tensors in the file's order, shapes turned into PyTorch's (GGUF writes
// the innermost dim first), and metadata. Arrays of up to 4,096 numbers are
// kept; a longer one, and every array of texts (a vocabulary), is counted.
// Texts past 16 MB are refused.
//
// Refused: an unknown value or element type, an array in an array (as
// llama.cpp refuses it), a row that is no whole number of blocks, an alignment
// that is no power of two, and offsets that are not one after another, each
// aligned, inside the file.
// Source: docs/gguf.md of ggml and gguf.cpp of llama.cpp (gguf_init_from_file);
// version 1 had 32-bit counts (ggml before August 2023).
//
// A file of several: `split` says which this is; checkpoint.h reads them all.
//
// Throws InputErrors with the byte, key or tensor, and the cure.
#ifndef FORETELL_INPUT_CHECKPOINT_GGUF_H_
#define FORETELL_INPUT_CHECKPOINT_GGUF_H_

#include <cstdint>
#include <vector>

#include "input/byte_source.h"
#include "spec/checkpoint.h"

namespace foretell {

struct GgufSplit {
  int64_t index = 0;
  int64_t count = 1;    // of files
  int64_t tensors = 0;  // in all of them
};

struct GgufHeader {
  int32_t version = 0;
  bool big_endian = false;
  std::vector<StoredTensor> tensors;  // `file` is 0
  std::vector<CheckpointEntry> metadata;
  GgufSplit split;
};

GgufHeader ReadGgufHeader(ByteSource& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_GGUF_H_
