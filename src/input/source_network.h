// One HTTP request at a time, within limits, over TLS that is verified.
//
// The only file of `input` that speaks to a network; libcurl does it. In: an
// address, what to send, how much to take and how long to wait. Out: the
// status, the headers and the body, or what failed: nothing is thrown, so that
// a caller may fall back on what it has.
//
// It follows no redirect (the caller decides who gets a token), unpacks no
// encoding (a body that came packed although nobody asked is refused), keeps
// no cookie, and reads no ~/.netrc. Headers, the body and the time are bounded
// as they arrive. One connection is kept between requests.
//
// Proxies are taken from http_proxy, https_proxy, all_proxy and no_proxy as
// libcurl reads them; this machine itself is always asked directly.
#ifndef FORETELL_INPUT_SOURCE_NETWORK_H_
#define FORETELL_INPUT_SOURCE_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/http_headers.h"

namespace foretell {

struct NetworkSettings {
  // A file or a folder of certificates; the system's where empty.
  std::string certificates;
  int64_t connect_seconds = 10;
  int64_t idle_seconds = 10;    // without a byte
  int64_t total_seconds = 300;  // for one request, however it drips
  std::string user_agent = "foretell/" FORETELL_VERSION;
  // Called once during a request that has taken this long.
  std::function<void()> on_slow;
  double slow_seconds = 1.0;
};

struct HttpRange {
  int64_t first = 0;
  int64_t count = 0;
};

struct HttpRequest {
  std::string address;
  bool head = false;   // headers only
  std::string bearer;  // sent as Authorization; a secret
  std::optional<HttpRange> range;
  std::vector<std::string> headers;  // "If-None-Match: \"abc\""
  int64_t most_bytes = 0;            // of the body; more is kTooLarge
};

enum class HttpFault : uint8_t {
  kNone,
  kNoLibrary,  // no libcurl on this machine
  kBadAddress,
  kUnknownHost,
  kNoConnection,
  kProxy,
  kCertificate,   // of the server, not verified
  kCertificates,  // ours to verify with, unreadable
  kHandshake,
  kTimedOut,
  kCutShort,  // the connection ended within the answer
  kTooLarge,
  kPacked,  // a Content-Encoding that was not asked for
  kOther,
};

struct HttpAnswer {
  HttpFault fault = HttpFault::kNone;
  std::string detail;  // libcurl's words; without secrets
  int status = 0;
  HttpHeaders headers;
  // Of a range, exactly that range, also where the server sent the whole file.
  std::string body;
  std::string redirect;  // where the answer points to, made absolute
};

class HttpClient {
 public:
  explicit HttpClient(NetworkSettings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpAnswer Ask(const HttpRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_NETWORK_H_
