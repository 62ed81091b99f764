// Peaks of a step of many equal blocks, from the step of a few of them, with
// what the bytes at each peak are for.
//
// In: a compiled graph in which each repeated run of blocks stands twice, one
// right after the other, its events of memory, a category for every storage,
// and which runs happen how often. Out: the peaks of the whole model's phases,
// and the bytes by category then. The first of the two runs is repeated; the
// second is its witness: where it does not do the same, where a run is entered
// twice in a phase, or where something lies between the two, there is no
// answer, and all blocks have to be compiled. Without repeats it is what
// AnalyzeMemory and Occupancy say.
//
// A step that makes something of all parameters at once (an optimizer's lists
// of tensors) is not to be folded: that is for the caller to know.
#ifndef FORETELL_ANALYSIS_FOLDED_MEMORY_H_
#define FORETELL_ANALYSIS_FOLDED_MEMORY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/composition.h"
#include "analysis/memory.h"
#include "graph/graph.h"
#include "graph/memory_shift.h"

namespace foretell {

inline constexpr size_t kFoldedCategories = 14;
using FoldedBytes = std::array<int64_t, kFoldedCategories>;

struct FoldedPhase {
  Phase phase = Phase::kForward;
  FoldedBytes start = {};  // by category, once names of the phase before went
  int64_t peak = 0;        // bytes, all that lives
  FoldedBytes bytes = {};  // by category; with `beside` they are the peak
  int64_t beside = 0;
  // That reached it, or ran before a shift did; none where the phase began so.
  OperationId at;
  bool is_shift = false;  // a shift reached it
  int64_t copies = 0;     // of its run that stand before it in the model
};

struct FoldRequest {
  const StepMemory* memory = nullptr;        // of the graph
  std::span<const uint8_t> categories = {};  // by storage
  std::span<const int64_t> beside = {};      // by operation, or empty
  // One rank's: memory that comes and goes beside the graph's operations, in
  // order; each phase's peak is then of its own operations and shifts alone
  // (AnalyzeRankMemory). The category of each kind.
  std::optional<std::span<const MemoryShift>> shifts = {};
  std::array<uint8_t, 3> shift_categories = {};
  // What lives throughout, of the whole model, by category.
  FoldedBytes resident = {};
  std::span<const RepeatedBlocks> repeats = {};
};

std::optional<std::vector<FoldedPhase>> FoldMemory(const Graph& graph,
                                                   const FoldRequest& request);

// How often each region happens in the whole model.
std::vector<int64_t> CopiesOfRegions(const Graph& graph,
                                     std::span<const RepeatedBlocks> repeats);

// A region's path in the whole model: its block stands for the one after
// `copies` more of its run.
std::string PathInWhole(const Graph& graph,
                        std::span<const RepeatedBlocks> repeats,
                        RegionId region, int64_t copies);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_FOLDED_MEMORY_H_
