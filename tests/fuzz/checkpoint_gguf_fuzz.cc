// Any bytes as a GGUF file: what they say, or InputErrors; nothing past the
// bytes is read, and a size that the bytes claim takes no memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/input_error.h"
#include "input/checkpoint_gguf.h"
#include "input/gguf_config.h"
#include "input/memory_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    foretell::MemoryBytes source("fuzz", std::move(bytes));
    const auto header = foretell::ReadGgufHeader(source);
    for (const foretell::StoredTensor& tensor : header.tensors) {
      FORETELL_CHECK(tensor.offset >= 0 && tensor.bytes >= 0 &&
                         tensor.bytes <= source.size() - tensor.offset,
                     "a tensor outside the file");
    }
    foretell::Checkpoint checkpoint;
    checkpoint.format = foretell::CheckpointFormat::kGguf;
    checkpoint.tensors = header.tensors;
    checkpoint.metadata = header.metadata;
    foretell::ConfigOfGguf(checkpoint);
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  return 0;
}
