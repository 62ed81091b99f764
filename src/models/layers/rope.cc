#include "models/layers/rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "graph/autocast.h"
#include "graph/ops/complex.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/axis_rope.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// What each type of scaling must state; the library fills in
// original_max_position_embeddings where it is absent.
struct RopeType {
  std::string_view name;
  std::array<std::string_view, 3> required;  // empty names are none
  bool needs_original = false;
};
constexpr std::array<RopeType, 7> kTypes = {{
    {"default", {}, false},
    {"linear", {"factor"}, false},
    {"dynamic", {"factor"}, false},
    {"yarn", {"factor"}, true},
    {"longrope", {"short_factor", "long_factor"}, true},
    {"llama3", {"factor", "low_freq_factor", "high_freq_factor"}, true},
    {"proportional", {}, false},
}};

// Settings of a scaling that move numbers, not shapes.
void IgnoreNumbers(const ConfigView& rope) {
  rope.Ignore({"attention_factor", "beta_fast", "beta_slow", "long_factor",
               "short_factor", "low_freq_factor", "high_freq_factor", "mscale",
               "mscale_all_dim", "truncate", "finetuned", "alpha",
               "mrope_section", "mrope_interleaved"});
}

// A truthy `rope_scaling` comes before `rope_parameters`; {} is not truthy.
std::string_view SourceKey(const ConfigView& config) {
  const ConfigValue* old = config.Raw("rope_scaling");
  const bool is_truthy = old != nullptr && !old->is_null() &&
                         !(old->is_object() && old->members().empty());
  return is_truthy ? "rope_scaling" : "rope_parameters";
}

void Refuse(const ConfigView& rope, std::string_view key, std::string what,
            std::string fix) {
  rope.Find("model/rope", Severity::kBlock, key, std::move(what),
            "transformers 5.23 refuses to build the model", std::move(fix));
}

// The keys that the type needs; a null stands for no number either, except
// yarn's factor, which is then worked out from the lengths.
void CheckRequired(const ConfigView& rope, const RopeType& type) {
  for (const std::string_view key : type.required) {
    if (key.empty()) continue;
    const ConfigValue* value = rope.Raw(key);
    const bool may_be_null = type.name == "yarn";
    if (value != nullptr && (may_be_null || !value->is_null())) continue;
    Refuse(rope, key,
           fmt::format("rope type {} lacks {}", type.name, rope.PathOf(key)),
           fmt::format("state {}", rope.PathOf(key)));
  }
}

// int(head_dim * partial): the dims of a head that are turned.
int64_t RotaryDim(const ConfigView& rope, int64_t head_dim, double partial) {
  const double dims = static_cast<double>(head_dim) * partial;
  if (dims >= 0 && dims <= static_cast<double>(kLargestSize)) {
    return static_cast<int64_t>(dims);
  }
  rope.Problem("partial_rotary_factor",
               fmt::format("turns {} of {} dims", dims, head_dim),
               "write a number from 0 to 1");
  return head_dim;
}

// Two lengths that PyTorch would broadcast, or nothing.
std::optional<int64_t> Broadcast(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  return std::nullopt;
}

// The length of inv_freq: modeling_rope_utils.py, ROPE_INIT_FUNCTIONS, and
// compute_default_rope_parameters of each class.
int64_t CountFrequencies(const ConfigView& rope, const std::string& type,
                         int64_t head_dim, double partial, bool turns_part) {
  // Most classes' default ignores the partial factor. An odd head keeps its
  // last dim.
  if (type == "default" && !turns_part) return (head_dim + 1) / 2;
  const int64_t dim = RotaryDim(rope, head_dim, partial);
  const int64_t steps = (dim + 1) / 2;
  if (type == "proportional") return std::max(dim / 2, head_dim / 2);
  if (type == "dynamic" && dim == 2) {
    Refuse(rope, "rope_type",
           "rope type dynamic divides by dims - 2, and 2 "
           "dims are turned",
           "choose wider heads or another rope type");
  }
  std::optional<int64_t> count = steps;
  if (type == "yarn") count = Broadcast(steps, dim / 2);
  if (type == "longrope") {
    const ConfigValue* factors = rope.Raw("short_factor");
    if (factors != nullptr && factors->is_array()) {
      count = Broadcast(steps, static_cast<int64_t>(factors->items().size()));
    }
  }
  if (!count) {
    Refuse(rope, type == "yarn" ? "rope_type" : "short_factor",
           fmt::format("rope type {} does not fit {} turned dims", type, dim),
           type == "yarn" ? "choose heads of an even width"
                          : fmt::format("give {} factors", steps));
  }
  return count.value_or(steps);
}

