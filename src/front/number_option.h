// An option whose value is a number with a fraction.
//
// In: a parsed command line. Out: the number; nothing where the option is
// absent. Throws InputErrors with the place where it is none, or not between
// `least` and `most`.
#ifndef FORETELL_FRONT_NUMBER_OPTION_H_
#define FORETELL_FRONT_NUMBER_OPTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "front/invocation.h"

namespace foretell {

enum class NumberScale : uint8_t {
  kPlain,
  kLetters,  // "10B" and "1.5T" are 1e10 and 1.5e12
};

std::optional<double> NumberOf(const Invocation& line, std::string_view option,
                               double least, double most, const char* cure,
                               NumberScale scale = NumberScale::kPlain);

}  // namespace foretell

#endif  // FORETELL_FRONT_NUMBER_OPTION_H_
