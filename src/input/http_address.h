// Addresses of http and https, taken apart as far as trust needs it: who gets
// a token, what a message may show.
//
// In: text from the environment or from a server's Location. Out: the parts,
// or nothing. Pure. What an address means beyond that is libcurl's to say; one
// that the two could read differently (a user's name before the host, a
// backslash, a blank, a control character) is refused here.
#ifndef FORETELL_INPUT_HTTP_ADDRESS_H_
#define FORETELL_INPUT_HTTP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace foretell {

// "https://Host:8443/a/b?c"
struct Address {
  bool is_secure = false;  // https
  std::string host;        // small letters; an IPv6 one in its brackets
  int port = 0;            // the scheme's own where none is written
  std::string path;        // from the slash on, without query and fragment
};

std::optional<Address> ParseAddress(std::string_view text);

// Scheme, host and port are equal.
bool SameOrigin(const Address& a, const Address& b);

// This machine: localhost, 127.x.x.x, [::1].
bool IsLoopback(const Address& address);

// "https://host:8443/a/b": without the query, where signatures stand, and
// without a user's name and password. "(no address)" where it is none.
std::string ShownAddress(std::string_view text);

}  // namespace foretell

#endif  // FORETELL_INPUT_HTTP_ADDRESS_H_
