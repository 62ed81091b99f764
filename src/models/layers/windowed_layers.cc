#include "models/layers/windowed_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/layers/check_fields.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

}  // namespace

void DeriveLayerTypes(const ConfigView& config,
                      const std::vector<std::string>& types) {
  std::vector<ConfigValue> items;
  for (const std::string& type : types) {
    items.push_back(ConfigValue::String(type));
  }
  config.Derive("layer_types", ConfigValue::Array(std::move(items)));
}

bool WindowedLayers::Slides(int64_t layer) const {
  const auto at = static_cast<size_t>(layer);
  return at < types.size() && types[at] == kSliding;
}

bool WindowedLayers::Mixes() const {
  return any_slides && std::ranges::any_of(types, [](const std::string& type) {
           return type != kSliding;
         });
}

int64_t WindowedLayers::WindowOf(int64_t layer) const {
  const auto at = static_cast<size_t>(layer);
  return at < types.size() && types[at] == kSliding ? window : 0;
}

WindowedLayers ReadLateWindows(const ConfigView& config, int64_t layers,
                               const LateWindowDefaults& defaults) {
  WindowedLayers out;
  const bool is_absent = config.Raw("sliding_window") == nullptr;
  const auto window = is_absent
                          ? config.Size({"sliding_window"}, defaults.window)
                          : config.OptionalSize({"sliding_window"});
  out.window = window.value_or(0);
  const bool has_first = config.Raw("max_window_layers") == nullptr ||
                         config.Has("max_window_layers") || out.window > 0;
  const int64_t first =
      has_first ? config.Whole({"max_window_layers"}, defaults.first) : 0;
  config.Ignore({"max_window_layers"});
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      const bool slides = out.window > 0 && layer >= first;
      out.types.emplace_back(slides ? kSliding : kFull);
    }
    DeriveLayerTypes(config, out.types);
  }
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  if (out.any_slides && out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "layer_types names sliding layers, but sliding_window is null",
                "the forward fails as it builds the mask",
                "set sliding_window");
  }
  return out;
}

WindowedLayers ReadListedWindows(
    const ConfigView& config, int64_t layers, int64_t window,
    const std::function<bool(int64_t layer)>& slides) {
  WindowedLayers out;
  out.window = config.Size({"sliding_window"}, window);
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.types.emplace_back(slides && slides(layer) ? kSliding : kFull);
    }
    DeriveLayerTypes(config, out.types);
  }
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  return out;
}

WindowedLayers ReadWindowedLayers(const ConfigView& config, int64_t layers) {
  WindowedLayers out;
  const bool is_used = config.Flag({"use_sliding_window"}, false);
  const int64_t first = config.SizeOrZero({"max_window_layers"}, 28);
  const int64_t window =
      config.Raw("sliding_window") == nullptr
          ? config.Size({"sliding_window"}, 4096)
          : config.OptionalSize({"sliding_window"}).value_or(0);
  if (is_used) {
    out.window = window;
  } else {
    config.Derive("sliding_window", ConfigValue::Null());
  }
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      const bool slides = out.window > 0 && layer >= first;
      out.types.emplace_back(slides ? kSliding : kFull);
    }
    DeriveLayerTypes(config, out.types);
  }
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  if (out.any_slides && out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "layer_types names sliding layers, but no sliding_window is in "
                "use",
                "the forward fails as it builds the mask",
                "set sliding_window, and use_sliding_window to true");
  }
  return out;
}

WindowedLayers ReadPeriodicLayers(const ConfigView& config, int64_t layers,
                                  int64_t period) {
  WindowedLayers out;
  CheckFields(config, {{"sliding_window", FieldKind::kWhole, true}});
  const bool is_absent = config.Raw("sliding_window") == nullptr;
  out.window = is_absent
                   ? config.Size({"sliding_window"}, 4096)
                   : config.OptionalInteger({"sliding_window"}).value_or(0);
  out.window = std::max<int64_t>(out.window, 0);
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    // Once loaded, nothing works it out again.
    if (config.config().is_loaded && config.Raw("layer_types") != nullptr) {
      config.Problem("layer_types", "is null on a loaded configuration",
                     "list the kinds of the layers");
    }
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.types.emplace_back((layer + 1) % period != 0 ? kSliding : kFull);
    }
    DeriveLayerTypes(config, out.types);
  }
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  if (out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "no sliding_window is in use",
                "the class builds a window's mask for every forward and fails",
                "set sliding_window");
  }
  for (const std::string& type : out.types) {
    if (type == kFull || type == kSliding) continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class builds no mask for \"{}\"", type.substr(0, 40)),
        "its forward fails at the first such layer",
        "write full_attention or sliding_attention for each layer");
    break;
  }
  return out;
}

WindowedLayers ReadPatternedLayers(const ConfigView& config, int64_t layers,
                                   int64_t period) {
  // A list of kinds comes before it.
  if (!config.Has("layer_types") &&
      config.Raw("sliding_window_pattern") != nullptr) {
    period = config.Whole({"sliding_window_pattern"}, period);
    if (period == 0) {
      config.Problem("sliding_window_pattern",
                     "is 0, and the class takes layers modulo it",
                     "write how many layers make a period");
      period = 1;
    }
  }
  config.Ignore({"sliding_window_pattern"});
  return ReadPeriodicLayers(config, layers, period);
}

}  // namespace foretell
