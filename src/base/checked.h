// Integer arithmetic on outside sizes: a result or nothing, never a wrap.
//
// Sizes come from configurations that anyone can write; every product of two
// of them goes through here. An empty result means "past 2^63 - 1".
#ifndef FORETELL_BASE_CHECKED_H_
#define FORETELL_BASE_CHECKED_H_

#include <cstdint>
#include <optional>

namespace foretell {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace foretell

#endif  // FORETELL_BASE_CHECKED_H_
