#include "input/source_hub_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "input/hub_id.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// A ref holds a hash and perhaps a line break.
constexpr int64_t kMostRefBytes = 256;
// Repositories with more files than that are collections of checkpoints.
constexpr size_t kMostFiles = 10'000;

// https://bford.info/cachedir/: what backups leave out.
constexpr char kCacheTag[] =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file marks a cache of models: backups need not hold it.\n"
    "# For information about cache directory tags, see\n"
    "# https://bford.info/cachedir/\n";

std::string Reason(const std::string& path, int error) {
  return fmt::format("{}: {}", path, std::generic_category().message(error));
}

// Eight digits that no other process picks at the same moment.
std::string FreshSuffix() {
  std::random_device device;
  return fmt::format("{:08x}", device());
}

std::string MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? fmt::format("{}: {}", path, error.message()) : "";
}

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  // Renamed before its bytes are on the disk, it could be empty after a crash.
  return fdatasync(file) == 0;
}

// Writes beside `path`, then renames: a reader sees all of it or nothing.
std::string WriteWhole(const std::string& path, std::string_view bytes) {
  const std::string fresh =
      fmt::format("{}.{}.incomplete", path, FreshSuffix());
  const int file =
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return Reason(fresh, errno);
  const bool written = WriteAll(file, bytes);
  int error = errno;
  close(file);
  if (written && rename(fresh.c_str(), path.c_str()) == 0) return "";
  if (written) error = errno;
  unlink(fresh.c_str());
  return Reason(path, error);
}

// A link at `path`, whatever was there.
std::string WriteLink(const std::string& path, const std::string& target) {
  const std::string fresh =
      fmt::format("{}.{}.incomplete", path, FreshSuffix());
  if (symlink(target.c_str(), fresh.c_str()) != 0) return Reason(path, errno);
  if (rename(fresh.c_str(), path.c_str()) == 0) return "";
  const int error = errno;
  unlink(fresh.c_str());
  return Reason(path, error);
}

