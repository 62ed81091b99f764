// What a checkpoint's headers say of its bytes: in the file, by element type,
// and in host memory while it is loaded.
//
// In: a checkpoint that was read. Out: exact sums. Tensors that share bytes
// (torch's ties) count once. Bits per weight are those of all its tensors,
// scales and norms included.
//
// Host memory is told for the loader's own copies of weights: what a mapping
// holds can be given back by the system at any time, what is held cannot. Not
// modelled: the process itself, the copy that a device gets, page tables.
#ifndef FORETELL_ANSWERS_CHECKPOINT_BYTES_H_
#define FORETELL_ANSWERS_CHECKPOINT_BYTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/figure.h"
#include "spec/checkpoint.h"

namespace foretell {

struct StoredType {
  std::string dtype;  // as the format names it
  int64_t tensors = 0;
  Count elements;
  Bytes bytes;
};

// What a named way of loading keeps in host memory.
struct LoaderMemory {
  std::string_view loader;  // "torch.load"
  Bytes held;
  Bytes mapped;
  std::string_view rule;  // with its source
};

struct CheckpointBytes {
  Bytes files;     // of whole files, headers and padding included
  Bytes tensors;   // of tensors' elements as they are packed
  Count elements;  // stored ones: a packed word is one
  std::vector<StoredType> types;  // most bytes first
  std::vector<LoaderMemory> loaders;
};

CheckpointBytes SumCheckpoint(const Checkpoint& checkpoint);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_CHECKPOINT_BYTES_H_
