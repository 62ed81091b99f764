#include "answers/speed_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace foretell {

void AddSpeedParts(const PhaseTime& time, double share, double interference,
                   const std::function<AnyFigure(double)>& figure,
                   std::vector<SpeedPart>& out) {
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) out.push_back({name, Seconds(figure(seconds))});
  };
  add("weights and activations read", time.weights * share);
  add("cache read", time.cache * share);
  add("arithmetic", time.arithmetic * share);
  add("communication", time.communication * share);
  add("launches, gaps, scheduling", time.launches * share);
  add("weights on the host", time.host_memory * share);
  add("others' prompts", interference);
}

std::string LoadWords(const SpeedRequest& request) {
  return fmt::format(
      "{} tokens in, {} out{}", request.isl, request.osl,
      request.cached > 0
          ? fmt::format(", {} of the prompt cached", request.cached)
          : "");
}

double CostOfMillion(const SpeedRequest& request, double rate) {
  constexpr double kHour = 3600;
  constexpr double kMillion = 1e6;
  const auto cards =
      static_cast<double>(request.tensor * request.pipeline * request.data);
  return *request.price * cards / kHour / rate * kMillion;
}

std::string RoomWords(double capacity, double groups, double requests) {
  if (capacity >= requests / groups) return "fits";
  if (capacity < 1) return "does not fit";
  return fmt::format("{:.0f} at once, the rest wait",
                     std::floor(capacity * groups));
}

std::string LimitOf(const PhaseTime& step, double interference) {
  const std::pair<const char*, double> parts[] = {
      {"others' prompts", interference},
      {"memory: weights", step.weights},
      {"memory: cache", step.cache},
      {"arithmetic", step.arithmetic},
      {"communication", step.communication},
      {"launches and gaps", step.launches},
      {"weights on the host", step.host_memory}};
  return std::ranges::max_element(parts, {},
                                  [](const auto& part) { return part.second; })
      ->first;
}

}  // namespace foretell
