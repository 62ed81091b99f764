#include "input/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>
#include <optional>
#include <utility>

#include "base/input_error.h"

namespace foretell {
namespace {

// inflateInit2's way to say "a gzip or a zlib header".
constexpr int kEitherWindow = 15 + 32;

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kEitherWindow) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Nothing where the bytes are no such stream, are cut short, or unpack to
  // more than `max_bytes`.
  std::optional<std::string> Run(const std::string& bytes, int64_t max_bytes) {
    if (!ready_ || bytes.size() > std::numeric_limits<uInt>::max()) {
      return std::nullopt;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    std::string chunk(1 << 16, '\0');
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream_.avail_out = static_cast<uInt>(chunk.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END) return std::nullopt;
      out.append(chunk, 0, chunk.size() - stream_.avail_out);
      if (static_cast<int64_t>(out.size()) > max_bytes) return std::nullopt;
      const bool is_stuck =
          status == Z_OK && stream_.avail_in == 0 && stream_.avail_out > 0;
      if (is_stuck) return std::nullopt;
    }
    return out;
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
};

}  // namespace

std::string UnpackGzip(const std::string& gzip_bytes, int64_t max_bytes,
                       const std::string& source) {
  auto text = Inflater().Run(gzip_bytes, max_bytes);
  if (text) return *std::move(text);
  InputError error;
  error.place.source = source;
  error.what = fmt::format(
      "is no whole gzip stream of at most {} bytes unpacked", max_bytes);
  error.cure = "write the file again, or pack it whole with gzip";
  throw InputErrors(std::move(error));
}

}  // namespace foretell