// original_max_position_embeddings: one beside the rope wins, and a class may
// hold one whatever the file says.
std::optional<int64_t> ReadOriginal(const ConfigView& config,
                                    const ConfigView& nested,
                                    const RopeReading& context, bool is_used) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  if (context.original_positions) {
    if (is_used) return config.Size({kKey}, *context.original_positions);
    CheckFields(config, {{kKey, FieldKind::kWhole}});
    return std::nullopt;
  }
  const ConfigView& place = config.Has(kKey) ? config : nested;
  std::optional<int64_t> positions;
  if (is_used && place.Raw(kKey)) positions = place.Size({kKey}, 1);
  config.Ignore({kKey});
  return positions;
}

// The settings as the class holds them once it has loaded.
void DeriveParameters(const ConfigView& config, const ConfigView& rope,
                      double theta, bool is_renamed,
                      const RopeReading& context) {
  ConfigValue held = ConfigValue::Object();
  if (rope.object() != nullptr) held = *rope.object();
  const auto set_default = [&held](std::string_view key, ConfigValue value) {
    if (held.Find(key) == nullptr) held.Set(key, std::move(value));
  };
  set_default("rope_theta", ConfigValue::Number(fmt::format("{}", theta)));
  const ConfigValue* old_type = held.Find("type");
  set_default("rope_type",
              old_type ? *old_type : ConfigValue::String("default"));
  if (is_renamed) held.Set("rope_type", ConfigValue::String("longrope"));
  if (config.Has(context.part_key)) {
    set_default("partial_rotary_factor", *config.Raw(context.part_key));
  } else if (context.turns_part) {
    set_default("partial_rotary_factor",
                ConfigValue::Number(fmt::format("{:#}", context.default_part)));
  }
  config.Derive("rope_parameters", std::move(held));
  config.Derive("rope_scaling", ConfigValue::Null());
  config.Derive("rope_theta", ConfigValue::Null());
  config.Derive("partial_rotary_factor", ConfigValue::Null());
}

}  // namespace

ConfigView RopeSettings(const ConfigView& config,
                        const ConfigValue* when_absent) {
  return config.NestedOr(SourceKey(config), when_absent);
}

RopeConfig ReadRope(const ConfigView& config, const RopeReading& context) {
  RopeConfig rope;
  rope.positions = context.positions;
  // Both are checked, whichever of them decides.
  config.Nested("rope_parameters");
  const ConfigView nested = RopeSettings(config, context.when_absent);
  config.Ignore({"rope_parameters", "rope_scaling"});
  IgnoreNumbers(nested);
  // The old name of the key is `type`; both may stand, `rope_type` decides.
  const bool is_old = nested.Raw("rope_type") == nullptr;
  const std::string_view type_key =
      is_old && nested.Raw("type") != nullptr ? "type" : "rope_type";
  if (nested.object() != nullptr) {
    rope.type = nested.Raw(type_key) == nullptr
                    ? "default"
                    : nested.Text({type_key}, "default");
    rope.factor = nested.OptionalReal({"factor"});
  }
  if (context.takes_mrope && rope.type == "mrope") rope.type = "default";
  const bool is_loaded = config.config().is_loaded;
  const bool is_renamed =
      !is_loaded && std::ranges::find(context.longrope_names, rope.type) !=
                        context.longrope_names.end();
  if (is_renamed) rope.type = "longrope";
  // A theta inside the nested form comes before the one beside it.
  const bool theta_inside = nested.Raw("rope_theta") != nullptr;
  rope.theta = theta_inside
                   ? nested.Real({"rope_theta"}, context.default_theta)
                   : config.Real({context.theta_key}, context.default_theta);
  config.Ignore({"rope_theta", "partial_rotary_factor", context.theta_key,
                 context.part_key});
  double partial = 1;
  if (nested.Raw("partial_rotary_factor") != nullptr) {
    partial = nested.Real({"partial_rotary_factor"}, 1);
  } else if (config.Has(context.part_key) ||
             (context.turns_part && !is_loaded)) {
    partial = config.Real({context.part_key}, context.default_part);
  }
  const auto type = std::ranges::find(kTypes, rope.type, &RopeType::name);
  if (type == kTypes.end()) {
    // `mrope` and `su` are names that other libraries write.
    Refuse(nested, type_key,
           fmt::format("\"{}\" names no rope type of transformers 5.23",
                       rope.type.substr(0, 40)),
           "write one of default, linear, dynamic, yarn, longrope, llama3, "
           "proportional");
    rope.type = "default";
  } else {
    CheckRequired(nested, *type);
  }
  for (const std::string& layer_type : context.layer_types) {
    if (nested.object() == nullptr || !nested.Raw(layer_type)) continue;
    Refuse(nested, layer_type,
           fmt::format("{} gives each kind of layer a rope of its own, which "
                       "the class does not read",
                       nested.PathOf(layer_type)),
           "state one rope for all layers");
    break;
  }
  const bool needs_original = type != kTypes.end() && type->needs_original;
  rope.original_positions =
      ReadOriginal(config, nested, context, needs_original);
  nested.Ignore({"original_max_position_embeddings", "type", "rope_type"});
  const int64_t dim = context.head_dim;
  if (!is_loaded && context.head_dim_is_held && dim > 4 && dim % 2 == 1 &&
      RotaryDim(nested, dim, partial) == dim) {
    Refuse(config, "head_dim",
           fmt::format("a head of {} dims cannot be turned in pairs", dim),
           "choose an even head_dim");
  }
  const bool multiplies =
      rope.type == "dynamic" || rope.type == "yarn" || rope.type == "longrope";
  if (context.head_dim_is_null && multiplies) {
    Refuse(config, "head_dim",
           fmt::format("rope type {} multiplies head_dim, which is null",
                       rope.type),
           fmt::format("set head_dim to {}", dim));
  }
  rope.frequencies =
      CountFrequencies(nested, rope.type, dim, partial, context.turns_part);
  DeriveParameters(config, nested, rope.theta, is_renamed, context);
  return rope;
}

