#include "base/nearest.h"

#include <algorithm>
#include <cctype>

namespace foretell {
namespace {

constexpr size_t kLongest = 128;

char Lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  // Three rows of the usual table: the row before the last serves swaps.
  std::vector<int> before(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
          Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> NearestNames(std::string_view name,
                                      std::span<const std::string_view> names,
                                      size_t limit) {
  std::vector<std::pair<int, std::string_view>> ranked;
  const int worst = std::max(2, static_cast<int>(name.size()) / 2);
  for (const std::string_view candidate : names) {
    const int distance = EditDistance(name, candidate);
    if (distance <= worst) ranked.emplace_back(distance, candidate);
  }
  std::ranges::stable_sort(
      ranked, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (const auto& [distance, candidate] : ranked) {
    if (out.size() == limit) break;
    out.emplace_back(candidate);
  }
  return out;
}

}  // namespace foretell
