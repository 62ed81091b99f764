#include "front/written_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "input/source_disk.h"

namespace foretell {
namespace {

InputError Error(const std::string& path, std::string what, std::string cure) {
  InputError error;
  error.place.source = path;
  error.what = std::move(what);
  error.cure = std::move(cure);
  return error;
}

InputError Failed(const std::string& path, int code) {
  return Error(
      path,
      path + " cannot be written: " + std::generic_category().message(code),
      "check the folder, its permissions and the disk's free space, "
      "or name another file");
}

// Far enough into a file of any kind that is marked.
constexpr size_t kMarkedBytes = 256;

std::optional<InputError> CheckTarget(const std::string& path,
                                      std::string_view mark) {
  switch (KindOfPath(path)) {
    case PathKind::kMissing:
      return std::nullopt;
    case PathKind::kFolder:
      return Error(
          path, path + " is a folder",
          "name a file in it, such as " + JoinPath(path, "timeline.svg"));
    case PathKind::kOther:
      return Error(path, path + " is no plain file", "name another file");
    case PathKind::kFile:
      break;
  }
  const std::string start = ReadFileStart(path, kMarkedBytes);
  if (start.empty() || start.find(mark) != std::string::npos) {
    return std::nullopt;
  }
  return Error(path, path + " exists and holds something else",
               "name another file, or remove it first");
}

}  // namespace

std::optional<InputError> WriteNamedFile(const std::string& path,
                                         std::string_view bytes,
                                         std::string_view mark) {
  const std::string expanded = ExpandHome(path);
  if (auto error = CheckTarget(expanded, mark)) return error;
  const std::string folder = FolderOf(expanded);
  if (KindOfPath(folder) != PathKind::kFolder) {
    return Error(path, "there is no folder " + folder,
                 "make it first: mkdir -p " + folder);
  }
  std::string fresh = expanded + ".XXXXXX";
  const int file = mkstemp(fresh.data());
  if (file < 0) return Failed(expanded, errno);
  // As a file that the shell makes, not one for its owner alone.
  const mode_t mask = umask(0);
  umask(mask);
  int code = fchmod(file, 0666 & ~mask) == 0 ? 0 : errno;
  while (code == 0 && !bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) code = errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (close(file) != 0 && code == 0) code = errno;
  if (code == 0 && std::rename(fresh.c_str(), expanded.c_str()) != 0) {
    code = errno;
  }
  if (code == 0) return std::nullopt;
  std::remove(fresh.c_str());
  return Failed(expanded, code);
}

}  // namespace foretell
