// Written by tools/fit/serving_speed.py; do not edit.
#include "analysis/timing/serving_constants.h"

#include <algorithm>

namespace foretell {
namespace {

// clang-format off
constexpr EngineConstants kEngines[] = {
    {.name = "trtllm", .what = "TensorRT-LLM with compiled engines", .rows = 399,
     .layer = 7e-05, .expert_layer = 1.97e-05, .expert = 0,
     .step = 0.000326, .request = 6.43e-06, .bandwidth = 1.01,
     .prefill = 1.47, .mix = 0.926, .burst = 0.1,
     .first = 0.00427, .first_steps = 0.928, .cache_reads = 0.974,
     .long_layer = 0, .first_prompt = 0.876},
    {.name = "trtllm_pt", .what = "TensorRT-LLM with its PyTorch backend", .rows = 1232,
     .layer = 4.76e-05, .expert_layer = 2.06e-05, .expert = 0,
     .step = 0.000235, .request = 5.09e-06, .bandwidth = 1.04,
     .prefill = 0.834, .mix = 0.948, .burst = 0.102,
     .first = 0.00111, .first_steps = 11, .cache_reads = 1.01,
     .long_layer = 0, .first_prompt = 0.934},
    {.name = "vllm", .what = "vLLM with its V1 engine", .rows = 2074,
     .layer = 4.86e-05, .expert_layer = 2.75e-05, .expert = 0,
     .step = 0.000213, .request = 9.38e-06, .bandwidth = 1.01,
     .prefill = 1.12, .mix = 0.946, .burst = 0.0736,
     .first = 0.0109, .first_steps = 2.38, .cache_reads = 0.998,
     .long_layer = 0, .first_prompt = 1.54},
    {.name = "vllm_2023", .what = "vLLM of 2023", .rows = 17,
     .layer = 0.000294, .expert_layer = 0.00024, .expert = 0,
     .step = 0.000304, .request = 1e-05, .bandwidth = 1.04,
     .prefill = 0.957, .mix = 0.95, .burst = 0.1,
     .first = 0.0106, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "vllm_early", .what = "vLLM 0.4 and 0.5", .rows = 43,
     .layer = 9.4e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.0003, .request = 1e-05, .bandwidth = 1.01,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0.000202, .first_prompt = 1},
    {.name = "vllm_06", .what = "vLLM 0.6 and 0.7", .rows = 64,
     .layer = 6.73e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000298, .request = 1e-05, .bandwidth = 1.03,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 0.996,
     .long_layer = 4.06e-05, .first_prompt = 1},
    {.name = "vllm_rocm", .what = "vLLM on ROCm", .rows = 120,
     .layer = 6.17e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000302, .request = 1.01e-05, .bandwidth = 1.01,
     .prefill = 1, .mix = 0.948, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "sglang", .what = "SGLang", .rows = 962,
     .layer = 3.64e-05, .expert_layer = 3.61e-05, .expert = 0,
     .step = 0.000334, .request = 1.21e-05, .bandwidth = 0.95,
     .prefill = 1.55, .mix = 0.755, .burst = 0.293,
     .first = 0.173, .first_steps = 0.0679, .cache_reads = 0.996,
     .long_layer = 0, .first_prompt = 2},
    {.name = "ft", .what = "FasterTransformer and Megatron", .rows = 214,
     .layer = 8.07e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000294, .request = 1.01e-05, .bandwidth = 1,
     .prefill = 0.789, .mix = 0.95, .burst = 0.1,
     .first = 0.00854, .first_steps = 1, .cache_reads = 0.998,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf", .what = "Transformers, eager", .rows = 61,
     .layer = 0.000511, .expert_layer = 0.000665, .expert = 7.58e-05,
     .step = 0.000307, .request = 1e-05, .bandwidth = 0.711,
     .prefill = 0.93, .mix = 0.95, .burst = 0.1,
     .first = 0.0108, .first_steps = 1, .cache_reads = 1.35,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf_quant", .what = "Transformers, eager, packed weights", .rows = 85,
     .layer = 0.000659, .expert_layer = 0.00068, .expert = 7.58e-05,
     .step = 0.000299, .request = 1e-05, .bandwidth = 0.978,
     .prefill = 0.998, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1.93,
     .long_layer = 0, .first_prompt = 1},
    {.name = "hf_fp8", .what = "Transformers, eager, fp8 weights", .rows = 24,
     .layer = 0.00153, .expert_layer = 0.000852, .expert = 7.58e-05,
     .step = 0.0003, .request = 1e-05, .bandwidth = 0.996,
     .prefill = 0.998, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1.07,
     .long_layer = 0, .first_prompt = 1},
    {.name = "graphs", .what = "Transformers under CUDA graphs", .rows = 24,
     .layer = 5.92e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000298, .request = 1e-05, .bandwidth = 1,
     .prefill = 1.1, .mix = 0.95, .burst = 0.1,
     .first = 0.00894, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "neuron", .what = "Transformers NeuronX", .rows = 140,
     .layer = 0.000116, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000314, .request = 1.03e-05, .bandwidth = 0.976,
     .prefill = 0.685, .mix = 0.95, .burst = 0.1,
     .first = 0.0118, .first_steps = 1, .cache_reads = 1.02,
     .long_layer = 0, .first_prompt = 1},
    {.name = "tinychat", .what = "TinyChat", .rows = 29,
     .layer = 5.46e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000298, .request = 1e-05, .bandwidth = 1.01,
     .prefill = 1.12, .mix = 0.95, .burst = 0.1,
     .first = 0.00785, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "autoawq", .what = "AutoAWQ", .rows = 54,
     .layer = 8.87e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000309, .request = 1e-05, .bandwidth = 1.01,
     .prefill = 0.506, .mix = 0.95, .burst = 0.1,
     .first = 0.0124, .first_steps = 1, .cache_reads = 0.997,
     .long_layer = 0, .first_prompt = 1},
    {.name = "turbomind", .what = "LMDeploy TurboMind", .rows = 49,
     .layer = 5.91e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000302, .request = 1.04e-05, .bandwidth = 1.15,
     .prefill = 1.07, .mix = 0.95, .burst = 0.1,
     .first = 0.00928, .first_steps = 1, .cache_reads = 0.987,
     .long_layer = 0, .first_prompt = 1},
    {.name = "gptfast", .what = "gpt-fast (torch.compile)", .rows = 23,
     .layer = 3.09e-05, .expert_layer = 1.68e-05, .expert = 0,
     .step = 0.00027, .request = 9.96e-06, .bandwidth = 1.06,
     .prefill = 1, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "exllama", .what = "ExLlama and ExLlamaV2", .rows = 49,
     .layer = 3.59e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000257, .request = 9.98e-06, .bandwidth = 1.07,
     .prefill = 1.13, .mix = 0.95, .burst = 0.1,
     .first = 0.00951, .first_steps = 1, .cache_reads = 0.987,
     .long_layer = 0, .first_prompt = 1},
    {.name = "mlc", .what = "MLC-LLM", .rows = 19,
     .layer = 6.16e-05, .expert_layer = 2e-05, .expert = 0,
     .step = 0.000287, .request = 9.99e-06, .bandwidth = 0.996,
     .prefill = 1.12, .mix = 0.95, .burst = 0.1,
     .first = 0.00899, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
    {.name = "eager", .what = "another engine, eager", .rows = 42,
     .layer = 0.000426, .expert_layer = 0.00032, .expert = 7.58e-05,
     .step = 0.000295, .request = 9.98e-06, .bandwidth = 0.948,
     .prefill = 0.39, .mix = 0.95, .burst = 0.1,
     .first = 0.01, .first_steps = 1, .cache_reads = 1,
     .long_layer = 0, .first_prompt = 1},
};

constexpr CardConstants kCards[] = {
    {.name = "ampere", .rows = 642, .bandwidth = 0.85,
     .prefill = 0.654, .arithmetic = 0.721, .layer = 1.62},
    {.name = "ada", .rows = 212, .bandwidth = 0.898,
     .prefill = 0.847, .arithmetic = 0.711, .layer = 0.681},
    {.name = "hopper", .rows = 2434, .bandwidth = 0.898,
     .prefill = 0.611, .arithmetic = 0.631, .layer = 1.18},
    {.name = "hopper_narrow", .rows = 164, .bandwidth = 0.433,
     .prefill = 0.752, .arithmetic = 0.799, .layer = 1.36},
    {.name = "blackwell", .rows = 1961, .bandwidth = 0.874,
     .prefill = 0.716, .arithmetic = 0.376, .layer = 0.838},
    {.name = "bw_small", .rows = 22, .bandwidth = 0.848,
     .prefill = 0.612, .arithmetic = 0.501, .layer = 1},
    {.name = "cdna3", .rows = 122, .bandwidth = 0.651,
     .prefill = 0.401, .arithmetic = 0.295, .layer = 1.02},
    {.name = "neuron", .rows = 140, .bandwidth = 0.59,
     .prefill = 0.317, .arithmetic = 0.4, .layer = 1.04},
    {.name = "turing", .rows = 8, .bandwidth = 0.802,
     .prefill = 0.28, .arithmetic = 0.5, .layer = 0.999},
    {.name = "other", .rows = 19, .bandwidth = 0.97,
     .prefill = 0.394, .arithmetic = 0.381, .layer = 0.997},
};

constexpr SharedConstants kShared = {
    .reduce = 3.69e-06,
    .reduce_doubling = 1.96e-06,
    .reduce_pcie = 1.22e-05,
    .link_share = 0.515,
    .pcie_share = 0.538,
    .latent_layer = 4.25e-05,
    .recurrent_layer = 3.1e-05,
    .indexer_layer = 8.02e-05,
    .distinct = 0.904,
    .prefill_half = 102,
    .imbalance = 1.1,
    .expert_arithmetic = 0.746,
    .expert_prefill = 0.764,
    .attention_prefill = 0.53,
    .elementwise = 0.98,
    .tensor_prefill = 0.0544,
    .gather = 3.79e-05,
    .fp8_prefill = 0.907,
    .fp4_prefill = 0.812,
    .weight4_prefill = 1.31,
    .weight4_bandwidth = 0.925,
    .weight8_bandwidth = 0.895,
    .fp4_bandwidth = 0.72,
    .cache_bandwidth = 0.872,
    .expert_bandwidth = 0.879,
    .burst_prompt = 3.24,
    .burst_queue = 0.712,
    .burst_mix = 0.584,
    .first_experts = 1.05,
    .overflow = 0.0296,
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
