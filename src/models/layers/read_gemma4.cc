#include "models/layers/read_gemma4.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/layers/check_fields.h"
#include "models/layers/read_experts.h"
#include "models/layers/tower_module.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

void Refuse(const ConfigView& config, std::string_view rule,
            std::string_view key, std::string what, std::string fix) {
  config.Find(rule, Severity::kBlock, key, std::move(what),
              "the class fails as the configuration is loaded or the model is "
              "built",
              std::move(fix));
}

// As listed, or five that slide before each full one; the last is full.
std::vector<std::string> ReadKinds(const ConfigView& config, int64_t layers) {
  constexpr int64_t kPeriod = 6;
  std::vector<std::string> kinds = ReadLayerTypes(config, layers);
  if (kinds.empty()) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      kinds.emplace_back((layer + 1) % kPeriod == 0 ? kFull : kSliding);
    }
  }
  kinds.resize(static_cast<size_t>(layers), std::string(kSliding));
  if (!kinds.empty()) kinds.back() = kFull;
  for (const std::string& kind : kinds) {
    if (kind == kFull || kind == kSliding) continue;
    Refuse(config, "model/layer-types", "layer_types",
           fmt::format("the class has no layer of the kind \"{}\"",
                       kind.substr(0, 40)),
           "write full_attention or sliding_attention");
    break;
  }
  if (!config.config().is_loaded) DeriveLayerTypes(config, kinds);
  return kinds;
}

// How many angles the rope of a kind holds; nothing where it has none.
std::optional<int64_t> ReadAngles(const ConfigView& ropes, bool is_absent,
                                  std::string_view kind, int64_t head_dim) {
  if (is_absent) return head_dim / 2 + (kind == kSliding ? head_dim % 2 : 0);
  const ConfigValue* stated = ropes.Raw(kind);
  if (stated == nullptr) {
    Refuse(ropes, "model/rope", kind,
           fmt::format("rope_parameters has no {}", kind),
           "state the rope of each kind of layer, or remove the key");
    return std::nullopt;
  }
  if (stated->is_null()) return std::nullopt;
  const ConfigView rope = ropes.Nested(kind);
  const std::string type = rope.Text({"rope_type", "type"}, "default");
  const double part = rope.Real({"partial_rotary_factor"}, 1);
  rope.Ignore({"rope_theta", "factor"});
  if (type == "default") return (head_dim + 1) / 2;
  if (type != "proportional" || !(part >= 0 && part <= 1)) {
    rope.Problem("rope_type",
                 fmt::format("\"{}\", which turns {} of a head, is not "
                             "modelled for Gemma 4",
                             type.substr(0, 40), part),
                 "default and proportional are, of parts from 0 to 1");
  }
  // Dims that are not turned hold an angle of zero.
  return head_dim / 2;
}

void ReadMoe(const ConfigView& config, const DecoderKeys& keys,
             Gemma4Config& out) {
  out.has_experts = config.Flag({"enable_moe_block"}, false);
  const auto experts = config.OptionalSize({"num_experts"});
  const auto per_token = config.OptionalSize({"top_k_experts"});
  const auto width = config.OptionalSize({"moe_intermediate_size"});
  if (!out.has_experts) return;
  if (!experts || !per_token || !width) {
    Refuse(config, "model/experts", "enable_moe_block",
           "enable_moe_block is true, and num_experts, top_k_experts or "
           "moe_intermediate_size is not stated",
           "state all three, or set enable_moe_block to false");
  }
  out.experts.hidden = keys.decoder.hidden;
  out.experts.activation = keys.activation;
  out.experts.experts = experts.value_or(1);
  out.experts.per_token = per_token.value_or(1);
  out.experts.intermediate = width.value_or(1);
  CheckExpertsPerToken(config, out.experts);
}

void ReadLayerEmbeddings(const ConfigView& config, int64_t layers,
                         Gemma4Config& out) {
  out.layer_width = config.SizeOrZero({"hidden_size_per_layer_input"}, 256);
  out.layer_rows = config.Size({"vocab_size_per_layer_input"}, 262144);
  if (out.layer_width == 0) return;
  out.all_widths =
      ProductOf(config, "hidden_size_per_layer_input", out.layer_width, layers);
  ReadPadding(config, 0, {{"vocab_size_per_layer_input", out.layer_rows}});
}

int64_t ReadWindow(const ConfigView& config, int64_t otherwise) {
  const int64_t window = config.SizeOrZero({"sliding_window"}, otherwise);
  // Absent it is null or "vision", which come to the same.
  const auto sides = config.OptionalText({"use_bidirectional_attention"});
  if (!sides || *sides == "vision") return window;
  if (*sides != "all") {
    config.Problem("use_bidirectional_attention",
                   fmt::format("is \"{}\"", sides->substr(0, 40)),
                   "write \"all\", \"vision\" or null");
  }
  if (config.config().is_loaded) return window;
  // Both ends count: the class halves the window once, as it loads.
  const int64_t halved = window / 2 + 1;
  config.Derive("sliding_window", ConfigValue::Number(std::to_string(halved)));
  return halved;
}

}  // namespace

