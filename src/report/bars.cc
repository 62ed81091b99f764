#include "report/bars.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace foretell {

std::optional<std::vector<double>> SharesOf(
    const std::vector<std::vector<Cell>>& cells) {
  std::vector<double> parts;
  double sum = 0;
  for (const std::vector<Cell>& row : cells) {
    if (row[1].empty() || row[1].figure().is_unknown()) return std::nullopt;
    const double part = *row[1].figure().value();
    if (part < 0) return std::nullopt;
    parts.push_back(part);
    sum += part;
  }
  if (!(sum > 0)) return std::nullopt;
  for (double& part : parts) part /= sum;
  return parts;
}

std::string ShareText(double share) {
  constexpr double kSmallest = 0.0005;  // rounds to 0.1 %
  if (share > 0 && share < kSmallest) return "<0.1 %";
  return fmt::format("{:.1f} %", share * 100);
}

std::string BarText(double share, int width) {
  constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                        "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(share * width * 8));
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[static_cast<size_t>(eighths % 8)];
  // What is there at all is seen.
  return out.empty() && share > 0 ? "▏" : out;
}

}  // namespace foretell
