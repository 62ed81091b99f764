#include "spec/serving_source.h"

namespace foretell {

LaunchLine LineOfArguments(ServingEngine engine,
                           const std::vector<std::string>& arguments) {
  LaunchLine line;
  line.engine = engine;
  line.form = "vllm serve";
  for (size_t i = 0; i < arguments.size(); ++i) {
    LaunchWord word;
    word.text = arguments[i];
    word.place.source = "argument " + std::to_string(i + 1);
    word.place.excerpt = arguments[i].substr(0, 80);
    line.words.push_back(std::move(word));
  }
  return line;
}

ServingCard CardOf(const Device& device) {
  ServingCard card;
  card.name = device.name;
  card.full = device.product_name.empty() ? device.name : device.product_name;
  card.capability = device.capability;
  card.unified = device.unified_memory;
  card.linked = device.link_gbs.has_value();
  card.vendor = device.vendor;
  if (!device.sources.empty()) card.source = device.sources.front();
  const AnyFigure& total = device.total.any();
  card.runtime_bytes = static_cast<int64_t>(total.value().value_or(0));
  card.runtime_low = static_cast<int64_t>(total.low().value_or(0));
  card.runtime_high = static_cast<int64_t>(total.high().value_or(0));
  // The driver counts a few hundred MiB more than the runtime; where no record
  // has its figure, the runtime's stands for it, which is the lower bound.
  card.driver_bytes = device.driver_total.value_or(card.runtime_bytes);
  return card;
}

}  // namespace foretell
