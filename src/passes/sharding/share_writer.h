// What the wrappers of data parallelism have in common as their share of a step
// is written: memory that comes and goes, and collectives, in order.
//
// In: a compiled step of the whole model and its units. Out: a rank's share of
// it, by wrapper; divide_step.h says what of it is followed.
#ifndef FORETELL_PASSES_SHARDING_SHARE_WRITER_H_
#define FORETELL_PASSES_SHARDING_SHARE_WRITER_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "passes/sharding/divide_step.h"

namespace foretell {

class ShareWriter {
 public:
  ShareWriter(const Graph& graph, const RankCase& rank)
      : graph_(&graph), ranks_(rank.ranks), rounding_(rank.rounding) {}

  // What follows happens before that step, in that phase.
  void MoveTo(uint32_t before_step, Phase phase) {
    at_ = before_step;
    phase_ = phase;
  }
  void MoveToStartOf(Phase phase);
  // Behind the phase's last operation: of the forward, also behind the names
  // that go with it; of the backward, before the gradient of the loss goes,
  // which the caller of the backward holds.
  void MoveToEndOf(Phase phase);
  // Before the caller sums what the model's forward returns, in float32.
  void MoveBeforeSum();
  // Where the sum's own backward has run.
  void MoveBehindSum();

  void Take(int64_t bytes, ShiftKind kind = ShiftKind::kCommunication);
  void Free(int64_t bytes, ShiftKind kind = ShiftKind::kCommunication) {
    Take(-bytes, kind);
  }
  void Say(std::string_view kind, std::string_view dtype, int64_t bytes);

  RankShare& share() { return share_; }

 private:
  const Graph* graph_;
  int64_t ranks_;
  int64_t rounding_;
  uint32_t at_ = 0;
  Phase phase_ = Phase::kForward;
  RankShare share_;
};

// The dtype in which a rank holds a parameter that computes in `computes`.
DType HeldDType(const RankCase& rank, DType computes);
DType HeldDTypeOf(const RankCase& rank, DType computes,
                  const UnitParameter& parameter);

// Sets what the optimizer keeps and makes to the elements of each parameter
// that the rank holds; of a parameter of which it holds none, to nothing.
using HeldElements = std::function<int64_t(ValueId leaf)>;
void DivideOptimizer(Graph& graph, const RankCase& rank,
                     std::span<const GradientOf> gradients,
                     std::span<const StateOf> states, const HeldElements& held);

RankShare DivideByFsdp2(Graph& graph, const RankCase& rank,
                        const std::vector<ShardUnit>& units);
RankShare DivideByFsdp1(Graph& graph, const RankCase& rank,
                        const std::vector<ShardUnit>& units);
RankShare DivideByDdp(const Graph& graph, const RankCase& rank,
                      const std::vector<ShardUnit>& units);

// FSDP 1: the elements of each parameter in the rank's piece of its unit.
HeldElements Fsdp1Pieces(const Graph& graph, const RankCase& rank,
                         const std::vector<ShardUnit>& units);

}  // namespace foretell

#endif  // FORETELL_PASSES_SHARDING_SHARE_WRITER_H_
