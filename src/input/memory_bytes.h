// Bytes that are already in memory, as a ByteSource: what was unpacked from an
// archive, and what tests and fuzzers make.
//
// In: a name for messages, and the bytes, which it keeps. Nothing can fail.
#ifndef FORETELL_INPUT_MEMORY_BYTES_H_
#define FORETELL_INPUT_MEMORY_BYTES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "input/byte_source.h"

namespace foretell {

class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(std::string name, std::string bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  const std::string& name() const override { return name_; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  std::optional<InputError> Read(int64_t offset, std::span<char> out) override {
    FORETELL_CHECK(offset >= 0 && offset <= size() &&
                       static_cast<int64_t>(out.size()) <= size() - offset,
                   "a range past the end of " + name_);
    std::copy_n(bytes_.begin() + offset, out.size(), out.begin());
    return std::nullopt;
  }

 private:
  std::string name_;
  std::string bytes_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_MEMORY_BYTES_H_
