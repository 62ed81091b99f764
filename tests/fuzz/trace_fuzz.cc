// Any bytes as a recorded trace, packed and as they are: a trace, or
// InputErrors.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/trace.h"

namespace foretell {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
  FORETELL_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK,
                 "zlib does not start");
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string copy = text;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  FORETELL_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib stops");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void Read(const std::string& bytes) {
  try {
    ParseTrace(bytes, "fuzz");
  } catch (const InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
}

}  // namespace
}  // namespace foretell

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  foretell::Read(bytes);
  foretell::Read(foretell::Gzip(bytes));
  return 0;
}
