#include "input/source_network.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "input/http_address.h"
#include "input/source_curl.h"

namespace foretell {
namespace {

// What libcurl's options take and its variables are.
using CurlLong = long;  // NOLINT(google-runtime-int): the library's own type

// All header lines of an answer together; the hub sends some 4 KB.
constexpr size_t kMostHeaderBytes = size_t{256} << 10;
// What is read of an answer's body that nobody wants, to keep its connection.
constexpr int64_t kMostIgnoredBytes = int64_t{64} << 10;

// What one request has taken in so far; libcurl's callbacks fill it.
struct Transfer {
  const NetworkSettings* settings = nullptr;
  const HttpRequest* request = nullptr;
  HttpAnswer* answer = nullptr;
  size_t header_bytes = 0;
  int64_t seen = 0;      // bytes of the body that arrived
  bool is_done = false;  // stopped because nothing more is wanted
  bool told = false;     // that it takes long
  std::chrono::steady_clock::time_point begin = {};
};

bool Fail(Transfer& transfer, HttpFault fault, std::string detail) {
  if (transfer.answer->fault == HttpFault::kNone) {
    transfer.answer->fault = fault;
    transfer.answer->detail = std::move(detail);
  }
  return false;
}

// "HTTP/1.1 206 Partial Content" begins an answer.
void ReadStatus(std::string_view line, Transfer& transfer) {
  const size_t blank = line.find(' ');
  if (!line.starts_with("HTTP/") || blank == std::string_view::npos) return;
  int status = 0;
  std::from_chars(line.data() + blank + 1, line.data() + line.size(), status);
  transfer.answer->status = status;
}

size_t OnHeader(char* bytes, size_t size, size_t count, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  const std::string_view line(bytes, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMostHeaderBytes) {
    Fail(transfer, HttpFault::kTooLarge, "its headers");
    return 0;
  }
  ReadStatus(line, transfer);
  transfer.answer->headers.AddLine(line);
  return line.size();
}

bool IsWanted(int status) { return status >= 200 && status < 300; }

// Whether what arrives is what was asked for; at the body's first bytes.
bool MayBegin(Transfer& transfer) {
  const HttpAnswer& answer = *transfer.answer;
  const std::string packed = answer.headers.Text("Content-Encoding");
  if (!packed.empty() && packed != "identity") {
    return Fail(transfer, HttpFault::kPacked, packed.substr(0, 40));
  }
  const auto& range = transfer.request->range;
  if (!range || answer.status != 206) return true;
  const auto got = ParseContentRange(answer.headers.Text("Content-Range"));
  if (!got || got->first != range->first ||
      got->last >= range->first + range->count) {
    return Fail(transfer, HttpFault::kOther, "it sent another range");
  }
  return true;
}

// How many bytes before the wanted ones there are: a server may send the
// whole file where a part was asked for.
int64_t SkippedBytes(const Transfer& transfer) {
  const auto& range = transfer.request->range;
  return range && transfer.answer->status == 200 ? range->first : 0;
}

bool TakeBytes(std::string_view bytes, Transfer& transfer) {
  const int64_t skipped = SkippedBytes(transfer);
  const int64_t most = transfer.request->range ? transfer.request->range->count
                                               : transfer.request->most_bytes;
  if (skipped > transfer.request->most_bytes) {
    return Fail(transfer, HttpFault::kTooLarge,
                "it sends the whole file where a part was asked for");
  }
  const int64_t from = std::clamp<int64_t>(skipped - transfer.seen, 0,
                                           static_cast<int64_t>(bytes.size()));
  transfer.seen += static_cast<int64_t>(bytes.size());
  bytes.remove_prefix(static_cast<size_t>(from));
  const auto have = static_cast<int64_t>(transfer.answer->body.size());
  const bool all = static_cast<int64_t>(bytes.size()) >= most - have;
  if (transfer.request->range) {
    if (all) bytes = bytes.substr(0, static_cast<size_t>(most - have));
  } else if (static_cast<int64_t>(bytes.size()) > most - have) {
    return Fail(transfer, HttpFault::kTooLarge, "its body");
  }
  transfer.answer->body.append(bytes);
  // The rest of a whole file is not waited for.
  transfer.is_done =
      transfer.request->range && all && transfer.answer->status == 200;
  return !transfer.is_done;
}

size_t OnBody(char* bytes, size_t size, size_t count, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  const size_t length = size * count;
  if (!IsWanted(transfer.answer->status)) {
    transfer.seen += static_cast<int64_t>(length);
    transfer.is_done = transfer.seen > kMostIgnoredBytes;
    return transfer.is_done ? 0 : length;
  }
  if (transfer.seen == 0 && !MayBegin(transfer)) return 0;
  return TakeBytes({bytes, length}, transfer) ? length : 0;
}

int OnProgress(void* context, curl_off_t /*total*/, curl_off_t /*now*/,
               curl_off_t /*to_send*/, curl_off_t /*sent*/) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  if (transfer.told || !transfer.settings->on_slow) return 0;
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - transfer.begin;
  if (taken.count() >= transfer.settings->slow_seconds) {
    transfer.told = true;
    transfer.settings->on_slow();
  }
  return 0;
}

HttpFault FaultOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpFault::kNone;
    case CURLE_URL_MALFORMAT:
      return HttpFault::kBadAddress;
    case CURLE_COULDNT_RESOLVE_HOST:
      return HttpFault::kUnknownHost;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return HttpFault::kProxy;
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED:
      return HttpFault::kNoConnection;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return HttpFault::kCertificate;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
      return HttpFault::kCertificates;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_USE_SSL_FAILED:
      return HttpFault::kHandshake;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpFault::kTimedOut;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpFault::kCutShort;
    default:
      return HttpFault::kOther;
  }
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What is asked without a proxy: what the user says, and this machine, so that
// a token for a server on it does not leave it.
std::string DirectHosts() {
  std::string hosts = Variable("no_proxy");
  if (hosts.empty()) hosts = Variable("NO_PROXY");
  if (hosts == "*") return hosts;
  if (!hosts.empty()) hosts += ",";
  return hosts + "localhost,127.0.0.1,::1";
}

