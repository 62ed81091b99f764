#include "input/source_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/nearest.h"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

InputError ErrorAt(const std::string& path, std::string what,
                   std::string cure) {
  Place place;
  place.source = path;
  return {std::move(place), std::move(what), std::move(cure)};
}

InputError Missing(const std::string& path) {
  const std::string folder = FolderOf(path);
  if (KindOfPath(folder) != PathKind::kFolder) {
    return ErrorAt(path,
                   fmt::format("does not exist: there is no folder {}", folder),
                   "check the path");
  }
  const std::vector<std::string> names = NamesInFolder(folder);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto near = NearestNames(LastNameOf(path), views);
  return ErrorAt(path, "does not exist",
                 near.empty() ? "check the path"
                              : fmt::format("check the path; in {} there is {}",
                                            folder, fmt::join(near, ", ")));
}

// What the system says when a path cannot be looked at or opened.
InputError Refused(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Missing(path);
    case EACCES:
    case EPERM:
      return ErrorAt(path, "may not be read by this user",
                     "allow it: chmod u+r, and u+x for the folders above");
    case ELOOP:
      return ErrorAt(path, "is a link that leads back to itself",
                     "let the link point to a file");
    case ENAMETOOLONG:
      return ErrorAt(path.substr(0, 60) + "…", "is too long for a path",
                     "pass a path of fewer than 4096 bytes");
    default:
      return ErrorAt(path,
                     fmt::format("cannot be read: {}",
                                 std::generic_category().message(error)),
                     "check the path and the disk");
  }
}

std::optional<InputError> NoRegularFile(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return std::nullopt;
  if (S_ISDIR(mode)) {
    return ErrorAt(path, "is a folder", "pass a file in it");
  }
  if (S_ISFIFO(mode)) {
    return ErrorAt(path, "is a pipe, which may never end",
                   "write its text to a file and pass that");
  }
  if (S_ISSOCK(mode)) {
    return ErrorAt(path, "is a socket", "pass a regular file");
  }
  return ErrorAt(path, "is a device", "pass a regular file");
}

InputError TooLarge(const std::string& path, int64_t size, int64_t max_bytes) {
  return ErrorAt(
      path,
      size > max_bytes
          ? fmt::format("has {} bytes; at most {} are read", size, max_bytes)
          : fmt::format("has more than the {} bytes that are read", max_bytes),
      "check that this is the right file");
}

std::optional<InputError> ReadAll(const std::string& path, int descriptor,
                                  int64_t expected, int64_t max_bytes,
                                  std::string& bytes) {
  // One more than expected, so that an unchanged file ends in one read.
  bytes.resize(static_cast<size_t>(std::min(expected, max_bytes)) + 1);
  size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) {
      if (static_cast<int64_t>(filled) > max_bytes) {
        return TooLarge(path, 0, max_bytes);
      }
      // A file of /proc says that its size is 0; another may be growing.
      bytes.resize(std::min(filled * 2, static_cast<size_t>(max_bytes)) + 1);
    }
    const ssize_t got =
        read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Refused(path, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return std::nullopt;
}

}  // namespace

PathKind KindOfPath(const std::string& path) {
  // A path ends for the system at a zero byte; such a name is no file's.
  if (path.empty() || path.find('\0') != std::string::npos) {
    return PathKind::kMissing;
  }
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    const bool missing =
        errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    return missing ? PathKind::kMissing : PathKind::kOther;
  }
  if (S_ISREG(status.st_mode)) return PathKind::kFile;
  if (S_ISDIR(status.st_mode)) return PathKind::kFolder;
  return PathKind::kOther;
}

OpenedFile OpenRegularFile(const std::string& path) {
  OpenedFile result;
  if (path.empty() || path.find('\0') != std::string::npos) {
    result.error = ErrorAt(path.empty() ? "\"\"" : path.substr(0, 60),
                           "is no path", "pass the path of a file");
    return result;
  }
  // Looked at before it is opened, since opening a device may do something.
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    result.error = Refused(path, errno);
    return result;
  }
  result.error = NoRegularFile(path, status.st_mode);
  if (result.error) return result;
  // O_NONBLOCK, in case a pipe has taken the file's place since.
  const int descriptor =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    result.error = Refused(path, errno);
  } else {
    result.error = NoRegularFile(path, status.st_mode);
  }
  if (result.error) {
    if (descriptor >= 0) close(descriptor);
    return result;
  }
  result.descriptor = descriptor;
  result.size = static_cast<int64_t>(status.st_size);
  return result;
}

FileResult ReadFileOrError(const std::string& path, int64_t max_bytes) {
  FileResult result;
  OpenedFile opened = OpenRegularFile(path);
  if (opened.error) {
    result.error = std::move(opened.error);
    return result;
  }
  const Descriptor file(opened.descriptor);
  if (opened.size > max_bytes) {
    result.error = TooLarge(path, opened.size, max_bytes);
    return result;
  }
  result.error =
      ReadAll(path, file.number(), opened.size, max_bytes, result.bytes);
  if (result.error) result.bytes.clear();
  return result;
}

std::string ReadWholeFile(const std::string& path, int64_t max_bytes) {
  FileResult result = ReadFileOrError(path, max_bytes);
  if (result.error) throw InputErrors(std::move(*result.error));
  return std::move(result.bytes);
}

std::string ReadFileStart(const std::string& path, size_t count) {
  if (KindOfPath(path) != PathKind::kFile) return "";
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) return "";
  std::string bytes(count, '\0');
  const ssize_t got = read(file.number(), bytes.data(), bytes.size());
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

std::vector<std::string> NamesInFolder(const std::string& path, size_t limit) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  while (!error && entry != fs::directory_iterator() && names.size() < limit) {
    std::error_code unknown;
    std::string name = entry->path().filename().string();
    if (entry->is_directory(unknown)) name += '/';
    names.push_back(std::move(name));
    entry.increment(error);
  }
  std::ranges::sort(names);
  return names;
}

std::string ExpandHome(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return path;
  return home + path.substr(1);
}

std::string JoinPath(const std::string& folder, std::string_view name) {
  if (folder.empty() || folder.ends_with('/')) {
    return folder + std::string(name);
  }
  return folder + "/" + std::string(name);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  std::string out = absolute.lexically_normal().string();
  if (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

std::string LastNameOf(const std::string& path) {
  return fs::path(AbsolutePath(path)).filename().string();
}

}  // namespace foretell
