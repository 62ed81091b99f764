// Written by tools/fit/serving_speed.py; do not edit.
#include "analysis/timing/serving_constants.h"

#include <algorithm>

namespace foretell {
namespace {

// clang-format off
constexpr EngineConstants kEngines[] = {
    {.name = "trtllm", .what = "TensorRT-LLM with compiled engines", .rows = 399,
     .layer = 6.65e-05, .expert_layer = 1.96e-05, .expert = 0,
     .step = 0.000326, .request = 6.96e-06, .bandwidth = 1.01,
     .prefill = 1.42, .mix = 0.937, .burst = 0.1,
     .first = 0.0035, .first_steps = 0.947, .cache_reads = 0.979,
     .long_layer = 0, .first_prompt = 0.899},
    {.name = "trtllm_pt", .what = "TensorRT-LLM with its PyTorch backend", .rows = 1232,
     .layer = 4.84e-05, .expert_layer = 2.07e-05, .expert = 0,
     .step = 0.00023, .request = 5.43e-06, .bandwidth = 1.06,
     .prefill = 0.804, .mix = 0.952, .burst = 0.104,
     .first = 0.00088, .first_steps = 11.5, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 0.893},
    {.name = "vllm", .what = "vLLM with its V1 engine", .rows = 2074,
     .layer = 4.88e-05, .expert_layer = 2.76e-05, .expert = 0,
     .step = 0.000207, .request = 9.44e-06, .bandwidth = 1.01,
     .prefill = 1.05, .mix = 0.948, .burst = 0.0736,
     .first = 0.0114, .first_steps = 2.2, .cache_reads = 0.994,
     .long_layer = 0, .first_prompt = 1.56},
    {.name = "vllm_2023", .what = "vLLM of 2023", .rows = 17,
     .layer = 0.000295, .expert_layer = 0.00024, .expert = 0,
     .step = 0.000303, .request = 1e-05, .bandwidth = 1.03,
     .prefill = 0.951, .mix = 0.95, .burst = 0.1,
     .first = 0.0108, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "vllm_early", .what = "vLLM 0.4 and 0.5", .rows = 43,
     .layer = 9.7e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.0003, .request = 1e-05, .bandwidth = 1.01,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0.0002, .first_prompt = 1},
    {.name = "vllm_06", .what = "vLLM 0.6 and 0.7", .rows = 64,
     .layer = 6.67e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000296, .request = 9.99e-06, .bandwidth = 1.03,
     .prefill = 1.01, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 0.996,
     .long_layer = 6.46e-05, .first_prompt = 1},
    {.name = "vllm_rocm", .what = "vLLM on ROCm", .rows = 120,
     .layer = 6.18e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000301, .request = 9.87e-06, .bandwidth = 1.01,
     .prefill = 1.01, .mix = 0.948, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "sglang", .what = "SGLang", .rows = 962,
     .layer = 3.37e-05, .expert_layer = 3.92e-05, .expert = 0,
     .step = 0.000333, .request = 1.26e-05, .bandwidth = 0.964,
     .prefill = 1.39, .mix = 0.736, .burst = 0.293,
     .first = 0.174, .first_steps = 0.0677, .cache_reads = 0.997,
     .long_layer = 0, .first_prompt = 2},
    {.name = "ft", .what = "FasterTransformer and Megatron", .rows = 214,
     .layer = 7.97e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.0003, .request = 1e-05, .bandwidth = 0.989,
     .prefill = 0.737, .mix = 0.95, .burst = 0.1,
     .first = 0.00932, .first_steps = 1, .cache_reads = 0.999,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf", .what = "Transformers, eager", .rows = 61,
     .layer = 0.00054, .expert_layer = 0.000665, .expert = 5.23e-05,
     .step = 0.000305, .request = 1e-05, .bandwidth = 0.824,
     .prefill = 0.917, .mix = 0.95, .burst = 0.1,
     .first = 0.011, .first_steps = 1, .cache_reads = 1.49,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf_quant", .what = "Transformers, eager, packed weights", .rows = 85,
     .layer = 0.000696, .expert_layer = 0.00068, .expert = 5.23e-05,
     .step = 0.0003, .request = 1e-05, .bandwidth = 0.979,
     .prefill = 0.998, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1.68,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf_fp8", .what = "Transformers, eager, fp8 weights", .rows = 24,
     .layer = 0.00148, .expert_layer = 0.000841, .expert = 5.23e-05,
     .step = 0.000301, .request = 1e-05, .bandwidth = 0.998,
     .prefill = 0.999, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1.04,
     .long_layer = 0, .first_prompt = 1},
    {.name = "graphs", .what = "Transformers under CUDA graphs", .rows = 24,
     .layer = 5.9e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000298, .request = 1e-05, .bandwidth = 1,
     .prefill = 1.09, .mix = 0.95, .burst = 0.1,
     .first = 0.00863, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "neuron", .what = "Transformers NeuronX", .rows = 140,
     .layer = 0.000116, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000315, .request = 1.03e-05, .bandwidth = 0.976,
     .prefill = 0.658, .mix = 0.95, .burst = 0.1,
     .first = 0.0119, .first_steps = 1, .cache_reads = 1.02,
     .long_layer = 0, .first_prompt = 1},
    {.name = "tinychat", .what = "TinyChat", .rows = 29,
     .layer = 5.48e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.0003, .request = 1e-05, .bandwidth = 1.01,
     .prefill = 1.1, .mix = 0.95, .burst = 0.1,
     .first = 0.00736, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "autoawq", .what = "AutoAWQ", .rows = 54,
     .layer = 9.17e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000311, .request = 1e-05, .bandwidth = 1.02,
     .prefill = 0.457, .mix = 0.95, .burst = 0.1,
     .first = 0.0132, .first_steps = 1, .cache_reads = 0.997,
     .long_layer = 0, .first_prompt = 1},
    {.name = "turbomind", .what = "LMDeploy TurboMind", .rows = 49,
     .layer = 5.82e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000299, .request = 1.04e-05, .bandwidth = 1.16,
     .prefill = 1.08, .mix = 0.95, .burst = 0.1,
     .first = 0.00906, .first_steps = 1, .cache_reads = 0.985,
     .long_layer = 0, .first_prompt = 1},
    {.name = "gptfast", .what = "gpt-fast (torch.compile)", .rows = 23,
     .layer = 3.11e-05, .expert_layer = 1.68e-05, .expert = 0,
     .step = 0.000268, .request = 9.96e-06, .bandwidth = 1.07,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "exllama", .what = "ExLlama and ExLlamaV2", .rows = 49,
     .layer = 3.5e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.00025, .request = 9.97e-06, .bandwidth = 1.04,
     .prefill = 1.1, .mix = 0.95, .burst = 0.1,
     .first = 0.00938, .first_steps = 1, .cache_reads = 0.992,
     .long_layer = 0, .first_prompt = 1},
    {.name = "mlc", .what = "MLC-LLM", .rows = 19,
     .layer = 6.3e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000286, .request = 9.99e-06, .bandwidth = 0.996,
     .prefill = 1.09, .mix = 0.95, .burst = 0.1,
     .first = 0.00873, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "eager", .what = "another engine, eager", .rows = 42,
     .layer = 0.000439, .expert_layer = 0.00032, .expert = 5.23e-05,
     .step = 0.000297, .request = 9.99e-06, .bandwidth = 0.962,
     .prefill = 0.393, .mix = 0.95, .burst = 0.1,
     .first = 0.0104, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
};

constexpr CardConstants kCards[] = {
    {.name = "ampere", .rows = 642, .bandwidth = 0.839,
     .prefill = 0.668, .arithmetic = 0.706, .layer = 1.57},
    {.name = "ada", .rows = 212, .bandwidth = 0.919,
     .prefill = 0.866, .arithmetic = 0.723, .layer = 0.739},
    {.name = "hopper", .rows = 2434, .bandwidth = 0.887,
     .prefill = 0.681, .arithmetic = 0.641, .layer = 1.17},
    {.name = "hopper_narrow", .rows = 164, .bandwidth = 0.432,
     .prefill = 0.748, .arithmetic = 0.799, .layer = 1.39},
    {.name = "blackwell", .rows = 1961, .bandwidth = 0.874,
     .prefill = 0.637, .arithmetic = 0.446, .layer = 0.836},
    {.name = "bw_small", .rows = 22, .bandwidth = 0.848,
     .prefill = 0.608, .arithmetic = 0.501, .layer = 1},
    {.name = "cdna3", .rows = 122, .bandwidth = 0.649,
     .prefill = 0.401, .arithmetic = 0.322, .layer = 1.02},
    {.name = "neuron", .rows = 140, .bandwidth = 0.59,
     .prefill = 0.313, .arithmetic = 0.4, .layer = 1.04},
    {.name = "turing", .rows = 8, .bandwidth = 0.801,
     .prefill = 0.284, .arithmetic = 0.5, .layer = 0.999},
    {.name = "other", .rows = 19, .bandwidth = 0.969,
     .prefill = 0.39, .arithmetic = 0.376, .layer = 0.996},
};

constexpr SharedConstants kShared = {
    .reduce = 3.67e-06,
    .reduce_doubling = 1.88e-06,
    .reduce_pcie = 1.22e-05,
    .link_share = 0.486,
    .pcie_share = 0.545,
    .latent_layer = 4.4e-05,
    .recurrent_layer = 3.26e-05,
    .indexer_layer = 8.05e-05,
    .distinct = 0.908,
    .prefill_half = 97.8,
    .imbalance = 1.12,
    .expert_arithmetic = 0.762,
    .expert_prefill = 0.739,
    .attention_prefill = 0.535,
    .elementwise = 0.981,
    .tensor_prefill = 0.053,
    .gather = 3.59e-05,
    .fp8_prefill = 0.872,
    .fp4_prefill = 0.85,
    .weight4_prefill = 1.3,
    .weight4_bandwidth = 0.934,
    .weight8_bandwidth = 0.891,
    .fp4_bandwidth = 0.719,
    .cache_bandwidth = 0.866,
    .expert_bandwidth = 0.882,
    .burst_prompt = 2.93,
    .burst_queue = 0.712,
    .burst_mix = 0.562,
    .first_experts = 1.04,
    .overflow = 0.0286,
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
      return 0.85;
    case ServedQuantity::kToken:
      return 0.45;
    case ServedQuantity::kRequest:
      return 0.75;
    case ServedQuantity::kThroughput:
      return 0.43;
  }
  return 0.85;
}

}  // namespace foretell
