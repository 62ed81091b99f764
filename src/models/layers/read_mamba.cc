#include "models/layers/read_mamba.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"

namespace foretell {
namespace {

// As Python's int(): blanks around it and a plus sign are fine.
std::optional<int64_t> WholeNumber(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t out = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end) return std::nullopt;
  return out;
}

// A file that states intermediate_size overrides what `expand` gives.
int64_t ReadChannels(const ConfigView& config, int64_t hidden, int64_t layers) {
  constexpr std::string_view kKey = "intermediate_size";
  const ConfigValue* value = config.Raw(kKey);
  if (value != nullptr) {
    CheckFields(config, {{"expand", FieldKind::kWhole}});
    // Only a layer looks at it.
    return layers == 0 ? 1 : config.Size({kKey}, 1536);
  }
  const int64_t expand = layers == 0 ? config.SizeOrZero({"expand"}, 2)
                                     : config.Size({"expand"}, 2);
  const auto channels = CheckedMul(expand, hidden);
  if (!channels || *channels > kLargestSize) {
    config.Problem("expand",
                   fmt::format("times a hidden_size of {} passes {}", hidden,
                               kLargestSize),
                   "state a smaller factor");
    return 1;
  }
  config.Derive(kKey, ConfigValue::Number(std::to_string(*channels)));
  if (*channels == 0 && layers > 0) {
    config.Problem("hidden_size", "is 0, which leaves the mixer no channels",
                   "state the width");
    return 1;
  }
  return *channels;
}

void CheckRest(const ConfigView& config) {
  CheckCommonFields(config);
  ReadLabels(config, false);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"pad_token_id", FieldKind::kWhole, true},
                       {"time_step_scale", FieldKind::kFloat},
                       {"time_step_min", FieldKind::kFloat},
                       {"time_step_max", FieldKind::kFloat},
                       {"time_step_init_scheme", FieldKind::kText},
                       {"time_step_floor", FieldKind::kFloat},
                       {"rescale_prenorm_residual", FieldKind::kFlag},
                       {"use_mambapy", FieldKind::kFlag},
                       {"use_associative_scan", FieldKind::kFlag}});
  // Names that the authors' own package reads.
  config.Ignore({"d_inner", "d_model", "n_layer", "ssm_cfg", "rms_norm",
                 "fused_add_norm", "pad_vocab_size_multiple"});
}

}  // namespace

int64_t ReadStepRank(const ConfigView& config, int64_t hidden, int64_t layers) {
  constexpr std::string_view kKey = "time_step_rank";
  const ConfigValue* value = config.Raw(kKey);
  const bool is_text = value != nullptr && value->is_string();
  const auto text = is_text ? config.Text({kKey}, "auto") : std::string();
  if (value == nullptr || (text == "auto" && !config.config().is_loaded)) {
    const int64_t rank = (hidden + 15) / 16;
    config.Derive(kKey, ConfigValue::Number(std::to_string(rank)));
    return rank;
  }
  if (!is_text) return config.SizeOrZero({kKey}, 48);
  if (layers == 0) return 0;
  const auto rank = WholeNumber(text);
  if (!rank || *rank < 0 || *rank > kLargestSize) {
    config.Problem(kKey, fmt::format("\"{}\" is no size", text.substr(0, 40)),
                   "write a whole number, or \"auto\"");
    return 1;
  }
  return *rank;
}

void CheckRecurrentLayers(const ConfigView& config) {
  if (config.Raw("layer_types") != nullptr) {
    config.Problem("layer_types",
                   "is worked out by the class and cannot be set",
                   "remove the key");
  }
  const auto stated = config.OptionalInteger({"num_hidden_layers"});
  if (stated && *stated < 0 && !config.config().is_loaded) {
    config.Find("model/layer-types", Severity::kBlock, "num_hidden_layers",
                fmt::format("num_hidden_layers is {}", *stated),
                "the library refuses the configuration",
                "state the number of layers");
  }
}

MambaConfig ReadMamba(const ConfigView& config) {
  MambaConfig out;
  CheckRest(config);
  CheckRecurrentLayers(config);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50280);
  out.layers = config.Layers({"num_hidden_layers"}, 32);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  MambaMixerConfig& mixer = out.mixer;
  mixer.hidden = SizeOrEmpty(config, {"hidden_size"}, 768);
  mixer.channels = ReadChannels(config, mixer.hidden, out.layers);
  mixer.rank = ReadStepRank(config, mixer.hidden, out.layers);
  mixer.state = config.SizeOrZero({"state_size"}, 16);
  mixer.kernel = config.SizeOrZero({"conv_kernel"}, 4);
  mixer.bias = config.Flag({"use_bias"}, false);
  mixer.conv_bias = config.Flag({"use_conv_bias"}, true);
  out.residual_in_float32 = config.Flag({"residual_in_fp32"}, true);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  const std::string activation = config.Text({"hidden_act"}, "silu");
  // Looked up where a layer is built.
  if (out.layers > 0) {
    mixer.activation = ActivationNamed(config, "hidden_act", activation);
  }
  return out;
}

}  // namespace foretell
