#include "analysis/timing/serving_constants.h"

#include <algorithm>

namespace foretell {
namespace {

template <typename Row>
const Row* Find(std::span<const Row> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const EngineConstants* FindServedEngine(std::string_view name) {
  return Find(ServedEngines(), name);
}

const CardConstants* FindServedCards(std::string_view name) {
  return Find(ServedCards(), name);
}

double SpreadOf(ServedQuantity quantity) {
  const ServedSpreads& spreads = SpreadsOfServed();
  switch (quantity) {
    case ServedQuantity::kFirstToken:
      return spreads.first_token;
    case ServedQuantity::kToken:
      return spreads.token;
    case ServedQuantity::kRequest:
      return spreads.request;
    case ServedQuantity::kThroughput:
      return spreads.throughput;
    case ServedQuantity::kPrompt:
      return spreads.prompt;
  }
  return spreads.first_token;
}

}  // namespace foretell
