// The header lines of an HTTP answer, and the values that a hub's client acts
// on: entity tags, ranges, and how long to wait.
//
// In: bytes that a server sent. Out: values that were checked, or nothing.
// Pure. Names are compared without regard to case; of a name that comes twice
// the last value holds. Limits are the caller's: it stops reading lines.
#ifndef FORETELL_INPUT_HTTP_HEADERS_H_
#define FORETELL_INPUT_HTTP_HEADERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {

class HttpHeaders {
 public:
  // "ETag: \"abc\"\r\n". A status line begins a new answer and clears what
  // stood before (an answer 100, or a proxy's); a line without a colon is
  // ignored, as is what follows the empty line: trailers.
  void AddLine(std::string_view line);

  // Without blanks around it; null where absent.
  const std::string* Find(std::string_view name) const;
  std::string Text(std::string_view name) const;  // empty where absent

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  bool ended_ = false;
};

// W/"abc" and "abc" without quotes, as the official client names its blobs
// (huggingface_hub 2.4, file_download.py: _normalize_etag). Nothing where the
// rest could not be a file's name: it is what a server chose.
std::optional<std::string> BlobNameOfEtag(std::string_view etag);

struct ContentRange {
  int64_t first = 0;
  int64_t last = 0;                   // inclusive
  std::optional<int64_t> total = {};  // nothing for "*"
};

// "bytes 0-7/5000" (RFC 9110, section 14.4).
std::optional<ContentRange> ParseContentRange(std::string_view value);

// A whole number from 0 on, digits only, that an int64_t holds.
std::optional<int64_t> ParseLength(std::string_view value);

// Retry-After as seconds from now: "120", or a date of RFC 9110, section
// 5.6.7, in its one form that may be sent; zero for a date that has passed.
// `now` is in seconds since 1970.
std::optional<int64_t> ParseRetryAfter(std::string_view value, int64_t now);

// How long until a window reopens that is used up: 55 for `"api";r=0;t=55`
// (draft-ietf-httpapi-ratelimit-headers-09, as the hub sends it). Nothing
// where requests remain.
std::optional<int64_t> ParseRateLimit(std::string_view value);

}  // namespace foretell

#endif  // FORETELL_INPUT_HTTP_HEADERS_H_
