#include "input/source_bytes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/input_error.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

class DiskFile : public ByteSource {
 public:
  DiskFile(std::string path, const OpenedFile& opened)
      : path_(std::move(path)),
        descriptor_(opened.descriptor),
        size_(opened.size) {}
  ~DiskFile() override { close(descriptor_); }

  const std::string& name() const override { return path_; }
  int64_t size() const override { return size_; }

  std::optional<InputError> Read(int64_t offset, std::span<char> out) override {
    FORETELL_CHECK(offset >= 0 && offset <= size_ &&
                       static_cast<int64_t>(out.size()) <= size_ - offset,
                   "a range past the end of " + path_);
    while (!out.empty()) {
      const ssize_t got = pread(descriptor_, out.data(), out.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error(fmt::format("cannot be read: {}",
                                 std::generic_category().message(errno)),
                     "check the disk");
      }
      if (got == 0) {
        return Error("has become shorter while it was read",
                     "wait until it is written whole, then try again");
      }
      offset += got;
      out = out.subspan(static_cast<size_t>(got));
    }
    return std::nullopt;
  }

 private:
  InputError Error(std::string what, std::string cure) const {
    Place place;
    place.source = path_;
    return {std::move(place), std::move(what), std::move(cure)};
  }

  std::string path_;
  int descriptor_;
  int64_t size_;
};

class DiskFolder : public ByteFolder {
 public:
  explicit DiskFolder(std::string path) : path_(std::move(path)) {}

  const std::string& name() const override { return path_; }
  std::vector<std::string> Names() override { return NamesInFolder(path_); }
  std::unique_ptr<ByteSource> Open(std::string_view file) override {
    return OpenDiskFile(JoinPath(path_, file));
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenDiskFile(const std::string& path) {
  OpenedFile opened = OpenRegularFile(path);
  if (opened.error) throw InputErrors(std::move(*opened.error));
  return std::make_unique<DiskFile>(path, std::move(opened));
}

std::unique_ptr<ByteFolder> OpenDiskFolder(const std::string& path) {
  return std::make_unique<DiskFolder>(path);
}

}  // namespace foretell
