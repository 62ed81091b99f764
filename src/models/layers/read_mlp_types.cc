#include "models/layers/read_mlp_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace foretell {

std::vector<bool> ReadMlpTypes(const ConfigView& config, int64_t layers,
                               int64_t dense) {
  const auto types = config.TextList({"mlp_layer_types"});
  std::vector<bool> out;
  if (!types) {
    // A negative number counts for none in Python's repetition.
    const int64_t first = std::min(std::max<int64_t>(dense, 0), layers);
    std::vector<ConfigValue> held;
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.push_back(layer >= first);
      held.push_back(ConfigValue::String(layer >= first ? "sparse" : "dense"));
    }
    config.Derive("mlp_layer_types", ConfigValue::Array(std::move(held)));
    return out;
  }
  for (const std::string& type : *types) out.push_back(type == "sparse");
  const auto count = static_cast<size_t>(layers);
  if (out.size() < count) {
    config.Find("model/layer-types", Severity::kBlock, "mlp_layer_types",
                fmt::format("mlp_layer_types names {} layers, and there are {}",
                            out.size(), layers),
                "the class fails as it builds the first layer without a name",
                "name each layer, or remove the key");
  }
  out.resize(count);
  return out;
}

}  // namespace foretell
