// What a served step costs beside its bytes and FLOPs: few constants of each
// engine, of each family of cards and of all, fitted to measured runs.
//
// The table in serving_constants.cc is written by tools/fit/serving_speed.py,
// which names the rows, the priors and the groups that were left out to test
// it; docs of each constant are here. Times are seconds, the rest are factors.
#ifndef FORETELL_ANALYSIS_TIMING_SERVING_CONSTANTS_H_
#define FORETELL_ANALYSIS_TIMING_SERVING_CONSTANTS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace foretell {

struct EngineConstants {
  std::string_view name = {};  // "vllm"
  std::string_view what = {};  // "vLLM with its V1 engine"
  int64_t rows = 0;            // measured quantities that the fit saw
  double layer = 0;            // each layer of a step: launches and gaps
  double expert_layer = 0;     // besides, where the layer has experts
  double expert = 0;           // for each expert that is launched by itself
  double step = 0;             // each step: sampling, scheduling
  double request = 0;          // each request of a step
  double bandwidth = 1;        // beside the card's own
  double prefill = 1;          // of arithmetic, beside the card's own
  double mix = 1;          // share of a prompt's time that others' steps wait
  double first = 0;        // before a first token, each request
  double first_steps = 0;  // steps that a first token waits for
  double cache_reads = 1;  // how often the cache is read and written
  // Besides, each layer, where a request passes 8192 tokens: early vLLM
  // captured no longer ones.
  double long_layer = 0;
  double first_prompt = 1;  // of a prompt's time, before a first token
  double first_token = 0;   // before a first token, each of the prompt's
  double first_data = 0;    // steps besides, where data-parallel ranks agree
};

struct CardConstants {
  std::string_view name = {};  // "hopper"
  int64_t rows = 0;
  double bandwidth = 1;   // of what the maker states, in a step
  double prefill = 1;     // of the peak, in a long prompt
  double arithmetic = 1;  // of the peak, in a step of many requests
  double layer = 1;       // of an engine's time each layer
};

struct SharedConstants {
  double reduce = 0;             // an all-reduce over NVLink
  double reduce_doubling = 0;    // and each doubling of its ranks
  double reduce_pcie = 0;        // each doubling over PCIe
  double link_share = 1;         // of NVLink's bandwidth
  double pcie_share = 1;         // of PCIe's
  double latent_layer = 0;       // a layer with latent attention, besides
  double recurrent_layer = 0;    // in models with recurrent layers
  double indexer_layer = 0;      // where attention picks tokens first
  double distinct = 1;           // effective draws of experts, for each real
  double prefill_half = 0;       // rows at which a product is half as fast
  double imbalance = 1;          // of the fullest rank's experts
  double expert_arithmetic = 1;  // of experts' products to dense ones'
  double expert_prefill = 1;     // the same in a prompt
  double attention_prefill = 1;  // of the peak
  double elementwise = 1;        // passes over ten widths each layer
  double tensor_prefill = 0;     // loss for each doubling of ranks
  double gather = 0;             // of tokens over data-parallel ranks, a layer
  double fp8_prefill = 1;        // of the fp8 peak's gain
  double fp4_prefill = 1;
  double weight4_prefill = 1;  // weight-only in four bits
  double weight4_bandwidth = 1;
  double weight8_bandwidth = 1;
  double fp4_bandwidth = 1;     // dense layers
  double cache_bandwidth = 1;   // of the cache, beside the weights'
  double expert_bandwidth = 1;  // of experts
};

// Half widths of the 90 % intervals, as logarithms of a ratio, over runs whose
// group (model, card and engine) the fit had not seen.
struct ServedSpreads {
  double first_token = 0;
  double token = 0;
  double request = 0;
  double throughput = 0;
  double prompt = 0;
};

// The numbers: serving_numbers.cc, written by tools/fit/serving_speed.py.
std::span<const EngineConstants> ServedEngines();
std::span<const CardConstants> ServedCards();
const SharedConstants& ServedShared();
const ServedSpreads& SpreadsOfServed();

// Null where there is none of that name.
const EngineConstants* FindServedEngine(std::string_view name);
const CardConstants* FindServedCards(std::string_view name);

// Quantities whose spread is told apart.
enum class ServedQuantity : uint8_t {
  kFirstToken,  // of requests in flight
  kToken,       // of requests in flight
  kRequest,     // a batch from its start to its end
  kThroughput,
  kPrompt,  // a batch of prompts by itself
};

// Of `SpreadsOfServed`.
double SpreadOf(ServedQuantity quantity);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_SERVING_CONSTANTS_H_
