// What the living bytes of a step are for: weights, gradients, an optimizer's
// states, what autograd keeps, and the rest, at any moment of it.
//
// In: a compiled graph, its StepMemory, and which storages hold gradients,
// states and the returned object. Out: bytes by kind, exact, whose sum is what
// lives at that moment. A storage has one kind for all of its life, the first
// that fits: cache, returned, gradient, state, kept, recomputed, temporary.
//
//   const Occupancy occupancy(graph, memory, known);
//   const BytesByKind at_peak = occupancy.At(memory.phases[1]);
//
// Tensors that live past the forward are kept for the backward.
#ifndef FORETELL_ANALYSIS_OCCUPANCY_H_
#define FORETELL_ANALYSIS_OCCUPANCY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/memory.h"
#include "graph/graph.h"
#include "graph/tape.h"

namespace foretell {

enum class MemoryKind : uint8_t {
  kParameters,
  kGradients,  // of parameters
  kStates,     // of an optimizer
  kBuffers,    // and what else the model keeps
  kInputs,
  kKept,        // from the forward for the backward
  kCache,       // of generation
  kRecomputed,  // made by the backward running a forward again
  kReturned,    // by the object that the model's class returns, and the loss
  kTemporary,
};
inline constexpr size_t kMemoryKinds = 10;
std::string_view NameOf(MemoryKind kind);  // "kept activations", …

using BytesByKind = std::array<int64_t, kMemoryKinds>;
int64_t SumOf(const BytesByKind& bytes);

struct KnownStorages {
  std::span<const StorageId> gradients = {};
  std::span<const StorageId> states = {};
  std::span<const StorageId> returned = {};
  std::span<const StorageId> cache = {};
  std::span<const OperationRange> recomputed = {};
};

// The state of a step as one of its operations has run.
struct MemoryPoint {
  uint32_t operation = 0;  // how many had run
  Phase phase = Phase::kForward;
  BytesByKind bytes = {};
};

class Occupancy {
 public:
  // All three outlive it.
  Occupancy(const Graph& graph, const StepMemory& memory,
            const KnownStorages& known);

  MemoryKind KindOf(StorageId storage) const { return kinds_[storage.index]; }

  // What lives at the peak of a phase.
  BytesByKind At(const PhaseMemory& phase) const;
  // The storages that live then, beside those that always do.
  std::vector<StorageId> LivingAt(const PhaseMemory& phase) const;

  // One point per operation; where they are more than `most`, of each run of
  // neighbours the one at which most lives, so that no peak is lost.
  std::vector<MemoryPoint> Points(size_t most) const;

 private:
  void SetKinds(const KnownStorages& known);
  void Resident();
  // How many events had happened when `phase` was at its peak.
  size_t EventsAt(const PhaseMemory& phase) const;

  const Graph* graph_;
  const StepMemory* memory_;
  std::vector<MemoryKind> kinds_;  // by storage
  int64_t lasting_ = 0;            // that the model keeps beside buffers
  BytesByKind resident_ = {};
};

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_OCCUPANCY_H_
