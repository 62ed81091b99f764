#include "passes/sharding/divide_step.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/dtype.h"
#include "graph/operation_row.h"
#include "passes/sharding/share_writer.h"

namespace foretell {
namespace {

uint32_t StartOf(const Graph& graph, Phase phase) {
  for (const PhaseStart& start : graph.phases) {
    if (start.phase >= phase) return start.first_step;
  }
  return static_cast<uint32_t>(graph.steps.size());
}

// Whole gradients that wait for later micro-steps have the dtype that they are
// reduced in, where it is wider. (_fsdp_param.py, unsharded_grad_dtype.)
void KeepWide(Graph& graph, const RankCase& rank,
              std::span<const GradientOf> gradients) {
  if (rank.accumulate <= 1 || rank.reduces_always) return;
  for (const GradientOf& one : gradients) {
    const DType computes = graph[one.leaf].dtype;
    const int64_t wide =
        BytesOf(rank.reduce_dtype.value_or(HeldDType(rank, computes)));
    const int64_t narrow = std::max<int64_t>(1, BytesOf(computes));
    int64_t& bytes = graph.storages[one.storage.index].bytes;
    bytes = bytes / narrow * std::max(narrow, wide);
  }
}

}  // namespace

void ShareWriter::MoveToStartOf(Phase phase) {
  MoveTo(StartOf(*graph_, phase), phase);
}

void ShareWriter::MoveToEndOf(Phase phase) {
  const uint32_t begin = StartOf(*graph_, phase);
  uint32_t end = static_cast<uint32_t>(graph_->steps.size());
  for (const PhaseStart& start : graph_->phases) {
    if (start.phase > phase) end = std::min(end, start.first_step);
  }
  MoveTo(end, phase);
  if (phase != Phase::kBackward || begin == end) return;
  const Step first = graph_->steps[begin];
  if (first.kind != Step::Kind::kOperation) return;
  const auto made = graph_->OutputsOf(graph_->operations[first.index]);
  for (uint32_t at = end; at-- > begin;) {
    const Step step = graph_->steps[at];
    if (step.kind == Step::Kind::kOperation) return;
    if (!made.empty() && step.index == made.front().index) {
      MoveTo(at, phase);
      return;
    }
  }
}

void ShareWriter::MoveBeforeSum() {
  MoveToEndOf(Phase::kForward);
  for (uint32_t at = at_, found = 0; at-- > 0 && found < 2;) {
    const Step step = graph_->steps[at];
    if (step.kind != Step::Kind::kOperation) continue;
    const std::string_view name = graph_->operations[step.index].row->name;
    if (!name.starts_with(found == 0 ? "aten.sum" : "aten._to_copy")) return;
    MoveTo(at, Phase::kForward);
    ++found;
  }
}

void ShareWriter::MoveBehindSum() {
  MoveToStartOf(Phase::kBackward);
  for (; at_ < graph_->steps.size(); ++at_) {
    const Step step = graph_->steps[at_];
    if (step.kind != Step::Kind::kOperation) continue;
    const std::string_view name = graph_->operations[step.index].row->name;
    if (!name.starts_with("aten.ones_like") &&
        !name.starts_with("aten.expand") &&
        !name.starts_with("aten._to_copy")) {
      return;
    }
  }
}

void ShareWriter::Take(int64_t bytes, ShiftKind kind) {
  if (bytes == 0) return;
  const int64_t size = RoundedUp(bytes < 0 ? -bytes : bytes, rounding_);
  share_.shifts.push_back({at_, phase_, bytes < 0 ? -size : size, kind});
}

void ShareWriter::Say(std::string_view kind, std::string_view dtype,
                      int64_t bytes) {
  const RankCollective next = {kind, dtype, bytes, ranks_, phase_, 1};
  if (!share_.collectives.empty()) {
    RankCollective& last = share_.collectives.back();
    if (last.kind == kind && last.dtype == dtype && last.bytes == bytes &&
        last.phase == phase_) {
      ++last.times;
      return;
    }
  }
  share_.collectives.push_back(next);
}

DType HeldDType(const RankCase& rank, DType computes) {
  return rank.param_dtype == computes ? rank.dtype : computes;
}

DType HeldDTypeOf(const RankCase& rank, DType computes,
                  const UnitParameter& parameter) {
  if (rank.frozen_apart && !parameter.gradient) return computes;
  return HeldDType(rank, computes);
}

void DivideOptimizer(Graph& graph, const RankCase& rank,
                     std::span<const GradientOf> gradients,
                     std::span<const StateOf> states,
                     const HeldElements& held) {
  const auto divide = [&](const Value& value, ValueId leaf) {
    const int64_t elements = held(leaf);
    // FSDP 1: of a parameter that the rank has nothing of there is no state.
    const bool has_none = rank.wrapper == Wrapper::kFsdp1 && elements == 0;
    int64_t& bytes = graph.storages[value.storage.index].bytes;
    if (value.shape.rank() == 0) {
      if (has_none) bytes = 0;
      return;
    }
    const DType dtype = value.dtype == graph[leaf].dtype
                            ? HeldDType(rank, value.dtype)
                            : value.dtype;
    bytes = elements * BytesOf(dtype);
  };
  std::map<StorageId, ValueId> leaves;  // of storages that are to be divided
  for (const StateOf& state : states) leaves[state.storage] = state.leaf;
  for (uint32_t at = StartOf(graph, Phase::kOptimizer); at < graph.steps.size();
       ++at) {
    if (graph.steps[at].kind != Step::Kind::kOperation) continue;
    const auto made = graph.OutputsOf(graph.operations[graph.steps[at].index]);
    for (size_t i = 0; i < made.size(); ++i) {
      const Value& value = graph[made[i]];
      const Storage& storage = graph.storages[value.storage.index];
      if (storage.kind != StorageKind::kActivation) continue;
      // One for each parameter, or of the shape of one.
      std::optional<ValueId> leaf;
      if (made.size() == gradients.size()) {
        leaf = gradients[i].leaf;
      } else {
        for (const GradientOf& one : gradients) {
          if (graph[one.leaf].shape == value.shape) leaf = one.leaf;
        }
      }
      if (leaf) leaves.try_emplace(value.storage, *leaf);
    }
  }
  std::vector<bool> done(graph.storages.size());
  for (const GradientOf& one : gradients) done[one.storage.index] = true;
  for (const Value& value : graph.values) {
    const auto leaf = leaves.find(value.storage);
    if (leaf == leaves.end() || done[value.storage.index]) continue;
    done[value.storage.index] = true;
    divide(value, leaf->second);
  }
}

RankShare DivideStep(Graph& graph, const RankCase& rank,
                     std::span<const GradientOf> gradients,
                     std::span<const StateOf> states,
                     std::span<const int64_t> copies) {
  if (rank.wrapper == Wrapper::kFsdp2) KeepWide(graph, rank, gradients);
  const std::vector<ShardUnit> units = FindUnits(
      graph, gradients,
      {.has_ends = rank.has_ends, .rounding = rank.rounding, .copies = copies});
  RankShare share;
  switch (rank.wrapper) {
    case Wrapper::kFsdp2:
      share = DivideByFsdp2(graph, rank, units);
      DivideOptimizer(graph, rank, gradients, states, [&](ValueId leaf) {
        return ShareOf(graph[leaf].shape, rank.ranks, rank.rank).held;
      });
      break;
    case Wrapper::kFsdp1:
      share = DivideByFsdp1(graph, rank, units);
      DivideOptimizer(graph, rank, gradients, states,
                      Fsdp1Pieces(graph, rank, units));
      break;
    case Wrapper::kDdp:
    case Wrapper::kDdpView:
      share = DivideByDdp(graph, rank, units);
      break;
  }
  for (const StateOf& state : states) {
    if (state.on_host) continue;
    share.optimizer_bytes += graph.storages[state.storage.index].bytes;
  }
  return share;
}

}  // namespace foretell
