// Text in lower case, for names that people write in any case.
//
// In: any bytes. Out: the same with A to Z as a to z; all other bytes stay, so
// that no locale and no encoding matters.
#ifndef FORETELL_BASE_LOWER_CASE_H_
#define FORETELL_BASE_LOWER_CASE_H_

#include <string>
#include <string_view>

namespace foretell {

constexpr char LowerOf(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = LowerOf(c);
  return out;
}

}  // namespace foretell

#endif  // FORETELL_BASE_LOWER_CASE_H_
