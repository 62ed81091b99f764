// A step of many equal blocks from the step of a few: what each block adds is
// counted once and repeated.
//
// In: a compiled graph that holds every kind of block at least once, and how
// often a run of blocks happens in the whole model. Out: the figures of the
// whole, equal to those of the step compiled in full, which a property test
// proves. The sequence of events (bytes that appear and go) is cut where it
// passes from block to block; a repeated run adds its change of level each
// time, and its highest point above the level it starts from bounds the peak.
//
// Nothing where the sequence does not cut that way: a block that is entered
// twice in one phase, an operation over all parameters at once that allocates.
#ifndef FORETELL_ANALYSIS_COMPOSITION_H_
#define FORETELL_ANALYSIS_COMPOSITION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace foretell {

// Blocks [first, first + period) of a list of blocks stand for `copies` times
// as many, one after another.
struct RepeatedBlocks {
  RegionId list;  // the region whose children the blocks are
  int64_t first = 0;
  int64_t period = 1;
  int64_t copies = 1;
};

struct ComposedStep {
  std::map<std::string, int64_t> flops_forward;  // "aten.mm" -> FLOPs
  std::map<std::string, int64_t> flops_backward;
  int64_t parameter_bytes = 0;
  int64_t resident = 0;  // parameters, buffers, inputs, states
  int64_t kept_bytes = 0;
  int64_t kept_count = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t live_after_forward = 0;
  std::map<Phase, int64_t> peaks;
};

// `states` are an optimizer's storages, each with the parameter it is for.
std::optional<ComposedStep> Compose(
    const Graph& graph, std::span<const RepeatedBlocks> repeats,
    std::span<const std::pair<StorageId, ValueId>> states);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_COMPOSITION_H_