int64_t ReadFirstShared(const ConfigView& config,
                        const std::vector<std::string>& kinds,
                        int64_t otherwise) {
  const auto layers = static_cast<int64_t>(kinds.size());
  const int64_t shared = config.SizeOrZero({"num_kv_shared_layers"}, otherwise);
  if (shared == 0) return layers;
  const int64_t first = std::max<int64_t>(layers - shared, 0);
  const auto producers_end = kinds.begin() + first;
  const bool serves_all = std::ranges::all_of(kinds, [&](const auto& kind) {
    return std::find(kinds.begin(), producers_end, kind) != producers_end;
  });
  if (shared > layers || !serves_all) {
    Refuse(config, "model/shared-layers", "num_kv_shared_layers",
           fmt::format("{} of {} layers share keys and values, and none of "
                       "their kind makes them",
                       shared, layers),
           "lower num_kv_shared_layers");
  }
  return first;
}

std::vector<size_t> StoringLayers(const std::vector<std::string>& kinds,
                                  int64_t first_shared) {
  std::vector<size_t> out;
  if (first_shared >= static_cast<int64_t>(kinds.size())) return out;
  for (const std::string_view kind : {kFull, kSliding}) {
    for (auto at = static_cast<size_t>(first_shared); at-- > 0;) {
      if (kinds[at] != kind) continue;
      out.push_back(at);
      break;
    }
  }
  return out;
}

Gemma4Config ReadGemma4(const ConfigView& config, const DecoderKeys& keys,
                        AttentionConfig attention, bool is_unified) {
  Gemma4Config out;
  out.hidden = keys.decoder.hidden;
  out.heads = attention.heads;
  out.dropout = attention.dropout;
  out.norm_epsilon = keys.decoder.norm_epsilon;
  out.activation = keys.activation;
  out.sees_both_sides =
      config.OptionalText({"use_bidirectional_attention"}) == "all";
  out.bias = config.Flag({"attention_bias"}, false);
  out.window = ReadWindow(config, is_unified ? 1024 : 512);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, attention);
  const int64_t narrow = config.Size({"head_dim"}, 256);
  const int64_t wide = config.Size({"global_head_dim"}, 512);
  const auto wide_kv = config.OptionalSize({"num_global_key_value_heads"});
  const bool keys_are_values = config.Flag({"attention_k_eq_v"}, false);
  const bool doubles = config.Flag({"use_double_wide_mlp"}, false);
  ProductOf(config, "num_attention_heads", out.heads, std::max(narrow, wide));
  if (keys_are_values && wide_kv && out.heads % *wide_kv != 0) {
    Refuse(config, "model/heads", "num_global_key_value_heads",
           fmt::format("{} heads do not share {} of keys and values evenly",
                       out.heads, *wide_kv),
           "choose a number that divides num_attention_heads");
  }
  const std::vector<std::string> kinds = ReadKinds(config, keys.decoder.layers);
  const int64_t first_shared = ReadFirstShared(config, kinds, 0);
  for (size_t index = 0; index < kinds.size(); ++index) {
    Gemma4Layer layer;
    layer.slides = kinds[index] == kSliding;
    layer.reuses = static_cast<int64_t>(index) >= first_shared;
    layer.head_dim = layer.slides ? narrow : wide;
    layer.kv_heads = !layer.slides && keys_are_values
                         ? wide_kv.value_or(attention.kv_heads)
                         : attention.kv_heads;
    layer.has_values = layer.slides || !keys_are_values;
    layer.intermediate = keys.intermediate * (layer.reuses && doubles ? 2 : 1);
    out.layers.push_back(layer);
  }
  out.first_shared = first_shared;
  for (const size_t layer : StoringLayers(kinds, first_shared)) {
    out.layers[layer].stores = true;
  }
  const bool no_ropes = !config.Has("rope_parameters");
  const ConfigView ropes = config.Nested("rope_parameters");
  for (const std::string_view kind : {kFull, kSliding}) {
    if (std::ranges::find(kinds, kind) == kinds.end()) continue;
    const int64_t head_dim = kind == kFull ? wide : narrow;
    const auto angles = ReadAngles(ropes, no_ropes, kind, head_dim);
    if (angles) out.ropes.emplace_back(kind, *angles);
  }
  CheckFields(config, {{"final_logit_softcapping", FieldKind::kFloat, true}});
  // Left by older forms; the class does not read it.
  config.Ignore({"expert_intermediate_size"});
  if (is_unified) return out;
  ReadLayerEmbeddings(config, keys.decoder.layers, out);
  ReadMoe(config, keys, out);
  return out;
}

}  // namespace foretell
