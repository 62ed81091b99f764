// Written by tools/fit/serving_speed.py; do not edit.
#include "analysis/timing/serving_constants.h"

#include <algorithm>

namespace foretell {
namespace {

// clang-format off
constexpr EngineConstants kEngines[] = {
    {.name = "trtllm", .what = "TensorRT-LLM with compiled engines", .rows = 399,
     .layer = 5.88e-05, .expert_layer = 1.94e-05, .expert = 0,
     .step = 0.000336, .request = 5.29e-06, .bandwidth = 0.993,
     .prefill = 1.47, .mix = 0.826, .burst = 0.1,
     .first = 0.00212, .first_steps = 0.935, .cache_reads = 0.999},
    {.name = "trtllm_pt", .what = "TensorRT-LLM with its PyTorch backend", .rows = 1232,
     .layer = 4.32e-05, .expert_layer = 2.01e-05, .expert = 0,
     .step = 0.000254, .request = 4.78e-06, .bandwidth = 1.02,
     .prefill = 1.01, .mix = 0.917, .burst = 0.157,
     .first = 0.0302, .first_steps = 1.55, .cache_reads = 0.996},
    {.name = "vllm", .what = "vLLM with its V1 engine", .rows = 2074,
     .layer = 4.31e-05, .expert_layer = 3.44e-05, .expert = 0,
     .step = 0.000194, .request = 6.89e-06, .bandwidth = 1,
     .prefill = 0.956, .mix = 0.948, .burst = 0.151,
     .first = 0.018, .first_steps = 1.36, .cache_reads = 0.976},
    {.name = "vllm_early", .what = "vLLM before its V1 engine", .rows = 124,
     .layer = 0.000152, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000295, .request = 1e-05, .bandwidth = 0.982,
     .prefill = 0.977, .mix = 0.95, .burst = 0.1,
     .first = 0.0115, .first_steps = 1, .cache_reads = 0.996},
    {.name = "vllm_rocm", .what = "vLLM on ROCm", .rows = 120,
     .layer = 6.24e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000302, .request = 9.23e-06, .bandwidth = 1,
     .prefill = 1.01, .mix = 0.946, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 0.998},
    {.name = "sglang", .what = "SGLang", .rows = 962,
     .layer = 5.15e-05, .expert_layer = 1.99e-05, .expert = 0,
     .step = 0.000457, .request = 1.02e-05, .bandwidth = 0.991,
     .prefill = 1.06, .mix = 0.712, .burst = 0.449,
     .first = 0.136, .first_steps = 3, .cache_reads = 1},
    {.name = "ft", .what = "FasterTransformer and Megatron", .rows = 214,
     .layer = 0.000109, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000313, .request = 1.05e-05, .bandwidth = 0.994,
     .prefill = 0.846, .mix = 0.95, .burst = 0.1,
     .first = 0.00971, .first_steps = 1, .cache_reads = 1},
    {.name = "hf", .what = "Transformers, eager", .rows = 61,
     .layer = 0.000584, .expert_layer = 0.00066, .expert = 6.01e-05,
     .step = 0.000299, .request = 1e-05, .bandwidth = 1,
     .prefill = 0.978, .mix = 0.95, .burst = 0.1,
     .first = 0.011, .first_steps = 1, .cache_reads = 3.25},
    {.name = "hf_quant", .what = "Transformers, eager, packed weights", .rows = 109,
     .layer = 0.000942, .expert_layer = 0.000709, .expert = 6.01e-05,
     .step = 0.0003, .request = 1e-05, .bandwidth = 0.996,
     .prefill = 0.997, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 3.4},
    {.name = "graphs", .what = "Transformers under CUDA graphs", .rows = 24,
     .layer = 6.28e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000302, .request = 1e-05, .bandwidth = 0.996,
     .prefill = 1.03, .mix = 0.95, .burst = 0.1,
     .first = 0.00834, .first_steps = 1, .cache_reads = 1},
    {.name = "neuron", .what = "Transformers NeuronX", .rows = 140,
     .layer = 0.000124, .expert_layer = 2e-05, .expert = 0,
     .step = 0.00032, .request = 1.04e-05, .bandwidth = 0.992,
     .prefill = 0.922, .mix = 0.95, .burst = 0.1,
     .first = 0.0128, .first_steps = 1, .cache_reads = 1.02},
    {.name = "tinychat", .what = "TinyChat", .rows = 29,
     .layer = 5.69e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000305, .request = 1e-05, .bandwidth = 1,
     .prefill = 1.03, .mix = 0.95, .burst = 0.1,
     .first = 0.00693, .first_steps = 1, .cache_reads = 1},
    {.name = "autoawq", .what = "AutoAWQ", .rows = 54,
     .layer = 0.000102, .expert_layer = 2.02e-05, .expert = 0,
     .step = 0.000323, .request = 1.01e-05, .bandwidth = 0.999,
     .prefill = 0.663, .mix = 0.95, .burst = 0.1,
     .first = 0.0178, .first_steps = 1, .cache_reads = 0.998},
    {.name = "turbomind", .what = "LMDeploy TurboMind", .rows = 49,
     .layer = 5.48e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000293, .request = 1.04e-05, .bandwidth = 1.01,
     .prefill = 1.06, .mix = 0.95, .burst = 0.1,
     .first = 0.00868, .first_steps = 1, .cache_reads = 0.979},
    {.name = "gptfast", .what = "gpt-fast (torch.compile)", .rows = 23,
     .layer = 3.62e-05, .expert_layer = 1.74e-05, .expert = 0,
     .step = 0.000261, .request = 9.95e-06, .bandwidth = 1.02,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1},
    {.name = "exllama", .what = "ExLlama and ExLlamaV2", .rows = 49,
     .layer = 3.6e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000248, .request = 9.98e-06, .bandwidth = 1.02,
     .prefill = 1.03, .mix = 0.95, .burst = 0.1,
     .first = 0.00921, .first_steps = 1, .cache_reads = 0.993},
    {.name = "mlc", .what = "MLC-LLM", .rows = 19,
     .layer = 5.13e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000279, .request = 9.98e-06, .bandwidth = 1,
     .prefill = 1.03, .mix = 0.95, .burst = 0.1,
     .first = 0.00861, .first_steps = 1, .cache_reads = 1},
    {.name = "eager", .what = "another engine, eager", .rows = 42,
     .layer = 0.000362, .expert_layer = 0.00032, .expert = 6.01e-05,
     .step = 0.000295, .request = 9.98e-06, .bandwidth = 1.01,
     .prefill = 0.518, .mix = 0.95, .burst = 0.1,
     .first = 0.0112, .first_steps = 1, .cache_reads = 3},
};

constexpr CardConstants kCards[] = {
    {.name = "ampere", .rows = 642, .bandwidth = 0.828,
     .prefill = 0.649, .arithmetic = 0.712, .layer = 1.17},
    {.name = "ada", .rows = 212, .bandwidth = 0.928,
     .prefill = 0.918, .arithmetic = 0.728, .layer = 0.629},
    {.name = "hopper", .rows = 2598, .bandwidth = 0.865,
     .prefill = 0.648, .arithmetic = 0.615, .layer = 1.32},
    {.name = "blackwell", .rows = 1961, .bandwidth = 0.854,
     .prefill = 0.601, .arithmetic = 0.448, .layer = 0.895},
    {.name = "bw_small", .rows = 22, .bandwidth = 0.849,
     .prefill = 0.609, .arithmetic = 0.501, .layer = 1},
    {.name = "cdna3", .rows = 122, .bandwidth = 0.653,
     .prefill = 0.409, .arithmetic = 0.342, .layer = 1.02},
    {.name = "neuron", .rows = 140, .bandwidth = 0.59,
     .prefill = 0.32, .arithmetic = 0.4, .layer = 1.04},
    {.name = "turing", .rows = 8, .bandwidth = 0.801,
     .prefill = 0.21, .arithmetic = 0.499, .layer = 0.99},
    {.name = "other", .rows = 19, .bandwidth = 0.967,
     .prefill = 0.402, .arithmetic = 0.389, .layer = 0.984},
};

constexpr SharedConstants kShared = {
    .reduce = 3.45e-06,
    .reduce_doubling = 1.64e-06,
    .reduce_pcie = 2.25e-05,
    .link_share = 0.395,
    .pcie_share = 0.559,
    .latent_layer = 3.97e-05,
    .recurrent_layer = 2.83e-05,
    .indexer_layer = 7.84e-05,
    .distinct = 0.851,
    .prefill_half = 88.2,
    .imbalance = 1.31,
    .expert_arithmetic = 0.74,
    .expert_prefill = 0.59,
    .attention_prefill = 0.448,
    .elementwise = 0.987,
    .tensor_prefill = 0.0569,
    .gather = 0.000224,
    .fp8_prefill = 0.755,
    .fp4_prefill = 0.737,
    .weight4_prefill = 1.23,
    .weight4_bandwidth = 0.91,
    .weight8_bandwidth = 0.905,
    .fp4_bandwidth = 0.732,
    .cache_bandwidth = 0.984,
    .expert_bandwidth = 0.905,
    .overflow = 0.0742,
};
// clang-format on

template <typename Rows>
auto Find(const Rows& rows, std::string_view name) -> decltype(&rows[0]) {
  const auto found = std::ranges::find_if(
      rows, [name](const auto& row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

}  // namespace

std::span<const EngineConstants> ServedEngines() { return kEngines; }
std::span<const CardConstants> ServedCards() { return kCards; }
const SharedConstants& ServedShared() { return kShared; }

const EngineConstants* FindServedEngine(std::string_view name) {
  return Find(kEngines, name);
}

const CardConstants* FindServedCards(std::string_view name) {
  return Find(kCards, name);
}

double SpreadOf(ServedQuantity quantity) {
  switch (quantity) {
    case ServedQuantity::kFirstToken:
      return 0.9;
    case ServedQuantity::kToken:
      return 0.45;
    case ServedQuantity::kRequest:
      return 0.5;
    case ServedQuantity::kThroughput:
      return 0.6;
  }
  return 0.9;
}

}  // namespace foretell
