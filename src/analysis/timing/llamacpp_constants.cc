// Written by tools/fit/llamacpp_speed.py; do not edit.
#include <algorithm>

#include "analysis/timing/llamacpp_phases.h"

namespace foretell {
namespace {

// clang-format off
constexpr LlamaShared kShared = {
    .host = 6.14e+10,
    .recurrent_prompt = 1.39,
    .cache_bandwidth = 0.753,
    .prompt_half = 55.3,
    .attention_prompt = 0.576,
    .expert_prompt = 0.585,
    .expert_bandwidth = 0.765,
    .distinct = 0.898,
    .several = 0.306,
    .tool_prompt = 1.14,
    .tool_generation = 1.14,
    .expert_layer = 3.68e-05,
    .without_flash = 2.57,
    .recurrent_layer = 3.26e-05,
    .early_prompt = 0.841,
};

// In the order of LlamaBackend.
constexpr LlamaBackendConstants kBackends[] = {
    {.bandwidth = {1.01, 1.03, 0.954, 0.992},
     .prompt = {1, 0.585, 0.801, 1.02},
     .layer = 6.28e-05, .step = 0.000177, .prompt_all = 1.2},
    {.bandwidth = {1.06, 1.14, 0.999, 0.574},
     .prompt = {1.78, 1.2, 1.03, 0.781},
     .layer = 8.39e-05, .step = 0.000206, .prompt_all = 0.992},
    {.bandwidth = {0.891, 1.17, 1.17, 0.642},
     .prompt = {1.08, 1.08, 1.18, 0.715},
     .layer = 0.000121, .step = 0.000202, .prompt_all = 0.641},
    {.bandwidth = {1.04, 0.987, 1.02, 1},
     .prompt = {1.08, 0.993, 0.922, 1},
     .layer = 0.000106, .step = 0.000204, .prompt_all = 1.41},
    {.bandwidth = {1, 1, 1, 1},
     .prompt = {1, 1, 1, 1},
     .layer = 1e-05, .step = 0.0002, .prompt_all = 1},
};

constexpr LlamaDeviceConstants kDevices[] = {
    {.name = "pascal", .bandwidth = 0.339, .prompt = 0.349},
    {.name = "turing", .bandwidth = 0.755, .prompt = 0.216},
    {.name = "ampere", .bandwidth = 0.83, .prompt = 0.478},
    {.name = "ampere_dc", .bandwidth = 0.501, .prompt = 0.406},
    {.name = "ada", .bandwidth = 0.926, .prompt = 0.361},
    {.name = "hopper", .bandwidth = 0.612, .prompt = 0.237},
    {.name = "blackwell", .bandwidth = 0.843, .prompt = 0.517},
    {.name = "gb10", .bandwidth = 0.938, .prompt = 0.424},
    {.name = "rdna3", .bandwidth = 0.759, .prompt = 0.374},
    {.name = "rdna35", .bandwidth = 0.766, .prompt = 0.202},
    {.name = "rdna4", .bandwidth = 0.914, .prompt = 0.136},
    {.name = "apple", .bandwidth = 0.751, .prompt = 0.629},
    {.name = "cpu", .bandwidth = 0.75, .prompt = 0.35},
    {.name = "other", .bandwidth = 0.723, .prompt = 0.35},
};
// clang-format on

}  // namespace

const LlamaShared& LlamaSharedConstants() { return kShared; }

const LlamaBackendConstants& LlamaBackendOf(LlamaBackend backend) {
  return kBackends[static_cast<int>(backend)];
}

const LlamaDeviceConstants* LlamaDevicesOf(std::string_view name) {
  const auto found =
      std::ranges::find(kDevices, name, &LlamaDeviceConstants::name);
  return found == std::end(kDevices) ? nullptr : &*found;
}

}  // namespace foretell
