#include "front/score_bar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/score/score_statistics.h"

namespace foretell {
namespace {

constexpr char kForm[] = "write NAME.KEY<=X or NAME.KEY>=X: all.median<=0.05";

std::optional<double> LimitOf(std::string_view text) {
  double scale = 1;
  if (text.ends_with('%')) {
    text.remove_suffix(1);
    scale = 0.01;
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value * scale;
}

std::vector<std::string_view> KeyNames() {
  std::vector<std::string_view> out;
  for (const ScoreKey& key : kScoreKeys) out.push_back(key.name);
  return out;
}

}  // namespace

ScoreBarResult ReadScoreBar(const std::string& text) {
  const size_t at_most = text.find("<=");
  const size_t at_least = text.find(">=");
  const size_t sign = std::min(at_most, at_least);
  if (sign == std::string::npos) {
    return {std::nullopt, "compares nothing", kForm};
  }
  ScoreBar bar;
  bar.text = text;
  bar.at_least = at_least < at_most;
  const std::string left = text.substr(0, sign);
  const size_t dot = left.rfind('.');
  if (dot == std::string::npos || dot == 0) {
    return {std::nullopt, "names no group", kForm};
  }
  bar.group = left.substr(0, dot);
  bar.key = left.substr(dot + 1);
  const std::vector<std::string_view> keys = KeyNames();
  if (std::ranges::find(keys, bar.key) == keys.end()) {
    return {std::nullopt,
            fmt::format("\"{}\" is no figure of a group", bar.key),
            fmt::format("one of {}", fmt::join(keys, ", "))};
  }
  const auto limit = LimitOf(std::string_view(text).substr(sign + 2));
  if (!limit) return {std::nullopt, "its limit is no number", kForm};
  bar.limit = *limit;
  return {std::move(bar), "", ""};
}

}  // namespace foretell
