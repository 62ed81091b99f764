#include "input/serving_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/input_error.h"
#include "base/lower_case.h"
#include "input/device_catalogue.h"
#include "spec/serving_source.h"

namespace foretell {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr int64_t kMostCards = 65536;
constexpr size_t kMostKinds = 16;

[[noreturn]] void Fail(const Place& place, std::string what, std::string cure) {
  throw InputErrors(InputError{place, std::move(what), std::move(cure)});
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void TrimEnd(std::string& name) {
  while (!name.empty() &&
         std::string_view(" :-_/,(").find(name.back()) != std::string::npos) {
    name.pop_back();
  }
}

// A word at the name's end, taken off it.
bool TakeWord(std::string& name, std::string_view word) {
  if (name.size() <= word.size() || !Lower(name).ends_with(word)) return false;
  const char before = name[name.size() - word.size() - 1];
  if (std::string_view(" :-_/(").find(before) == std::string_view::npos) {
    return false;
  }
  name.resize(name.size() - word.size());
  TrimEnd(name);
  return true;
}

struct Profile {
  std::string text;  // "1g.10gb"
  double gigabytes = 0;
};

// "h100:1g.10gb" leaves "h100"; "+me" and ".me" do not change the memory.
std::optional<Profile> TakeProfile(std::string& name) {
  std::string lower = Lower(name);
  if (lower.ends_with("+me")) lower.resize(lower.size() - 3);
  if (!lower.ends_with("gb")) return std::nullopt;
  const size_t gb = lower.size() - 2;
  size_t at = gb;
  while (at > 0 && IsDigit(lower[at - 1])) --at;
  const bool is_profile = at < gb && at >= 3 && lower[at - 1] == '.' &&
                          lower[at - 2] == 'g' && IsDigit(lower[at - 3]);
  if (!is_profile || gb - at > 4) return std::nullopt;
  Profile out;
  out.text = lower.substr(at - 3);
  int64_t size = 0;
  std::from_chars(lower.data() + at, lower.data() + gb, size);
  out.gigabytes = static_cast<double>(size);
  name.resize(at - 3);
  TrimEnd(name);
  TakeWord(name, "mig");
  return out;
}

double SizeOf(const Device& device) {
  return device.nominal_gb.value_or(device.total.any().value().value_or(0) /
                                    1e9);
}

// Nothing where no slice of that card has so much.
std::optional<ServingCard> SliceOf(const Device& device,
                                   const Profile& profile) {
  ServingCard card = CardOf(device);
  const double whole = SizeOf(device);
  const double eighths =
      whole > 0 ? std::round(profile.gigabytes / whole * 8) : 0;
  if (eighths < 1 || eighths > 8) return std::nullopt;
  // From the listed sizes: 0.91 (H200) to 0.99 (H100) of so many eighths.
  const double share = eighths / 8;
  const auto bytes = [&](int64_t all, double part) {
    return static_cast<int64_t>(static_cast<double>(all) * share * part);
  };
  card.runtime_low = bytes(card.runtime_low, 0.91);
  card.runtime_high = bytes(card.runtime_high, 1.0);
  card.runtime_bytes = bytes(card.runtime_bytes, 0.975);
  card.driver_bytes = bytes(card.driver_bytes, 0.975);
  card.full += " MIG " + profile.text;
  card.name += " " + profile.text;
  card.linked = false;
  card.is_estimated = true;
  card.source = "so many eighths of the card's memory";
  return card;
}

ServingCard UnderWsl(const Device& device) {
  ServingCard card = CardOf(device);
  if (device.nominal_gb) {
    card.runtime_bytes = static_cast<int64_t>(*device.nominal_gb * kGib);
    card.runtime_high = card.runtime_bytes;
    card.driver_bytes = card.runtime_bytes;
  }
  card.full += " under WSL";
  card.is_estimated = true;
  card.source = "the memory that the card is sold with";
  return card;
}

ServingCard OneKind(std::string name, const Place& place,
                    std::vector<std::string>& assumed) {
  if (const auto profile = TakeProfile(name)) {
    if (name.empty()) {
      Fail(place, fmt::format("{} is a slice of no card", profile->text),
           fmt::format("--gpu h100:{}", profile->text));
    }
    const Device device = FindDevice(name, place);
    if (auto slice = SliceOf(device, *profile)) return *std::move(slice);
    const double whole = SizeOf(device);
    Fail(place,
         fmt::format("{} is no slice of {}, which has {:.0f} GB", profile->text,
                     device.name, whole),
         fmt::format("--gpu {}:1g.{:.0f}gb", device.id, std::floor(whole / 8)));
  }
  if (TakeWord(name, "wsl2") || TakeWord(name, "wsl")) {
    assumed.emplace_back(
        "under WSL Windows holds a part of the card, which is not counted");
    return UnderWsl(FindDevice(name, place));
  }
  return CardOf(FindDevice(name, place));
}

// "2xl4" leaves "l4" and 2.
int64_t TakeCount(std::string& name, const Place& place) {
  size_t digits = 0;
  while (digits < name.size() && IsDigit(name[digits])) ++digits;
  const size_t after = name.find_first_not_of(' ', digits);
  if (digits == 0 || after == std::string::npos ||
      (name[after] != 'x' && name[after] != 'X') || after + 1 >= name.size()) {
    return 1;
  }
  int64_t count = 0;
  const auto read = std::from_chars(name.data(), name.data() + digits, count);
  if (read.ec != std::errc() || count < 1 || count > kMostCards) {
    Fail(place, fmt::format("\"{}\" says no number of cards", name),
         "--gpu 2xl4,a10g");
  }
  name = name.substr(after + 1);
  name.erase(0, name.find_first_not_of(' '));
  return count;
}

}  // namespace

ServingCards FindServingCards(const std::string& text, const Place& place) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size() && names.size() <= kMostKinds;) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    TrimEnd(name);
    names.push_back(std::move(name));
    at = end + 1;
  }
  if (names.size() > kMostKinds) {
    Fail(place, "more than 16 kinds of cards", "list each kind once: 4xl4");
  }
  ServingCards out;
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t count = TakeCount(names[i], place);
    ServingCard card = OneKind(std::move(names[i]), place, out.assumed);
    if (names.size() > 1 || count > 1) out.count += count;
    if (i == 0) {
      out.card = std::move(card);
      continue;
    }
    if (card.full == out.card.full) continue;
    out.card.full += " and " + card.full;
    out.card.name += " and " + card.name;
    out.card.capability = std::min(out.card.capability, card.capability);
    out.card.linked = false;
    out.card.unified = out.card.unified || card.unified;
    if (card.runtime_bytes < out.card.runtime_bytes) {
      out.card.runtime_bytes = card.runtime_bytes;
      out.card.runtime_low = card.runtime_low;
      out.card.runtime_high = card.runtime_high;
      out.card.is_estimated = card.is_estimated;
      out.card.source = card.source;
    }
  }
  if (names.size() > 1) {
    out.assumed.emplace_back(
        "of several kinds of cards the one with the least memory decides, and "
        "the first takes the engine's defaults");
  }
  return out;
}

std::optional<ServingCard> PartOfCard(std::string_view name) {
  std::string card(name);
  if (const auto profile = TakeProfile(card)) {
    const auto device = DeviceNamed(card);
    if (!device) return std::nullopt;
    return SliceOf(*device, *profile);
  }
  if (!TakeWord(card, "wsl2") && !TakeWord(card, "wsl")) return std::nullopt;
  const auto device = DeviceNamed(card);
  if (!device) return std::nullopt;
  return UnderWsl(*device);
}

}  // namespace foretell
