#include "front/number_option.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/input_error.h"

namespace foretell {

std::optional<double> NumberOf(const Invocation& line, std::string_view option,
                               double least, double most, const char* cure,
                               NumberScale scale) {
  const auto text = line.Text(option);
  if (!text) return std::nullopt;
  char* end = nullptr;
  double value = std::strtod(text->c_str(), &end);
  bool is_number = end != text->c_str();
  if (scale == NumberScale::kLetters && is_number && *end != '\0') {
    constexpr std::pair<char, double> kScales[] = {
        {'k', 1e3}, {'K', 1e3}, {'m', 1e6},  {'M', 1e6},
        {'b', 1e9}, {'B', 1e9}, {'t', 1e12}, {'T', 1e12}};
    for (const auto& [letter, factor] : kScales) {
      if (*end != letter) continue;
      value *= factor;
      ++end;
      break;
    }
  }
  if (!is_number || *end != '\0' || !(value >= least) || !(value <= most)) {
    throw InputErrors(
        InputError{line.PlaceOf(option),
                   fmt::format("\"{}\" is no number from {:g} to {:g}", *text,
                               least, most),
                   cure});
  }
  return value;
}

}  // namespace foretell
