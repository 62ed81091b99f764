// What a launch's cache and concurrency become as one flag moves, and how many
// requests of given lengths fit.
//
// In: a configuration, the settings of a launch, the card and its total. Out:
// one row for the launch as it is and one for each change, with the flag to
// paste. Figures are those of serving_memory.h and the engine's own planning.
#ifndef FORETELL_ANSWERS_SERVING_SEARCH_H_
#define FORETELL_ANSWERS_SERVING_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/figure.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct ServingPoint {
  std::string change;  // "--max-num-seqs 512"; empty for the launch itself
  Bytes cache;         // for the KV cache, of one GPU
  // By the best value of `cache`; nothing where no plan can be made.
  std::optional<int64_t> blocks;
  std::optional<double> concurrency;  // requests of the served length
  std::optional<double> requests;     // of the asked lengths, where asked
  std::string refusal;                // why not, where the plan is refused
};

// `tokens`: input and output of one request; 0 where nothing is asked.
std::vector<ServingPoint> ServingSensitivity(const ModelConfig& config,
                                             const ServingSettings& settings,
                                             const ServingCard& card,
                                             const Bytes& total,
                                             int64_t tokens);

// The smallest change among a few that serves so many requests of so many
// tokens at once; nothing where none does.
std::optional<ServingPoint> ServingFor(const ModelConfig& config,
                                       const ServingSettings& settings,
                                       const ServingCard& card,
                                       const Bytes& total, int64_t requests,
                                       int64_t tokens);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_SEARCH_H_
