// Deflated bytes, unpacked within a limit.
//
// In: a gzip or a zlib stream (RFC 1952, RFC 1950) of anyone's making, how
// much may come out, and the name to show. Out: the bytes. Memory grows with
// what comes out, never past the limit.
//
// Throws InputErrors where the stream is none, is cut short, or holds more.
#ifndef FORETELL_INPUT_GZIP_H_
#define FORETELL_INPUT_GZIP_H_

#include <cstdint>
#include <string>

namespace foretell {

std::string UnpackGzip(const std::string& gzip_bytes, int64_t max_bytes,
                       const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_GZIP_H_