// libcurl leaves HTTP_PROXY alone, since a web server sets it from what a
// client sends; there is REQUEST_METHOD set too (https://httpoxy.org).
std::string PlainProxy() {
  if (!Variable("http_proxy").empty() || !Variable("REQUEST_METHOD").empty()) {
    return "";
  }
  return Variable("HTTP_PROXY");
}

bool IsFolder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

struct HttpClient::State {
  NetworkSettings settings;
  const Curl* curl = nullptr;
  CURL* handle = nullptr;

  template <typename Value>
  void Set(CURLoption option, Value value) const {
    curl->easy_setopt(handle, option, value);
  }

  bool Open() {
    if (handle != nullptr) return true;
    curl = LoadedCurl();
    if (curl != nullptr) handle = curl->easy_init();
    return handle != nullptr;
  }

  void SetLimits() const {
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_FOLLOWLOCATION, 0L);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_CONNECTTIMEOUT,
        static_cast<CurlLong>(settings.connect_seconds));
    Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    Set(CURLOPT_LOW_SPEED_TIME, static_cast<CurlLong>(settings.idle_seconds));
    Set(CURLOPT_TIMEOUT, static_cast<CurlLong>(settings.total_seconds));
  }

  void SetTrust() const {
    Set(CURLOPT_SSL_VERIFYPEER, 1L);
    Set(CURLOPT_SSL_VERIFYHOST, 2L);
    Set(CURLOPT_SSLVERSION, static_cast<CurlLong>(CURL_SSLVERSION_TLSv1_2));
    if (settings.certificates.empty()) return;
    Set(IsFolder(settings.certificates) ? CURLOPT_CAPATH : CURLOPT_CAINFO,
        settings.certificates.c_str());
  }

  void SetProxy(const HttpRequest& request) const {
    Set(CURLOPT_NOPROXY, DirectHosts().c_str());
    // The token is for the server alone, not for a proxy's CONNECT.
    Set(CURLOPT_HEADEROPT, static_cast<CurlLong>(CURLHEADER_SEPARATE));
    const std::string proxy = PlainProxy();
    if (!proxy.empty() && request.address.starts_with("http:")) {
      Set(CURLOPT_PROXY, proxy.c_str());
    }
  }

  void SetTransfer(Transfer& transfer) const {
    Set(CURLOPT_HEADERFUNCTION, &OnHeader);
    Set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    Set(CURLOPT_WRITEFUNCTION, &OnBody);
    Set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    Set(CURLOPT_NOPROGRESS, 0L);
    Set(CURLOPT_XFERINFOFUNCTION, &OnProgress);
    Set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  }

  curl_slist* Headers(const HttpRequest& request) const {
    curl_slist* list = nullptr;
    const auto add = [this, &list](const std::string& line) {
      list = curl->slist_append(list, line.c_str());
    };
    // Packed, neither a range nor a length would mean the file's bytes.
    add("Accept-Encoding: identity");
    for (const std::string& line : request.headers) add(line);
    if (!request.bearer.empty()) {
      add("Authorization: Bearer " + request.bearer);
    }
    return list;
  }

  std::string ProxyStatus() const {
    CurlLong status = 0;
    curl->easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 400 ? "the proxy answered " + std::to_string(status) : "";
  }

  // What a transfer that ended with `code` comes to.
  void Conclude(CURLcode code, const Transfer& transfer, const char* words,
                HttpAnswer& answer) const {
    if (transfer.is_done) code = CURLE_OK;
    if (code == CURLE_OK) {
      char* redirect = nullptr;
      curl->easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
      if (redirect != nullptr) answer.redirect = redirect;
      CheckRange(transfer, answer);
      return;
    }
    if (answer.fault != HttpFault::kNone) return;  // said by a callback
    answer.fault = FaultOf(code);
    answer.detail = *words != '\0' ? words : curl->easy_strerror(code);
    if (const std::string status = ProxyStatus(); !status.empty()) {
      answer.fault = HttpFault::kProxy;
      answer.detail = status;
    }
  }

  static void CheckRange(const Transfer& transfer, HttpAnswer& answer) {
    const auto& range = transfer.request->range;
    if (!range || !IsWanted(answer.status) || transfer.request->head) return;
    if (static_cast<int64_t>(answer.body.size()) == range->count) return;
    answer.fault = HttpFault::kCutShort;
    answer.detail = "it sent " + std::to_string(answer.body.size()) + " of " +
                    std::to_string(range->count) + " bytes";
  }
};

