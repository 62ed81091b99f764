// Any bytes as the index of a checkpoint: what they say, or InputErrors;
// nothing past the bytes is read, and a size that the bytes claim takes no
// memory.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/checkpoint_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto index = foretell::ParseCheckpointIndex(bytes, "fuzz");
    for (const auto& [name, file] : index.tensors) {
      FORETELL_CHECK(
          file >= 0 && static_cast<size_t>(file) < index.files.size(),
          "a file");
    }
    for (const std::string& file : index.files) {
      FORETELL_CHECK(foretell::StaysInFolder(file), "a file outside");
    }
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  return 0;
}
