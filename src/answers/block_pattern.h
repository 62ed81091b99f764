// Which of a model's blocks repeat, so that few of them can stand for all.
//
// In: a built model. Out: one pattern for each list of blocks, read from their
// parameters, buffers and kept states; none where one list has no pattern. That
// equal blocks run equally is for the caller to check.
#ifndef FORETELL_ANSWERS_BLOCK_PATTERN_H_
#define FORETELL_ANSWERS_BLOCK_PATTERN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/composition.h"
#include "graph/graph.h"
#include "models/build.h"

namespace foretell {

// A list of blocks: which of them repeat, and how many the model has.
struct BlockPattern {
  std::string list;  // path: "model.layers"
  int64_t blocks = 0;
  int64_t first = 0;   // blocks from here on repeat
  int64_t period = 1;  // every so many
};

std::vector<BlockPattern> PatternsOf(const BuiltModel& built);

// The patterns in a graph of a model with `compiled` blocks of each list, which
// stands for one with `more` of them; for all that there are where absent.
std::vector<RepeatedBlocks> RepeatsIn(const Graph& graph,
                                      std::span<const BlockPattern> patterns,
                                      int64_t compiled,
                                      std::optional<int64_t> more);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_BLOCK_PATTERN_H_
