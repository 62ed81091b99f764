// Bytes that a header's reader may ask for by range: a file on a disk, an
// object on a server, a string in a test.
//
// A reader asks for what it needs, after it has checked the range against
// `size()`; it never asks for a whole file of weights. Where a source cannot
// give the bytes (a disk's error, a connection that broke, a file that has
// become shorter meanwhile) it returns why, since some readers call it through
// a library in C, which no exception may pass.
#ifndef FORETELL_INPUT_BYTE_SOURCE_H_
#define FORETELL_INPUT_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"

namespace foretell {

class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // What places show: a path or an address.
  virtual const std::string& name() const = 0;
  virtual int64_t size() const = 0;
  // Fills all of `out` with the bytes from `offset` on, or tells why not. The
  // range lies inside the size.
  virtual std::optional<InputError> Read(int64_t offset,
                                         std::span<char> out) = 0;
};

// The files of a checkpoint: a folder, or a revision of a repository.
class ByteFolder {
 public:
  ByteFolder() = default;
  virtual ~ByteFolder() = default;
  ByteFolder(const ByteFolder&) = delete;
  ByteFolder& operator=(const ByteFolder&) = delete;

  virtual const std::string& name() const = 0;
  // Names of the files directly in it, sorted; folders end with "/".
  virtual std::vector<std::string> Names() = 0;
  // `file` is a name without a slash, or a relative path that does not leave
  // the folder; the caller has checked that. Throws InputErrors where it
  // cannot be opened.
  virtual std::unique_ptr<ByteSource> Open(std::string_view file) = 0;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_BYTE_SOURCE_H_
