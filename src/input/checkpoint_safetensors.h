// The header of a safetensors file: names, element types, shapes and where
// each tensor's bytes lie.
//
// In: a source of bytes; the header alone is read: its length in eight bytes,
// then JSON. Out: tensors in the order of their bytes, and the metadata.
//
// Refused as the library refuses it: a header past 100 MB, an unknown element
// type, a shape whose bytes are not those between its offsets, overlapping
// tensors, gaps, and data that ends before or behind the file's end. Beyond
// the library: a name given twice (the library keeps the last, and then finds
// a gap).
// Source: safetensors 0.8, safetensors/src/tensor.rs (Metadata::validate,
// SafeTensors::read_metadata, Dtype).
//
// Throws InputErrors with the byte or the tensor, and the cure.
#ifndef FORETELL_INPUT_CHECKPOINT_SAFETENSORS_H_
#define FORETELL_INPUT_CHECKPOINT_SAFETENSORS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "input/byte_source.h"
#include "spec/checkpoint.h"

namespace foretell {

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // `file` is 0
  std::vector<CheckpointEntry> metadata;
};

SafetensorsHeader ReadSafetensorsHeader(ByteSource& source);

// Bits of an element of "BF16", "F8_E4M3", …; nothing for another name.
std::optional<int> SafetensorsBits(std::string_view dtype);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_SAFETENSORS_H_