std::string Trimmed(std::string text) {
  const auto blank = [](char c) { return c == '\n' || c == '\r' || c == ' '; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  return text;
}

InputError At(const std::string& source, std::string what, std::string cure) {
  Place place;
  place.source = source;
  return {std::move(place), std::move(what), std::move(cure)};
}

// Names of regular files and links below `root`, relative to it.
std::vector<std::string> NamesBelow(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  const fs::recursive_directory_iterator end;
  while (!error && entry != end && names.size() < kMostFiles) {
    std::error_code unknown;
    if (!entry->is_directory(unknown)) {
      names.push_back(entry->path().lexically_relative(root).string());
    }
    entry.increment(error);
  }
  std::ranges::sort(names);
  return names;
}

// Folders' names in `path`, without their slash.
std::vector<std::string> FoldersIn(const std::string& path) {
  std::vector<std::string> out;
  for (std::string& name : NamesInFolder(path)) {
    if (!name.ends_with('/')) continue;
    name.pop_back();
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace

HubCache::HubCache(std::string folder, bool links)
    : folder_(std::move(folder)), links_(links) {}

std::string HubCache::Repository(std::string_view id) const {
  return JoinPath(folder_, CacheFolderName(id));
}

std::string HubCache::Snapshot(const HubPlace& place) const {
  return JoinPath(JoinPath(Repository(place.id) + "/snapshots", place.commit),
                  place.file);
}

CachedCommit HubCache::CommitOf(const std::string& id,
                                const std::string& revision) const {
  CachedCommit out;
  const std::string root = Repository(id);
  if (KindOfPath(root) != PathKind::kFolder) return out;
  const std::string ref = JoinPath(root + "/refs", revision);
  if (KindOfPath(ref) == PathKind::kFile) {
    FileResult file = ReadFileOrError(ref, kMostRefBytes);
    const std::string commit = Trimmed(std::move(file.bytes));
    // Older clients wrote it in place: for a moment it was empty.
    if (file.error || (!commit.empty() && !IsCommitHash(commit))) {
      out.error = file.error
                      ? std::move(*file.error)
                      : At(ref, "holds no commit's hash",
                           "delete this file; it is written again when the "
                           "revision is next fetched");
      return out;
    }
    if (!commit.empty()) {
      out.commit = commit;
      return out;
    }
  }
  if (IsCommitHash(revision)) {
    out.commit = revision;
    return out;
  }
  if (!MayBeShortHash(revision)) return out;
  std::vector<std::string> fitting;
  for (const std::string& commit : FoldersIn(root + "/snapshots")) {
    if (IsCommitHash(commit) && commit.starts_with(revision)) {
      fitting.push_back(commit);
    }
  }
  if (fitting.size() == 1) out.commit = fitting.front();
  if (fitting.size() > 1) {
    out.error =
        At(id,
           fmt::format("has {} commits in the cache that begin with {}",
                       fitting.size(), revision),
           fmt::format("write more digits: {}", fmt::join(fitting, ", ")));
  }
  return out;
}

std::string HubCache::PathOf(const HubPlace& place) const {
  std::string path = Snapshot(place);
  return KindOfPath(path) == PathKind::kFile ? path : "";
}

bool HubCache::IsKnownMissing(const HubPlace& place) const {
  const std::string mark = JoinPath(
      JoinPath(Repository(place.id) + "/.no_exist", place.commit), place.file);
  return KindOfPath(mark) == PathKind::kFile;
}

std::vector<std::string> HubCache::FilesOf(const std::string& id,
                                           const std::string& commit) const {
  return NamesBelow(JoinPath(Repository(id) + "/snapshots", commit));
}

std::vector<std::string> HubCache::BlobsOf(const std::string& id,
                                           const std::string& file) const {
  std::vector<std::string> out;
  for (const std::string& commit : FoldersIn(Repository(id) + "/snapshots")) {
    std::error_code error;
    const fs::path target =
        fs::read_symlink(Snapshot({id, commit, file}), error);
    if (error) continue;
    std::string blob = target.filename().string();
    if (KindOfPath(BlobPath(id, blob)) == PathKind::kFile)
      out.push_back(std::move(blob));
  }
  std::ranges::sort(out);
  const auto again = std::ranges::unique(out);
  out.erase(again.begin(), again.end());
  return out;
}

std::string HubCache::BlobPath(const std::string& id,
                               const std::string& blob) const {
  return JoinPath(Repository(id) + "/blobs", blob);
}

std::vector<std::string> HubCache::RevisionsOf(const std::string& id) const {
  std::vector<std::string> out = NamesBelow(Repository(id) + "/refs");
  std::ranges::move(FoldersIn(Repository(id) + "/snapshots"),
                    std::back_inserter(out));
  return out;
}

std::string HubCache::Keep(const HubPlace& place, const std::string& blob,
                           std::string_view bytes) const {
  if (!links_) {
    const std::string path = Snapshot(place);
    std::string why = MakeFolder(FolderOf(path));
    return why.empty() ? WriteWhole(path, bytes) : why;
  }
  const std::string blobs = Repository(place.id) + "/blobs";
  if (std::string why = MakeFolder(blobs); !why.empty()) return why;
  const std::string tag = JoinPath(folder_, "CACHEDIR.TAG");
  // A cache without it is as good.
  if (KindOfPath(tag) == PathKind::kMissing) WriteWhole(tag, kCacheTag);
  std::string why = WriteWhole(BlobPath(place.id, blob), bytes);
  if (!why.empty()) return why;
  return KeepKnown(place, blob);
}

std::string HubCache::KeepKnown(const HubPlace& place,
                                const std::string& blob) const {
  const std::string path = Snapshot(place);
  if (std::string why = MakeFolder(FolderOf(path)); !why.empty()) return why;
  if (!links_) {
    const std::string from = BlobPath(place.id, blob);
    FileResult file = ReadFileOrError(from, kConfigFileBytes);
    return file.error ? from + ": " + file.error->what
                      : WriteWhole(path, file.bytes);
  }
  // From snapshots/COMMIT/ up to the repository, and once more a folder.
  std::string target = "../../";
  for (const char c : place.file) {
    if (c == '/') target += "../";
  }
  return WriteLink(path, target + "blobs/" + blob);
}

std::string HubCache::KeepMissing(const HubPlace& place) const {
  const std::string mark = JoinPath(
      JoinPath(Repository(place.id) + "/.no_exist", place.commit), place.file);
  std::string why = MakeFolder(FolderOf(mark));
  return why.empty() ? WriteWhole(mark, "") : why;
}

std::string HubCache::KeepRevision(const std::string& id,
                                   const std::string& revision,
                                   const std::string& commit) const {
  if (revision == commit) return "";
  const std::string ref = JoinPath(Repository(id) + "/refs", revision);
  const FileResult held = ReadFileOrError(ref, kMostRefBytes);
  // The cache may be one that only others write to.
  if (!held.error && Trimmed(held.bytes) == commit) return "";
  std::string why = MakeFolder(FolderOf(ref));
  return why.empty() ? WriteWhole(ref, commit) : why;
}

}  // namespace foretell