HttpClient::HttpClient(NetworkSettings settings)
    : state_(std::make_unique<State>()) {
  state_->settings = std::move(settings);
}

HttpClient::~HttpClient() {
  if (state_->handle != nullptr) state_->curl->easy_cleanup(state_->handle);
}

HttpAnswer HttpClient::Ask(const HttpRequest& request) {
  HttpAnswer answer;
  if (!ParseAddress(request.address)) {
    answer.fault = HttpFault::kBadAddress;
    return answer;
  }
  if (!state_->Open()) {
    answer.fault = HttpFault::kNoLibrary;
    return answer;
  }
  const State& state = *state_;
  // Connections outlive a reset, options do not.
  state.curl->easy_reset(state.handle);
  Transfer transfer = {.settings = &state.settings,
                       .request = &request,
                       .answer = &answer,
                       .begin = std::chrono::steady_clock::now()};
  std::array<char, CURL_ERROR_SIZE> words = {};
  state.Set(CURLOPT_ERRORBUFFER, words.data());
  state.Set(CURLOPT_URL, request.address.c_str());
  state.Set(CURLOPT_USERAGENT, state.settings.user_agent.c_str());
  if (request.head) state.Set(CURLOPT_NOBODY, 1L);
  std::string range;
  if (request.range) {
    range = std::to_string(request.range->first) + "-" +
            std::to_string(request.range->first + request.range->count - 1);
    state.Set(CURLOPT_RANGE, range.c_str());
  }
  state.SetLimits();
  state.SetTrust();
  state.SetProxy(request);
  state.SetTransfer(transfer);
  curl_slist* headers = state.Headers(request);
  state.Set(CURLOPT_HTTPHEADER, headers);
  const CURLcode code = state.curl->easy_perform(state.handle);
  state.Conclude(code, transfer, words.data(), answer);
  state.curl->slist_free_all(headers);
  return answer;
}

}  // namespace foretell
