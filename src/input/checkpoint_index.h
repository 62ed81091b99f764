// The index of a checkpoint in several files: which tensor lies in which.
//
// In: model.safetensors.index.json or pytorch_model.bin.index.json. Out: names
// of tensors with their files, in the index's order, and the total that it
// states. Keys beside metadata.total_size and weight_map are passed over.
//
// Read event by event, without a tree of values: an index of 2,000 files takes
// some ten milliseconds.
// Source: transformers 5.23, utils/hub.py (get_checkpoint_shard_files).
//
// Throws InputErrors: no JSON, no weight_map, a tensor named twice, a file's
// name that leaves the folder.
#ifndef FORETELL_INPUT_CHECKPOINT_INDEX_H_
#define FORETELL_INPUT_CHECKPOINT_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {

struct CheckpointIndex {
  std::vector<std::string> files;  // each once, in the order of their names
  // A tensor's name and the index of its file.
  std::vector<std::pair<std::string, int32_t>> tensors;
  std::optional<int64_t> stated_bytes;
};

CheckpointIndex ParseCheckpointIndex(const std::string& text,
                                     const std::string& source);

// Whether a name is that of a file in the folder or below it: not empty, not
// absolute, without "." and ".." among its parts, without a zero byte.
bool StaysInFolder(std::string_view file);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_INDEX_H_
