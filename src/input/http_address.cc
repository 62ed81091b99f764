#include "input/http_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/lower_case.h"

namespace foretell {
namespace {

constexpr int kHttpPort = 80;    // RFC 9110, section 4.2.1
constexpr int kHttpsPort = 443;  // section 4.2.2
constexpr size_t kLongestAddress = 8192;

// Both readers of an address have to agree on where the host ends.
bool IsDoubtful(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\' ||
         c == '@';
}

bool IsHostLetter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_';
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    host.remove_prefix(1);
    host.remove_suffix(1);
    return !host.empty() && std::ranges::all_of(host, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' ||
             c == '.';
    });
  }
  return !host.empty() && std::ranges::all_of(host, IsHostLetter);
}

std::optional<int> ParsePort(std::string_view text) {
  int port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port > 0 && port < 65536 ? std::optional(port) : std::nullopt;
}

}  // namespace

std::optional<Address> ParseAddress(std::string_view text) {
  if (text.size() > kLongestAddress) return std::nullopt;
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  Address out;
  const std::string scheme = Lower(text.substr(0, colon));
  if (scheme != "http" && scheme != "https") return std::nullopt;
  out.is_secure = scheme == "https";
  out.port = out.is_secure ? kHttpsPort : kHttpPort;
  std::string_view rest = text.substr(colon + 3);
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  out.path = rest.substr(0, std::min(rest.find_first_of("?#"), rest.size()));
  if (std::ranges::any_of(authority, IsDoubtful) ||
      std::ranges::any_of(out.path, [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
      })) {
    return std::nullopt;
  }
  const size_t bracket = authority.rfind(']');
  size_t port = authority.rfind(':');
  if (bracket != std::string_view::npos && port < bracket) {
    port = std::string_view::npos;
  }
  out.host = Lower(authority.substr(0, std::min(port, authority.size())));
  if (!IsHost(out.host)) return std::nullopt;
  if (port == std::string_view::npos) return out;
  const auto number = ParsePort(authority.substr(port + 1));
  if (!number) return std::nullopt;
  out.port = *number;
  return out;
}

bool SameOrigin(const Address& a, const Address& b) {
  return a.is_secure == b.is_secure && a.host == b.host && a.port == b.port;
}

bool IsLoopback(const Address& address) {
  // "127.evil.org" is a name, not this machine.
  const bool number = std::ranges::all_of(
      address.host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return address.host == "localhost" || address.host == "[::1]" ||
         (number && address.host.starts_with("127."));
}

std::string ShownAddress(std::string_view text) {
  const auto address = ParseAddress(text);
  if (!address) return "(no address)";
  const int usual = address->is_secure ? kHttpsPort : kHttpPort;
  return fmt::format(
      "{}://{}{}{}", address->is_secure ? "https" : "http", address->host,
      address->port == usual ? "" : fmt::format(":{}", address->port),
      address->path);
}

}  // namespace foretell
