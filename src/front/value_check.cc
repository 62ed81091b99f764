#include "front/value_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "base/nearest.h"

namespace foretell {
namespace {

std::optional<Mistake> CheckInteger(const OptionRow& row,
                                    std::string_view value) {
  int64_t number = 0;
  const char* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number);
  if (error == std::errc() && end == last && number >= row.least &&
      number <= row.most) {
    return std::nullopt;
  }
  const bool unbounded = row.most == std::numeric_limits<int64_t>::max();
  return Mistake{
      fmt::format("--{} cannot be {}", row.name, value),
      unbounded ? fmt::format("write a whole number of at least {}", row.least)
                : fmt::format("write a whole number from {} to {}", row.least,
                              row.most)};
}

std::optional<Mistake> CheckAllowed(
    const std::string& name, const std::vector<std::string_view>& allowed,
    std::string_view value) {
  if (IsAllowed(allowed, value)) return std::nullopt;
  const auto nearest = NearestNames(value, allowed, 1);
  const std::string hint =
      nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest[0]);
  return Mistake{
      fmt::format("{} cannot be {}", name, value),
      fmt::format("{}{} is one of {}", hint, name, fmt::join(allowed, ", "))};
}

}  // namespace

std::optional<Mistake> CheckOptionValue(const OptionRow& row,
                                        std::string_view value) {
  if (row.kind == ValueKind::kInteger) return CheckInteger(row, value);
  return CheckAllowed("--" + std::string(row.name), row.allowed, value);
}

std::optional<Mistake> CheckArgumentValue(const ArgumentRow& row,
                                          std::string_view value) {
  return CheckAllowed(std::string(row.name), row.allowed, value);
}

Mistake MissingValue(const OptionRow& row) {
  return {fmt::format("--{} lacks its value", row.name),
          row.allowed.empty()
              ? fmt::format("write --{} {}", row.name, row.value)
              : fmt::format("write --{} and one of {}", row.name,
                            fmt::join(row.allowed, ", "))};
}

bool IsAllowed(std::span<const std::string_view> allowed,
               std::string_view value) {
  return allowed.empty() || std::ranges::find(allowed, value) != allowed.end();
}

}  // namespace foretell