RopeConfig ReadKindRope(const ConfigView& nested, const RopeReading& context) {
  RopeConfig rope;
  rope.positions = context.positions;
  IgnoreNumbers(nested);
  const std::string_view type_key =
      nested.Raw("rope_type") == nullptr && nested.Raw("type") != nullptr
          ? "type"
          : "rope_type";
  if (nested.object() != nullptr && nested.Raw(type_key) != nullptr) {
    rope.type = nested.Text({type_key}, "default");
  }
  if (nested.object() != nullptr) rope.factor = nested.OptionalReal({"factor"});
  rope.theta = nested.Real({"rope_theta"}, context.default_theta);
  const double part =
      nested.Real({"partial_rotary_factor"}, context.default_part);
  const auto type = std::ranges::find(kTypes, rope.type, &RopeType::name);
  if (type == kTypes.end()) {
    Refuse(nested, type_key,
           fmt::format("\"{}\" names no rope type of transformers 5.23",
                       rope.type.substr(0, 40)),
           "write one of default, linear, dynamic, yarn, longrope, llama3, "
           "proportional");
    rope.type = "default";
  } else {
    CheckRequired(nested, *type);
  }
  if (nested.Raw("original_max_position_embeddings") != nullptr) {
    rope.original_positions =
        nested.OptionalSize({"original_max_position_embeddings"});
  }
  nested.Ignore({"type", "rope_type"});
  const int64_t dim = context.head_dim;
  if (dim > 4 && dim % 2 == 1 && RotaryDim(nested, dim, part) == dim) {
    Refuse(nested, "partial_rotary_factor",
           fmt::format("a head of {} dims cannot be turned in pairs", dim),
           "choose an even head_dim");
  }
  rope.frequencies =
      CountFrequencies(nested, rope.type, dim, part, context.turns_part);
  return rope;
}

ContextLength RopeContext(const RopeConfig& rope) {
  ContextLength context;
  context.tokens = rope.positions;
  context.where = "max_position_embeddings";
  if (rope.type == "default") return context;
  context.where += fmt::format(" (rope {}", rope.type);
  if (rope.factor) context.where += fmt::format(", factor {}", *rope.factor);
  if (rope.original_positions) {
    context.where += fmt::format(", from {}", *rope.original_positions);
  }
  context.where += ")";
  return context;
}

