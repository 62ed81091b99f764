#include "input/zip_directory.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <utility>

#include "base/figure.h"
#include "base/input_error.h"
#include "input/checkpoint_limits.h"

namespace foretell {

namespace {

constexpr std::string_view kCopy =
    "the file is damaged or cut short: copy it again, or save it again with "
    "torch.save";

}  // namespace

void ZipFile::Close::operator()(void* file) const { unzClose(file); }

// No exception may pass through C: a read that fails gives no bytes, and its
// error is thrown on this side.
void ZipFile::ThrowIfFailed() const {
  if (window_.error()) throw InputErrors(*window_.error());
}

ZipFile::ZipFile(ByteWindow& window)
    : window_(window), stream_(std::make_unique<Stream>()) {
  stream_->window = &window;
  zlib_filefunc64_def calls = {};
  calls.opaque = stream_.get();
  calls.zopen64_file = [](voidpf opaque, const void*, int) { return opaque; };
  calls.zread_file = [](voidpf opaque, voidpf, void* out,
                        uLong count) -> uLong {
    auto& stream = *static_cast<Stream*>(opaque);
    const int64_t left = stream.window->size() - stream.at;
    auto* to = static_cast<char*>(out);
    const int64_t wanted =
        std::min(left, static_cast<int64_t>(std::min<uLong>(
                           count, static_cast<uLong>(INT64_MAX))));
    for (int64_t done = 0; done < wanted;) {
      const int64_t piece = std::min(wanted - done, ByteWindow::kMostWindow);
      const auto bytes = stream.window->TryAt(stream.at, piece);
      if (!bytes) return 0;
      std::ranges::copy(*bytes, to + done);
      stream.at += piece;
      done += piece;
    }
    return static_cast<uLong>(std::max<int64_t>(wanted, 0));
  };
  calls.ztell64_file = [](voidpf opaque, voidpf) -> ZPOS64_T {
    return static_cast<ZPOS64_T>(static_cast<Stream*>(opaque)->at);
  };
  calls.zseek64_file =
      [](voidpf opaque, voidpf, ZPOS64_T offset,
         int origin) -> long {  // NOLINT(google-runtime-int): minizip\'s
    auto& stream = *static_cast<Stream*>(opaque);
    const int64_t from = origin == ZLIB_FILEFUNC_SEEK_SET ? 0
                         : origin == ZLIB_FILEFUNC_SEEK_CUR
                             ? stream.at
                             : stream.window->size();
    int64_t to = 0;
    if (__builtin_add_overflow(from, static_cast<int64_t>(offset), &to) ||
        to < 0 || to > stream.window->size()) {
      return -1;
    }
    stream.at = to;
    return 0;
  };
  calls.zclose_file = [](voidpf, voidpf) { return 0; };
  calls.zerror_file = [](voidpf, voidpf) { return 0; };
  file_.reset(unzOpen2_64(nullptr, &calls));
  ThrowIfFailed();
  if (file_ == nullptr) {
    window_.FailAt("zip directory", "has no zip directory at its end",
                   std::string(kCopy));
  }
  // A directory of n entries takes 46 bytes of each, so that the end comes.
  int status = unzGoToFirstFile(file_.get());
  while (status == UNZ_OK) {
    unz_file_info64 info = {};
    std::string name(static_cast<size_t>(kMostNameBytes), '\0');
    status = unzGetCurrentFileInfo64(file_.get(), &info, name.data(),
                                     name.size(), nullptr, 0, nullptr, 0);
    ThrowIfFailed();
    if (status != UNZ_OK) break;
    if (info.size_filename >= name.size() ||
        static_cast<int64_t>(entries_.size()) >= kMostTensors ||
        info.uncompressed_size > static_cast<uint64_t>(INT64_MAX) ||
        info.compressed_size > static_cast<uint64_t>(window.size())) {
      window_.FailAt(
          "zip entry " + WithSeparators(static_cast<int64_t>(entries_.size())),
          "claims a name or a size that no file of " +
              WithSeparators(window.size()) + " bytes can hold",
          std::string(kCopy));
    }
    name.resize(info.size_filename);
    unz64_file_pos place = {};
    unzGetFilePos64(file_.get(), &place);
    entries_.push_back({std::move(name),
                        static_cast<int64_t>(info.compressed_size),
                        static_cast<int64_t>(info.uncompressed_size),
                        info.compression_method == 0});
    places_.emplace_back(place.pos_in_zip_directory, place.num_of_file);
    status = unzGoToNextFile(file_.get());
    ThrowIfFailed();
  }
  if (status != UNZ_END_OF_LIST_OF_FILE) {
    window_.FailAt(
        "zip entry " + WithSeparators(static_cast<int64_t>(entries_.size())),
        "is no entry of a zip directory", std::string(kCopy));
  }
}

std::string ZipFile::Unpack(size_t index, int64_t most) {
  const auto fail = [&](std::string what) {
    window_.FailAt(ShownName(entries_[index].name), std::move(what),
                   std::string(kCopy));
  };
  unz64_file_pos place = {places_[index].first, places_[index].second};
  if (unzGoToFilePos64(file_.get(), &place) != UNZ_OK ||
      unzOpenCurrentFile(file_.get()) != UNZ_OK) {
    ThrowIfFailed();
    fail("cannot be unpacked");
  }
  // Grows by what really comes out, not by what the directory claims.
  std::string out;
  constexpr size_t kPiece = size_t{64} << 10;
  std::string piece(kPiece, '\0');
  while (true) {
    const int got = unzReadCurrentFile(file_.get(), piece.data(),
                                       static_cast<unsigned>(piece.size()));
    ThrowIfFailed();
    if (got < 0) fail("cannot be unpacked");
    if (got == 0) break;
    out.append(piece, 0, static_cast<size_t>(got));
    if (static_cast<int64_t>(out.size()) > most) {
      fail("unpacks to more than " + WithSeparators(most) + " bytes");
    }
  }
  if (unzCloseCurrentFile(file_.get()) != UNZ_OK) {
    fail("has bytes that do not match their checksum");
  }
  return out;
}

}  // namespace foretell
