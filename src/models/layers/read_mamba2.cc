#include "models/layers/read_mamba2.h"

#include <fmt/format.h>

#include <string>

#include "base/checked.h"
#include "models/layers/check_fields.h"

namespace foretell {
namespace {

// "auto", or a number: the channels spread over the heads.
int64_t ReadHeadDim(const ConfigView& config, const Mamba2Config& mixer) {
  constexpr std::string_view kKey = "mamba_d_head";
  const ConfigValue* value = config.Raw(kKey);
  const bool is_auto =
      value == nullptr ||
      (value->is_string() && config.Text({kKey}, "auto") == "auto");
  if (!is_auto) return config.Size({kKey}, 64);
  const int64_t head_dim = mixer.channels / mixer.heads;
  config.Derive(kKey, ConfigValue::Number(std::to_string(head_dim)));
  return head_dim;
}

}  // namespace

void ReadStepLimit(const ConfigView& config, Mamba2Config& mixer) {
  constexpr std::string_view kKey = "time_step_limit";
  const ConfigValue* value = config.Raw(kKey);
  if (value == nullptr) return;
  const auto number = [&](size_t at) {
    return value->is_array() && at < value->items().size()
               ? value->items()[at].AsReal()
               : std::nullopt;
  };
  const auto least = number(0);
  const auto most = number(1);
  if (!least || !most) {
    config.Problem(kKey, "is no list of two numbers",
                   "write what the time step is cut to, as [0.0, 100.0]");
    return;
  }
  mixer.least_step = *least;
  mixer.most_step = *most;
}

int64_t ExpandedChannels(const ConfigView& config, std::string_view key,
                         int64_t expand, int64_t hidden) {
  const auto channels = CheckedMul(expand, hidden);
  if (channels && *channels <= kLargestSize) return *channels;
  config.Problem(
      key,
      fmt::format("times a hidden_size of {} passes {}", hidden, kLargestSize),
      "state a smaller factor");
  return 1;
}

void CheckHeadsOfMixer(const ConfigView& config, std::string_view key,
                       const Mamba2Config& mixer) {
  const auto channels = CheckedMul(mixer.heads, mixer.head_dim);
  if (channels == mixer.channels || config.config().is_loaded) return;
  config.Find("model/mamba-heads", Severity::kBlock, key,
              fmt::format("{} heads of {} dims are not the {} channels of the "
                          "mixer",
                          mixer.heads, mixer.head_dim, mixer.channels),
              "the library refuses the configuration",
              "choose heads and dims whose product is the number of channels");
}

Mamba2Config ReadHybridMixer(const ConfigView& config, int64_t hidden,
                             double norm_epsilon,
                             std::optional<int64_t> stated_channels) {
  Mamba2Config mixer;
  mixer.hidden = hidden;
  const int64_t expand = config.Size({"mamba_expand"}, 2);
  mixer.channels = stated_channels ? *stated_channels
                                   : ExpandedChannels(config, "mamba_expand",
                                                      expand, hidden);
  mixer.heads = config.Size({"mamba_n_heads"}, 128);
  mixer.head_dim = ReadHeadDim(config, mixer);
  mixer.groups = config.Size({"mamba_n_groups"}, 1);
  mixer.state = config.SizeOrZero({"mamba_d_state"}, 256);
  mixer.kernel = config.SizeOrZero({"mamba_d_conv"}, 4);
  mixer.chunk = config.Size({"mamba_chunk_size"}, 256);
  mixer.conv_bias = config.Flag({"mamba_conv_bias"}, true);
  mixer.in_bias = config.Flag({"mamba_proj_bias"}, false);
  mixer.out_bias = mixer.in_bias;
  mixer.norm_epsilon = norm_epsilon;
  ReadStepLimit(config, mixer);
  CheckHeadsOfMixer(config, "mamba_n_heads", mixer);
  return mixer;
}

}  // namespace foretell