RotaryEmbedding::RotaryEmbedding(const Module& at, const RopeConfig& rope,
                                 std::string_view kind)
    : module(at), config(rope) {
  const Shape frequencies = {rope.frequencies};
  const std::string prefix = kind.empty() ? "" : std::string(kind) + "_";
  const auto add = [&](std::string_view name) {
    at.Buffer(prefix + std::string(name), frequencies, DType::kFloat32, false);
    return at.builder().graph().buffers.back().value;
  };
  inverse_frequencies = add("inv_freq");
  original_frequencies = inverse_frequencies;
  if (!at.builder().library().rotary_copies_frequencies) return;
  original_frequencies = add("original_inv_freq");
}

// dynamic_rope_update: some types choose their frequencies by the positions.
void RotaryEmbedding::UpdateFrequencies(const Tensor& position_ids) const {
  Builder& builder = module.builder();
  if (config.type == "longrope") {
    const Tensor length = AddScalar(Max(position_ids), 1);
    // Made by the first forward.
    const Tensor longer =
        builder.Lasting({config.frequencies}, DType::kFloat32);
    const auto limit =
        static_cast<double>(config.original_positions.value_or(0));
    const Tensor chosen = Where(GtScalar(length, limit), longer,
                                builder.Read(original_frequencies));
    CopyInto(builder.Read(inverse_frequencies), chosen);
  } else if (config.type == "dynamic") {
    const Tensor length = AddScalar(Max(position_ids), 1);
    const auto most = static_cast<double>(config.positions);
    LocalScalar(GtScalar(length, most));
    LocalScalar(LtScalar(length, most));
    if (position_ids.size(-1) > config.positions) {
      builder.Fail(
          "rope type dynamic makes new frequencies past "
          "max_position_embeddings, which is not modelled");
    }
  }
}

// Made where Python runs, as the module's constructor makes them.
Tensor RotaryEmbedding::RemakeFrequencies() const {
  const int64_t dims = *config.remade_of;
  const Tensor powers = PowOfNumber(
      config.theta,
      DivScalar(WholesBy(module.builder(), 0, dims, 2, DType::kFloat32),
                static_cast<double>(dims)));
  return MulScalar(Reciprocal(powers), 1.0);
}

Tensor RotaryEmbedding::AnglesAt(const Tensor& position_ids,
                                 const Tensor& remade) const {
  if (!remade.empty()) {
    const Tensor wide = To(Unsqueeze(position_ids, 2), DType::kFloat32);
    return Mul(wide, Transfer(remade));
  }
  const Tensor held = module.builder().Read(inverse_frequencies);
  if (!module.builder().library().rotary_is_product) {
    return Mul(To(Unsqueeze(position_ids, 2), DType::kFloat32), held);
  }
  const Tensor column = Unsqueeze(Unsqueeze(held, 0), 2);
  const Tensor frequencies = Expand(column, {position_ids.size(0), -1, 1});
  const Tensor row = To(Unsqueeze(position_ids, 1), DType::kFloat32);
  const AutocastScope wide(module.builder(), std::nullopt);
  return Transpose(Matmul(frequencies, row), 1, 2);
}

std::pair<Tensor, Tensor> RotaryEmbedding::Forward(
    const Tensor& like, const Tensor& position_ids) const {
  const Scope scope = module.Enter();
  UpdateFrequencies(position_ids);
  if (!config.sections.empty()) {
    const Tensor read = module.builder().Read(inverse_frequencies);
    return AxisAngles(position_ids, read, config.sections,
                      config.sections_side_by_side, like.dtype());
  }
  // Have their names until the module returns.
  Tensor length;
  Tensor remade;
  if (config.remade_of) {
    length = AddScalar(Max(position_ids), 1);
    remade = RemakeFrequencies();
  }
  const Tensor frequencies = AnglesAt(position_ids, remade);
  if (config.is_complex) {
    const auto on_circle = [&] {
      return Polar(OnesLike(frequencies), frequencies);
    };
    return {MulScalar(on_circle(), 1.0), Tensor()};
  }
  const Tensor angles = config.halves ? frequencies
                        : config.interleaves
                            ? RepeatEach(frequencies, 2)
                            : Cat2(frequencies, frequencies, -1);
  const Tensor cosines = MulScalar(Cos(angles), 1.0);
  const Tensor sines = MulScalar(Sin(angles), 1.0);
  if (config.stays_wide) return {cosines, sines};
  const Tensor cosines_out = To(cosines, like.dtype());
  return {cosines_out, To(sines, like.dtype())};
}

}  // namespace foretell
