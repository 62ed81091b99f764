#include "models/layers/gemma_ropes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

// The ropes of both kinds as the class holds them: rope_parameters, or the old
// keys, of which rope_scaling and rope_theta are the full layers'.
ConfigValue HeldRopes(const ConfigView& config) {
  ConfigValue held = ConfigValue::Object();
  const ConfigValue* stated = config.Raw("rope_parameters");
  if (stated != nullptr && stated->is_object()) held = *stated;
  const auto complete = [&](std::string_view kind, double theta) {
    ConfigValue rope = ConfigValue::Object();
    const ConfigValue* found = held.Find(kind);
    if (found != nullptr && found->is_object()) {
      rope = *found;
      const ConfigValue* type = rope.Find("type");
      if (rope.Find("rope_type") == nullptr) {
        rope.Set("rope_type", type ? *type : ConfigValue::String("default"));
      }
    } else {
      rope.Set("rope_type", ConfigValue::String("default"));
    }
    const ConfigValue* scaling = config.Raw("rope_scaling");
    if (kind == kFull && scaling != nullptr && scaling->is_object()) {
      for (const auto& [key, value] : scaling->members()) rope.Set(key, value);
    }
    if (rope.Find("rope_theta") == nullptr) {
      rope.Set("rope_theta", ConfigValue::Number(fmt::format("{:#}", theta)));
    }
    held.Set(kind, std::move(rope));
  };
  complete(kFull, config.Real({"rope_theta"}, 1e6));
  complete(kSliding, config.Real({"rope_local_base_freq"}, 1e4));
  return held;
}

}  // namespace

GemmaRopes ReadGemmaRopes(const ConfigView& config,
                          std::span<const std::string> types, int64_t head_dim,
                          int64_t positions) {
  GemmaRopes out;
  config.Nested("rope_parameters");
  config.Nested("rope_scaling");
  config.Ignore({"rope_parameters", "rope_scaling", "partial_rotary_factor"});
  const ConfigValue held = HeldRopes(config);
  const ConfigView all = config.NestedOr("_no_such_key", &held);
  for (const std::string_view kind : {kFull, kSliding}) {
    RopeReading reading;
    reading.positions = positions;
    reading.head_dim = head_dim;
    const bool is_used = std::ranges::find(types, kind) != types.end();
    const RopeConfig rope = ReadKindRope(all.Nested(kind), reading);
    if (kind == kFull) out.full = rope;
    if (!is_used) continue;
    out.used.push_back({std::string(kind), kind == kSliding, rope});
  }
  if (config.config().is_loaded) return out;
  config.Derive("rope_parameters", held);
  config.Derive("rope_scaling", ConfigValue::Null());
  return out;
}

}  // namespace foretell
