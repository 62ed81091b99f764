// LFM2: Liquid's decoder, whose layers are gated short convolutions but for a
// few that attend.
//
// Source: transformers 5.23, models/lfm2/modeling_lfm2.py and
// configuration_lfm2.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/lfm2_layer.h"

namespace foretell {
namespace {

// The layers that attend are listed in the file's old form; where neither form
// is there, all do.
std::vector<std::string> DeriveLayerTypes(const ConfigView& config,
                                          int64_t layers) {
  const auto attending = config.IntegerList({"full_attn_idxs"});
  std::vector<std::string> out;
  std::vector<ConfigValue> told;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const bool attends =
        !attending || std::ranges::find(*attending, layer) != attending->end();
    out.emplace_back(attends ? "full_attention" : "conv");
    told.push_back(ConfigValue::String(out.back()));
  }
  config.Derive("layer_types", ConfigValue::Array(std::move(told)));
  return out;
}

// Two thirds of what the file states, times a factor, rounded up to a
// multiple.
int64_t AdjustIntermediate(const ConfigView& config, int64_t stated) {
  CheckFields(config, {{"block_ffn_dim_multiplier", FieldKind::kNumber},
                       {"block_multiple_of", FieldKind::kWhole}});
  if (!config.Flag({"block_auto_adjust_ff_dim"}, true)) return stated;
  const double thirds = std::trunc(2 * static_cast<double>(stated) / 3);
  const double factor = config.Has("block_ffn_dim_multiplier")
                            ? config.Real({"block_ffn_dim_multiplier"}, 1)
                            : 1;
  const int64_t multiple = config.Size({"block_multiple_of"}, 256);
  const double scaled = std::trunc(factor * thirds);
  if (!(scaled >= 1 && scaled <= static_cast<double>(kLargestSize))) {
    config.Problem("block_ffn_dim_multiplier",
                   fmt::format("makes a feed-forward of {} dims", scaled),
                   "write a number near 1.0");
    return 1;
  }
  const auto dims = static_cast<int64_t>(scaled);
  return multiple * ((dims + multiple - 1) / multiple);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Lfm2Config lfm = ReadLfm2(config, class_name,
                            {.vocabulary = 65536,
                             .intermediate = 12288,
                             .positions = 128000,
                             .norm_epsilon = 1e-5,
                             .ties = true,
                             .padding = 0,
                             .norm_key = "norm_eps",
                             .activation_key = ""},
                            2560);
  int64_t& intermediate = lfm.keys.intermediate;
  // An old name, which decides as the file is loaded.
  if (config.Raw("block_ff_dim") != nullptr && !config.config().is_loaded) {
    intermediate = config.Size({"block_ff_dim"}, intermediate);
    config.Derive("intermediate_size",
                  ConfigValue::Number(std::to_string(intermediate)));
  }
  intermediate = AdjustIntermediate(config, intermediate);
  if (!config.Has("layer_types")) {
    lfm.layer_types = DeriveLayerTypes(config, lfm.keys.decoder.layers);
  }
  config.Ignore({"full_attn_idxs"});
  return MakeLfm2(root, lfm);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"lfm2"};
constexpr std::array<std::string_view, 2> kClasses = {"Lfm2ForCausalLM",
                                                      "Lfm2Model"};

}  // namespace

extern const Family kLfm2Family = {
    .name = "lfm2",
    .title = "LFM2",
    .doc =
        "Gated short convolutions in place of most layers' attention; the few "
        "that attend are grouped-query with a norm on queries and keys.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
