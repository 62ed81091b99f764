// One rank's share of a training step, as PyTorch's own data-parallel wrappers
// divide it: what the rank holds, what it gathers and frees while it computes,
// and what it says to the others.
//
// In: a compiled step of the whole model on one rank's micro-batch, in the
// dtype that it computes in, and how it is divided. Changed in the graph: the
// bytes of parameters, of an optimizer's states and of what its step makes.
// Out: memory beside the graph's own, in order, and the collectives.
//
// A graph of few blocks that stand for more of them (`copies` by region) gives
// the shifts of these few, of which a unit's happen as often as its blocks;
// what lies for all units at once is of the whole model, as are the sums of
// bytes. Its collectives are those of the few.
//
// Where parameters are gathered, whole ones are memory beside the graph: its
// own parameters are the rank's shares. So are reduced gradients; a gradient
// as the backward leaves it goes by a shift.
// Source: torch 2.15, torch/distributed/fsdp/_fully_shard/
// _fsdp_{state,param_group,collectives,param}.py, fsdp/_runtime_utils.py,
// fsdp/_flat_param.py, csrc/distributed/c10d/reducer.cpp.
#ifndef FORETELL_PASSES_SHARDING_DIVIDE_STEP_H_
#define FORETELL_PASSES_SHARDING_DIVIDE_STEP_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/memory_shift.h"
#include "passes/sharding/units.h"
#include "spec/rank_case.h"

namespace foretell {

// Neighbours that are alike are one entry with a count.
struct RankCollective {
  std::string_view kind;   // "allgather_base", as torch's operator is called
  std::string_view dtype;  // "bf16"; "u8": of several dtypes
  int64_t bytes = 0;       // of the larger side
  int64_t ranks = 0;
  Phase phase = Phase::kForward;
  int64_t times = 1;
};

// What an optimizer keeps for a parameter.
struct StateOf {
  ValueId leaf;
  StorageId storage;
  bool on_host = false;
};

struct RankShare {
  std::vector<MemoryShift> shifts;
  std::vector<RankCollective> collectives;
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;   // reduced, as the optimizer reads them
  int64_t optimizer_bytes = 0;  // of states that lie on the card
};

RankShare DivideStep(Graph& graph, const RankCase& rank,
                     std::span<const GradientOf> gradients,
                     std::span<const StateOf> states,
                     std::span<const int64_t> copies = {});

}  // namespace foretell

#endif  // FORETELL_PASSES_SHARDING_DIVIDE_STEP_H_
