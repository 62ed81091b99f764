// What a launch's cache and concurrency become as one flag moves, and which
// change serves so many requests of so many tokens.
//
// In: how a changed launch resolves (the engine's own rules see every change),
// the card. Out: one point for the launch as it is and one for each change,
// with the flags to paste. A change that the engine refuses, or whose cache
// cannot be planned, keeps its reason instead of figures.
#ifndef FORETELL_ANSWERS_SERVING_SEARCH_H_
#define FORETELL_ANSWERS_SERVING_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/figure.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

// The launch with words added behind its own.
struct ServingTry {
  ModelConfig model;  // with what the launch overrides
  ServingSettings settings;
  bool is_length_fitted = false;
  std::string refusal;  // the engine's; empty where it accepts
};
using ServingResolve =
    std::function<ServingTry(const std::vector<std::string>& words)>;

struct ServingPoint {
  std::string change;  // "--max-num-seqs 512"; empty for the launch itself
  Bytes cache = Bytes::Unknown("no cache was planned");  // of one GPU
  // By the best value of `cache`; nothing where no plan can be made.
  std::optional<int64_t> blocks;
  std::optional<int64_t> printed_tokens;
  std::optional<double> concurrency;  // requests of the served length
  // Of the asked length, under the least, the likely and the most of `cache`.
  std::optional<double> requests_low;
  std::optional<double> requests;
  std::optional<double> requests_high;
  std::string refusal;      // why there is no plan
  bool is_refused = false;  // by the engine's validation
};

// `tokens`: input and output of one request; 0 where nothing is asked.
std::vector<ServingPoint> ServingSensitivity(const ServingResolve& resolve,
                                             const ServingCard& card,
                                             int64_t tokens);

struct ServingGoal {
  int64_t requests = 1;  // at once
  int64_t tokens = 1;    // of each, input and output
};

struct ServingFound {
  // The smallest change that serves the goal under the least that may be left;
  // where none does, one that serves it by the best value.
  std::optional<ServingPoint> point;
  bool is_sure = false;
  std::vector<ServingPoint> tried;  // in the order of trying
};

ServingFound ServingFor(const ServingResolve& resolve, const ServingCard& card,
                        const ServingGoal& goal);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_SEARCH_H_
