// The directory of a zip file, and one of its small files unpacked.
//
// In: a source of bytes. Out: each entry's name and sizes, in the directory's
// order; no entry's own bytes are read, but those of `Unpack`. Zip64 is
// followed. minizip does the reading (docs/dependencies.md).
//
// Bounded: the number of entries, the length of a name, and what is unpacked,
// by the limit that is passed and not by what the directory claims.
// Throws InputErrors.
#ifndef FORETELL_INPUT_ZIP_DIRECTORY_H_
#define FORETELL_INPUT_ZIP_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input/byte_window.h"

namespace foretell {

struct ZipEntry {
  std::string name;
  int64_t packed = 0;      // bytes, as the directory claims
  int64_t bytes = 0;       // unpacked, as the directory claims
  bool is_stored = false;  // as it is, without compression
};

class ZipFile {
 public:
  explicit ZipFile(ByteWindow& window);
  ~ZipFile() = default;
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The bytes of the entry of that index, at most `most`.
  std::string Unpack(size_t index, int64_t most);

 private:
  // What minizip's calls read from.
  struct Stream {
    ByteWindow* window = nullptr;
    int64_t at = 0;
  };
  // Closes minizip's file, also where the constructor throws.
  struct Close {
    void operator()(void* file) const;
  };

  void ThrowIfFailed() const;

  ByteWindow& window_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<void, Close> file_;
  std::vector<ZipEntry> entries_;
  std::vector<std::pair<uint64_t, uint64_t>> places_;  // minizip's
};

}  // namespace foretell

#endif  // FORETELL_INPUT_ZIP_DIRECTORY_H_
