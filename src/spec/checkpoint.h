// What the files of a checkpoint say that they hold: names, element types,
// shapes and bytes of tensors, without their values.
//
// Made by the readers of headers (input/checkpoint_*.h); compared with derived
// tensors by answers. Element types keep the spelling of their format, since
// packed ones exist in no other: "BF16" and "F8_E4M3" (safetensors), "Q4_K"
// (GGUF), "bfloat16" (PyTorch), "FLOAT16" (ONNX). Shapes are in PyTorch's
// order, outermost dim first, whatever the format's own order is.
#ifndef FORETELL_SPEC_CHECKPOINT_H_
#define FORETELL_SPEC_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/config_value.h"

namespace foretell {

enum class CheckpointFormat : uint8_t {
  kSafetensors,
  kGguf,
  kPyTorch,  // what torch.save writes: a zip file
  kOnnx,
};

// "safetensors", "GGUF", "PyTorch", "ONNX".
constexpr std::string_view NameOf(CheckpointFormat format) {
  switch (format) {
    case CheckpointFormat::kSafetensors:
      return "safetensors";
    case CheckpointFormat::kGguf:
      return "GGUF";
    case CheckpointFormat::kPyTorch:
      return "PyTorch";
    case CheckpointFormat::kOnnx:
      return "ONNX";
  }
  return "";
}

struct StoredTensor {
  std::string name;   // as the file has it
  std::string dtype;  // as the format names it
  std::vector<int64_t> shape;
  // Of its elements, as they are packed; without padding behind them. Tensors
  // that share bytes (PyTorch's ties) have the same file and offset.
  int64_t bytes = 0;
  int32_t file = 0;  // index into Checkpoint::files
  // Of the first byte, from the start of the file; in a PyTorch file, of its
  // storages laid end to end, since a zip file tells a place by a read of its
  // own for each.
  int64_t offset = 0;

  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

struct CheckpointFile {
  std::string name;  // below the checkpoint's folder: "model-00001-of-00002…"
  std::optional<int64_t> bytes;  // of the whole file; nothing where not asked

  friend bool operator==(const CheckpointFile&,
                         const CheckpointFile&) = default;
};

// One entry of GGUF's or safetensors' metadata, or of ONNX's properties.
struct CheckpointEntry {
  std::string key;  // "general.architecture", "llama.block_count", "format"
  // Numbers, texts, bools, and arrays of few of those.
  ConfigValue value;
  // Of an array: how many items it has. A long one (a vocabulary) is counted,
  // and `value` is null.
  int64_t items = 0;

  friend bool operator==(const CheckpointEntry&,
                         const CheckpointEntry&) = default;
};

struct Checkpoint {
  CheckpointFormat format = CheckpointFormat::kSafetensors;
  std::string source;  // what was asked for: a path, or an id
  std::vector<CheckpointFile> files;
  std::vector<StoredTensor> tensors;  // in the order of their files
  std::vector<CheckpointEntry> metadata;
  // "model.safetensors.index.json", where an index lists the files, and the
  // sum that it states (metadata.total_size), which writers get wrong.
  std::string index;
  std::optional<int64_t> stated_bytes;
  // Set where only the index was read: names and files, no shapes or bytes.
  bool names_only = false;

  // The entry of that key, or null.
  const CheckpointEntry* Find(std::string_view key) const {
    for (const CheckpointEntry& entry : metadata) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
};

}  // namespace foretell

#endif  // FORETELL_SPEC_CHECKPOINT_H_
