#include "input/device_catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/input_error.h"
#include "base/nearest.h"
#include "data/embedded.h"
#include "input/device_row.h"

namespace foretell {
namespace {

constexpr char kFile[] = "accelerators.jsonl";
constexpr char kSource[] = "data/accelerators.jsonl";
constexpr size_t kLongestName = 128;
// Names of one card's kinds that an error lists.
constexpr size_t kMostListed = 8;

// Calls `each` with every line.
template <typename Each>
void ForEachRow(const Each& each) {
  const std::string_view file = Embedded(kFile);
  for (size_t start = 0; start < file.size();) {
    const size_t end = std::min(file.find('\n', start), file.size());
    if (end > start) each(file.substr(start, end - start));
    start = end + 1;
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// "NVIDIA GeForce RTX 4090" as {"rtx", "4090"}; "h100-80gb" as {"h100",
// "80gb"}.
std::vector<std::string> WordsOf(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMakers = {
      "nvidia",   "geforce", "tesla",    "quadro", "amd",   "radeon",
      "instinct", "intel",   "graphics", "gpu",    "apple", "google"};
  std::vector<std::string> out;
  std::string word;
  const auto end = [&] {
    if (!word.empty() && std::ranges::find(kMakers, word) == kMakers.end()) {
      out.push_back(word);
    }
    word.clear();
  };
  for (const char raw : name.substr(0, kLongestName)) {
    const char c = raw >= 'A' && raw <= 'Z' ? static_cast<char>(raw + 32) : raw;
    if (IsDigit(c) || IsLetter(c)) {
      word += c;
    } else {
      end();
    }
  }
  end();
  // "80 gb" is one word.
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i] != "gb" || !std::ranges::all_of(out[i - 1], IsDigit)) continue;
    out[i - 1] += "gb";
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

// A size at a name's end, taken off it: "a100-80gb" leaves "a100" and 80.
std::optional<double> TakeSize(std::vector<std::string>& words) {
  if (words.size() < 2) return std::nullopt;
  std::string& last = words.back();
  if (last.size() < 3 || !last.ends_with("gb") ||
      !std::all_of(last.begin(), last.end() - 2, IsDigit) || last.size() > 7) {
    return std::nullopt;
  }
  const double size = std::strtod(last.c_str(), nullptr);
  words.pop_back();
  return size;
}

struct Match {
  Device device;
  int rank = 0;  // smaller is nearer
};

// 0: its own name or an alias; 1: a name that goes on behind the words.
std::optional<int> RankOf(const Device& device, const std::string& wanted,
                          bool without_size) {
  std::optional<int> best;
  const auto consider = [&](std::string_view name) {
    std::vector<std::string> words = WordsOf(name);
    if (without_size) TakeSize(words);
    const std::string joined = Joined(words);
    if (joined == wanted) best = 0;
    if (best) return;
    // Only whole words may follow: "l4" does not name an L40.
    std::string start;
    for (const std::string& word : words) {
      start += word;
      if (start == wanted) best = 1;
    }
  };
  consider(device.id);
  consider(device.name);
  for (const std::string& alias : device.aliases) consider(alias);
  return best;
}

bool HasSize(const Device& device, double size) {
  return device.nominal_gb && std::abs(*device.nominal_gb - size) < 0.5;
}

std::vector<Match> MatchesOf(std::string_view name) {
  std::vector<std::string> words = WordsOf(name);
  const std::string whole = Joined(words);
  const auto size = TakeSize(words);
  const std::string wanted = Joined(words);
  std::vector<Match> out;
  for (Device& device : AllDevices()) {
    auto rank = RankOf(device, whole, false);
    if (size && HasSize(device, *size)) {
      const auto other = RankOf(device, wanted, true);
      if (other && (!rank || *other < *rank)) rank = other;
    }
    if (rank) out.push_back({std::move(device), *rank});
  }
  std::ranges::stable_sort(out, {}, &Match::rank);
  return out;
}

// Those of the best rank: a name of its own decides.
std::vector<Match> NearestMatches(std::string_view name) {
  if (WordsOf(name).empty()) return {};
  std::vector<Match> matches = MatchesOf(name);
  if (matches.empty()) return matches;
  std::erase_if(matches, [best = matches.front().rank](const Match& match) {
    return match.rank != best;
  });
  return matches;
}

// Of several kinds of a card with one size of memory the first is taken.
bool DifferInMemory(const std::vector<Match>& matches) {
  return std::ranges::any_of(matches, [&](const Match& match) {
    return match.device.nominal_gb != matches.front().device.nominal_gb;
  });
}

[[noreturn]] void Unknown(std::string_view name, const Place& place) {
  const std::vector<std::string> ids = DeviceIds();
  std::vector<std::string_view> names(ids.begin(), ids.end());
  const std::string lower = fmt::format("{}", fmt::join(WordsOf(name), "-"));
  const auto near = NearestNames(lower, names);
  InputError error;
  error.place = place;
  error.what = fmt::format("no card is known as {}", name.substr(0, 80));
  error.cure = near.empty()
                   ? "write a card such as h100, or its memory: --gpu-mem GIB"
                   : fmt::format(
                         "did you mean {}? or write its memory: "
                         "--gpu-mem GIB",
                         fmt::join(near, ", "));
  throw InputErrors(std::move(error));
}

[[noreturn]] void Ambiguous(std::string_view name, const Place& place,
                            const std::vector<Match>& matches) {
  std::vector<std::string> ids;
  for (const Match& match : matches) {
    if (ids.size() < kMostListed) ids.push_back(match.device.id);
  }
  InputError error;
  error.place = place;
  error.what =
      fmt::format("{} names cards of different memory", name.substr(0, 80));
  error.cure = fmt::format("write one of {}", fmt::join(ids, ", "));
  throw InputErrors(std::move(error));
}

}  // namespace

Device FindDevice(std::string_view name, const Place& place) {
  if (name.ends_with(".json")) return LoadDeviceFile(std::string(name));
  std::vector<Match> matches = NearestMatches(name);
  if (matches.empty()) Unknown(name, place);
  if (DifferInMemory(matches)) Ambiguous(name, place, matches);
  return std::move(matches.front().device);
}

std::optional<Device> DeviceNamed(std::string_view name) {
  std::vector<Match> matches = NearestMatches(name);
  if (matches.empty() || DifferInMemory(matches)) return std::nullopt;
  return std::move(matches.front().device);
}

std::vector<Device> AllDevices() {
  std::vector<Device> out;
  ForEachRow([&out](std::string_view line) {
    out.push_back(ParseDeviceRow(std::string(line), kSource));
  });
  return out;
}

std::vector<std::string> DeviceIds() {
  static constexpr std::string_view kStart = "{\"id\":\"";
  std::vector<std::string> out;
  ForEachRow([&out](std::string_view line) {
    if (!line.starts_with(kStart)) return;
    line.remove_prefix(kStart.size());
    out.emplace_back(line.substr(0, line.find('"')));
  });
  return out;
}

}  // namespace foretell
