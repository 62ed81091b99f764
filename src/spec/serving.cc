#include "spec/serving.h"

#include <fmt/format.h>

#include <charconv>
#include <ranges>

namespace foretell {

std::string_view NameOf(ServingEngine engine) {
  switch (engine) {
    case ServingEngine::kVllm:
      return "vllm";
    case ServingEngine::kSglang:
      return "sglang";
    case ServingEngine::kLlamaCpp:
      return "llama.cpp";
  }
  return "";
}

std::string EngineVersion::ToString() const {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::optional<EngineVersion> ParseEngineVersion(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  EngineVersion version;
  int* const parts[] = {&version.major, &version.minor, &version.patch};
  int read = 0;
  for (int* part : parts) {
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, *part);
    if (error != std::errc() || *part < 0) break;
    ++read;
    text.remove_prefix(static_cast<size_t>(next - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  if (read < 2) return std::nullopt;
  return version;
}

const LaunchSetting* Launch::Find(std::string_view name) const {
  for (const LaunchSetting& one : std::views::reverse(settings)) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const std::string* Launch::Environment(std::string_view name) const {
  for (const auto& [key, value] : std::views::reverse(environment)) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace foretell
