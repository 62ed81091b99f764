// Files of a disk, read whole, within a limit, without ever waiting.
//
// The only file of `input` that looks at a disk. A path may be anything that
// someone typed: a missing file, a folder, a device, a pipe without a writer,
// a loop of links, two terabytes. Each is told by what it is before a byte is
// read or memory is taken.
//
// Errors name the path and the cure; a missing file's name the nearest names
// in its folder.
#ifndef FORETELL_INPUT_SOURCE_DISK_H_
#define FORETELL_INPUT_SOURCE_DISK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"

namespace foretell {

// Past any configuration file that is known (the largest has 3 MB).
inline constexpr int64_t kConfigFileBytes = int64_t{32} << 20;

enum class PathKind : uint8_t {
  kMissing,
  kFile,
  kFolder,
  kOther,  // a pipe, a device, a socket, or what may not be looked at
};

// Follows links.
PathKind KindOfPath(const std::string& path);

// A regular file that is open for reading, which the caller closes, or why it
// could not be opened: never both.
struct OpenedFile {
  int descriptor = -1;
  int64_t size = 0;
  std::optional<InputError> error;
};

OpenedFile OpenRegularFile(const std::string& path);

// The file's bytes, or why there are none: never both.
struct FileResult {
  std::string bytes;
  std::optional<InputError> error;
};

FileResult ReadFileOrError(const std::string& path, int64_t max_bytes);

// The same, throwing InputErrors.
std::string ReadWholeFile(const std::string& path, int64_t max_bytes);

// The first bytes of a regular file, fewer where it is shorter; empty where it
// cannot be read.
std::string ReadFileStart(const std::string& path, size_t count);

// Names in a folder, sorted; folders end with "/". At most `limit` of them,
// and none where the folder cannot be read.
std::vector<std::string> NamesInFolder(const std::string& path,
                                       size_t limit = 10000);

// "~" and "~/x" below the home folder; any other path as it is.
std::string ExpandHome(const std::string& path);

// "dir" + "name" with one slash between.
std::string JoinPath(const std::string& folder, std::string_view name);

// Of "a/b/c.json": "a/b"; of "c.json": ".".
std::string FolderOf(const std::string& path);

// The last part of the path once it is absolute and without "." and "..";
// empty for "/".
std::string LastNameOf(const std::string& path);

// The path made absolute, without "." and ".." where that needs no disk.
std::string AbsolutePath(const std::string& path);

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_DISK_H_
