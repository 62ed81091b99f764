// Written by tools/fit/llamacpp_speed.py; do not edit.
#include <algorithm>

#include "analysis/timing/llamacpp_phases.h"

namespace foretell {
namespace {

// clang-format off
constexpr LlamaShared kShared = {
    .host = 6.17e+10,
    .recurrent_prompt = 1.39,
    .cache_bandwidth = 0.757,
    .prompt_half = 55.2,
    .attention_prompt = 0.575,
    .expert_prompt = 0.585,
    .expert_bandwidth = 0.762,
    .distinct = 0.898,
    .several = 0.306,
    .tool_prompt = 1.14,
    .tool_generation = 1.13,
    .expert_layer = 3.75e-05,
    .without_flash = 2.57,
    .recurrent_layer = 3.2e-05,
    .early_prompt = 0.841,
};

// In the order of LlamaBackend.
constexpr LlamaBackendConstants kBackends[] = {
    {.bandwidth = {1.01, 1.04, 0.953, 0.992},
     .prompt = {1, 0.585, 0.8, 1.02},
     .layer = 6.26e-05, .step = 0.000181, .prompt_all = 1.2},
    {.bandwidth = {1.07, 1.14, 1, 0.578},
     .prompt = {1.79, 1.19, 1.03, 0.78},
     .layer = 8.19e-05, .step = 0.000205, .prompt_all = 0.992},
    {.bandwidth = {0.897, 1.17, 1.17, 0.65},
     .prompt = {1.08, 1.07, 1.18, 0.716},
     .layer = 0.000121, .step = 0.000202, .prompt_all = 0.642},
    {.bandwidth = {1.04, 0.987, 1.02, 1},
     .prompt = {1.07, 0.99, 0.919, 1},
     .layer = 0.000105, .step = 0.000204, .prompt_all = 1.39},
    {.bandwidth = {1, 1, 1, 1},
     .prompt = {1, 1, 1, 1},
     .layer = 1e-05, .step = 0.0002, .prompt_all = 1},
};

constexpr LlamaDeviceConstants kDevices[] = {
    {.name = "pascal", .bandwidth = 0.342, .prompt = 0.349},
    {.name = "turing", .bandwidth = 0.758, .prompt = 0.214},
    {.name = "ampere", .bandwidth = 0.831, .prompt = 0.479},
    {.name = "ampere_dc", .bandwidth = 0.503, .prompt = 0.407},
    {.name = "ada", .bandwidth = 0.928, .prompt = 0.361},
    {.name = "hopper", .bandwidth = 0.614, .prompt = 0.237},
    {.name = "blackwell", .bandwidth = 0.848, .prompt = 0.518},
    {.name = "gb10", .bandwidth = 0.932, .prompt = 0.425},
    {.name = "rdna3", .bandwidth = 0.757, .prompt = 0.374},
    {.name = "rdna35", .bandwidth = 0.765, .prompt = 0.202},
    {.name = "rdna4", .bandwidth = 0.908, .prompt = 0.137},
    {.name = "apple", .bandwidth = 0.751, .prompt = 0.639},
    {.name = "cpu", .bandwidth = 0.75, .prompt = 0.35},
    {.name = "other", .bandwidth = 0.724, .prompt = 0.35},
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
