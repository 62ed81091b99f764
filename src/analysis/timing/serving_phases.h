// How long the phases of serving take: a prompt, a step of decoding, and a
// request among others at steady state.
//
// In: a model's shape, how its weights are stored, a card, an engine, how the
// model is laid over cards, and the load. Out: seconds, by what they go to.
//
// A step of b requests takes, on the rank that all wait for,
//   weights and cache read at the card's attained bandwidth, or the products'
//   arithmetic where that is longer; a fixed time each layer (launches and
//   gaps: microseconds with CUDA graphs, near a millisecond eagerly launched);
//   two all-reduces a layer over tensor-parallel ranks; a fixed time each step
//   and each request. Experts are read as far as the step's tokens meet them:
//   E (1 - (1 - k/E)^tokens) of each layer.
// A prompt takes its arithmetic at the attained share of the peak, attention's
//   quadratic part, passes over activations, all-reduces by volume, and the
//   step's fixed time each chunk.
// At steady state with C requests in flight every output token waits for its
//   step and for its share of the others' prompts, (C - 1)/OSL prompts. A first
//   token's wait is followed step by step (closed_load.h): the prompts before
//   its own, and a place where the cache is full.
// Does not model: preemption, prefix hits that are not stated, disaggregated
// prefill.
// Source of the form: reference measurements of step times over batch and
// context; constants: serving_constants.h.
#ifndef FORETELL_ANALYSIS_TIMING_SERVING_PHASES_H_
#define FORETELL_ANALYSIS_TIMING_SERVING_PHASES_H_

#include <optional>

#include "analysis/timing/served_shape.h"
#include "analysis/timing/serving_constants.h"

namespace foretell {

// How a part of the weights is stored and multiplied.
struct ServedFormat {
  double bytes = 2;  // of an element, scales included
  double peak = 0;   // FLOP/s of the arithmetic that multiplies it
};

enum class WeightKind : uint8_t {
  kPlain,    // 16 or 32 bits
  kEight,    // eight bits, weights and activations
  kFour,     // nvfp4, weights and activations
  kOnly8,    // weights alone in eight bits
  kOnly4,    // weights alone in four bits or so
  kExperts,  // experts alone in four bits
};

struct ServedJob {
  ServedShape shape;
  WeightKind kind = WeightKind::kPlain;
  ServedFormat attention;
  ServedFormat mlp;
  ServedFormat experts;
  double head_bytes = 2;
  double cache_bytes = 2;  // of a number of the cache
  // The card.
  CardConstants card;
  double bandwidth = 0;     // bytes/s, stated
  double peak16 = 0;        // FLOP/s in 16 bits
  double link = 0;          // bytes/s, one direction
  bool has_nvlink = false;  // or a link of its kind
  double memory = 0;        // bytes that the runtime reports
  double cache_room = 0;    // bytes left for the cache, where an account says
  double clock_share = 1;   // below 1 where its power is limited
  EngineConstants engine;
  // The host launches as the card computes: the longer of both counts.
  bool is_eager = false;
  // The layout.
  double tensor = 1;
  double pipeline = 1;
  double data = 1;           // of attention; experts stay one group
  double expert_ranks = 1;   // over which whole experts are spread
  double expert_tensor = 1;  // over which each expert is split
  // One step of decoding gives so many tokens, by speculation: 1 without.
  double tokens_a_step = 1;
  double drafts = 0;           // tokens that a step checks besides
  double draft_share = 0;      // of the model's active weights, of the drafter
  double offloaded_bytes = 0;  // of weights, read over PCIe each step
  double host_link = 0;        // bytes/s
};

// Seconds by what they go to; `total` is their sum.
struct PhaseTime {
  double weights = 0;  // and activations, of a prompt
  double cache = 0;
  double arithmetic = 0;
  double communication = 0;
  double launches = 0;     // the host's, gaps and fixed costs
  double host_memory = 0;  // weights over PCIe
  double Total() const {
    return weights + cache + arithmetic + communication + launches +
           host_memory;
  }
};

struct ServedLoad {
  double concurrency = 1;  // requests in flight, over all ranks
  double isl = 0;
  double osl = 1;
  double cached = 0;  // tokens of the prompt that the cache holds already
  double rate = 0;    // requests a second, where the load is open; else 0
  // Of a closed load: the least length, of what is asked for, and requests of
  // each client (1: all are sent at once, and no more).
  double shortest = 1;
  int64_t waves = 10;
  // Steps between two looks of the scheduler at what has arrived.
  int64_t poll = 1;
  // Steps until the first token is sent: engines may send several at a time.
  double emitted_after = 0;
};

struct ServedPoint {
  double batch = 0;     // decoding at once, on a data-parallel rank
  double capacity = 0;  // requests that the cache holds, on such a rank
  double first_token = 0;
  double token = 0;
  double requests_a_second = 0;
  PhaseTime decode;         // a step without others' prompts
  PhaseTime prefill;        // one prompt by itself
  double interference = 0;  // of `token`: others' prompts
  double queue = 0;         // of `first_token`: waiting
};

// `batch` requests on one data-parallel rank, of `context` tokens each,
// which grow to `longest`.
PhaseTime DecodeTime(const ServedJob& job, double batch, double context,
                     double longest = 0);
// `tokens` of prompts of `prompt` tokens, `cached` of them there already.
PhaseTime PrefillTime(const ServedJob& job, double tokens, double prompt,
                      double cached = 0);
// Requests of so many tokens in all that one data-parallel rank holds.
double CacheCapacity(const ServedJob& job, const ServedLoad& load);

// In flight at steady state.
ServedPoint ServedSteadily(const ServedJob& job, const ServedLoad& load);
// A batch that starts and ends together: seconds of all of it.
double ServedAtOnce(const ServedJob& job, const ServedLoad& load);
// As many at once as the cache holds, from a full queue: output tokens a
// second, over all ranks.
double ServedThroughput(const ServedJob& job, const ServedLoad& load);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_SERVING_PHASES_H_
