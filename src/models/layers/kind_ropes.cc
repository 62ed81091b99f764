#include "models/layers/kind_ropes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace foretell {
namespace {

ConfigValue Held(const KindDefault& kind) {
  ConfigValue rope = ConfigValue::Object();
  rope.Set("rope_type", ConfigValue::String("default"));
  rope.Set("rope_theta",
           ConfigValue::Number(fmt::format("{:.1f}", kind.theta)));
  rope.Set("partial_rotary_factor",
           ConfigValue::Number(fmt::format("{}", kind.part)));
  return rope;
}

void RefuseMissing(const ConfigView& config, const std::string& kind) {
  config.Find(
      "model/rope", Severity::kBlock, "rope_parameters",
      fmt::format("rope_parameters has no rope for {}", kind.substr(0, 40)),
      "the class looks one up for each kind of layer and fails",
      "state one for each kind, or remove the key");
}

}  // namespace

std::vector<KindRope> ReadKindRopes(const ConfigView& config,
                                    const WindowedLayers& layers,
                                    const KindRopeReading& reading) {
  // Neither the old key nor settings beside the nested ones are looked at.
  config.Ignore({"rope_scaling", "rope_theta", "partial_rotary_factor",
                 "original_max_position_embeddings"});
  ConfigValue held = ConfigValue::Object();
  for (const KindDefault& kind : reading.defaults) {
    held.Set(kind.kind, Held(kind));
  }
  const bool is_stated = config.Has("rope_parameters");
  const ConfigView all = config.NestedOr("rope_parameters", &held);
  all.Ignore({"original_max_position_embeddings", "rope_type", "type",
              "rope_theta", "partial_rotary_factor", "factor"});
  std::vector<KindRope> out;
  const std::set<std::string> kinds(layers.types.begin(), layers.types.end());
  for (const std::string& kind : kinds) {
    if (all.object() == nullptr || !all.Has(kind)) {
      RefuseMissing(config, kind);
      continue;
    }
    RopeReading context;
    context.positions = reading.positions;
    context.head_dim = reading.head_dim;
    context.turns_part = reading.turns_part;
    context.default_part = reading.default_part;
    KindRope& one = out.emplace_back();
    one.kind = kind;
    one.slides = kind == "sliding_attention";
    one.rope = ReadKindRope(all.Nested(kind), context);
  }
  if (!is_stated) config.Derive("rope_parameters", std::move(held));
  return out;
}

}  // namespace foretell
