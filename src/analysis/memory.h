// Memory over one step: which storages live when, and the peak of each phase.
//
// In: a graph with its phases. Out: bytes, exact, as the tensors' storages
// have them. A storage lives from the operation that makes it until the last
// name, container or record of autograd lets it go; parameters, buffers and
// inputs live all the time, an optimizer's earlier states from the start.
//
// A phase's peak is the most that lives when one of its operations has run, or
// as the phase begins: before the names go that end with the phase before.
// The forward's takes in the first operation of the backward, which makes the
// loss's own gradient. (tools/pytorch/record.py, peak_of.)
//
// Not in it: what libraries take inside, the allocator's rounding, the
// driver's context.
#ifndef FORETELL_ANALYSIS_MEMORY_H_
#define FORETELL_ANALYSIS_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/memory_shift.h"

namespace foretell {

// Bytes that appear (positive) or go as the step runs.
struct MemoryEvent {
  uint32_t step = 0;  // index into Graph::steps
  StorageId storage;
  int64_t bytes = 0;
};

struct PhaseMemory {
  Phase phase = Phase::kForward;
  int64_t peak = 0;  // bytes, all that lives
  // The operation that reached it; none where nothing rose above the start.
  OperationId at;
  uint32_t event = 0;  // how many events had happened at the peak
};

struct StepMemory {
  int64_t parameters = 0;
  int64_t buffers = 0;
  int64_t inputs = 0;
  int64_t states = 0;  // of an optimizer, from earlier steps
  int64_t resident() const { return parameters + buffers + inputs + states; }
  std::vector<PhaseMemory> phases;
  std::vector<MemoryEvent> events;
  // What lives as the backward begins beside `resident`: the forward's names
  // have gone.
  int64_t live_after_forward = 0;
};

// Nothing where a size passes 2^63 - 1.
//
// `beside` are bytes that live while an operation runs and that the graph does
// not hold (a weight that is unpacked for it, what a rank has gathered): by
// operation, or empty. They count for peaks, and are no events.
std::optional<StepMemory> AnalyzeMemory(const Graph& graph,
                                        std::span<const int64_t> beside = {});

// One rank's step: memory that comes and goes beside the graph's operations, by
// step. Each phase's peak is of its own operations and shifts alone, as
// tools/pytorch's sharded recordings have it.
std::optional<StepMemory> AnalyzeRankMemory(
    const Graph& graph, std::span<const MemoryShift> shifts);

// What autograd keeps after the forward: distinct storages that are no
// parameter, buffer or input.
struct KeptMemory {
  int64_t bytes = 0;
  int64_t count = 0;
};
KeptMemory AnalyzeKept(const Graph& graph);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_MEMORY_H_
