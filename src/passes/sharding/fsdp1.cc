// FullyShardedDataParallel with use_orig_params: a unit's parameters lie in one
// flat parameter, each aligned to 16 bytes, divided evenly.
//
// Forward: the flat parameter is gathered in place (in mixed precision from a
// cast share), and freed after a block's forward. Backward: as a unit's begins,
// the one that will follow is gathered. As it ends, the gradients of all its
// parameters are joined into a flat one, which in mixed precision is cast, and
// reduced. Reduced gradients stay until the next forward begins.
// (_flat_param.py; _runtime_utils.py, _pre_forward to _post_backward_hook.)
#include <algorithm>
#include <map>
#include <vector>

#include "base/dtype.h"
#include "passes/sharding/share_writer.h"

namespace foretell {
namespace {

constexpr int64_t kAlignment = 16;  // bytes; _get_aligned_numel

// Where each parameter lies in its unit's flat one, in elements.
struct FlatUnit {
  std::vector<int64_t> begins;  // by parameter
  int64_t elements = 0;
  int64_t filled = 0;  // of these, what only fills up
  int64_t share = 0;
};

FlatUnit Flatten(const Graph& graph, const RankCase& rank,
                 const ShardUnit& unit) {
  FlatUnit out;
  if (unit.parameters.empty()) return out;
  const DType computes = graph[unit.parameters.front().value].dtype;
  const int64_t aligned = kAlignment / std::max<int64_t>(1, BytesOf(computes));
  const auto fill_to = [&out](int64_t multiple) {
    const int64_t missing = (multiple - out.elements % multiple) % multiple;
    out.elements += missing;
    out.filled += missing;
  };
  for (const UnitParameter& one : unit.parameters) {
    fill_to(aligned);
    out.begins.push_back(out.elements);
    out.elements += one.elements;
  }
  fill_to(rank.ranks);
  out.share = out.elements / rank.ranks;
  return out;
}

// What a rank holds of a unit. Where what does not train keeps its dtype it
// is, for that, flattened apart (peft's policy of wrapping).
int64_t HeldBytes(const Graph& graph, const RankCase& rank,
                  const ShardUnit& unit) {
  const int64_t share = Flatten(graph, rank, unit).share;
  if (!rank.frozen_apart) return share * BytesOf(rank.dtype);
  int64_t frozen = 0;
  for (const UnitParameter& one : unit.parameters) {
    if (!one.gradient) frozen += one.elements;
  }
  const int64_t kept = std::min(share, frozen / rank.ranks);
  const DType computes = rank.param_dtype.value_or(rank.dtype);
  return kept * BytesOf(computes) + (share - kept) * BytesOf(rank.dtype);
}

class Fsdp1 {
 public:
  Fsdp1(const Graph& graph, const RankCase& rank,
        const std::vector<ShardUnit>& units)
      : rank_(rank), units_(units), write_(graph, rank) {
    computes_ = rank.param_dtype.value_or(rank.dtype);
    reduced_ = rank.reduce_dtype.value_or(computes_);
    for (const ShardUnit& unit : units) {
      flat_.push_back(Flatten(graph, rank, unit));
      held_bytes_ += HeldBytes(graph, rank, unit) * unit.copies;
      share_bytes_ += ShareBytes(flat_.size() - 1) * unit.copies;
    }
  }

  RankShare Run() {
    // Those of the step before, until the root's forward begins.
    write_.MoveTo(0, Phase::kForward);
    if (!rank_.gradients_on_host) {
      write_.Take(share_bytes_, ShiftKind::kGradients);
      write_.Free(share_bytes_, ShiftKind::kGradients);
    }
    for (int64_t i = 1; i < rank_.accumulate; ++i) {
      const size_t before = write_.share().shifts.size();
      Forward();
      Backward(rank_.reduces_always);
      write_.share().shifts.resize(before);
    }
    HoldEarlier();
    Forward();
    if (!rank_.evaluates) Backward(true);
    write_.share().parameter_bytes = held_bytes_;
    write_.share().gradient_bytes = share_bytes_;
    return std::move(write_.share());
  }

 private:
  // Gradients of earlier micro-steps: flat and whole, or reduced.
  void HoldEarlier() {
    if (rank_.accumulate <= 1) return;
    write_.MoveTo(0, Phase::kForward);
    if (rank_.reduces_always) {
      if (rank_.gradients_on_host) return;
      write_.Take(share_bytes_, ShiftKind::kGradients);
    }
    for (size_t at = 0; at < units_.size() && !rank_.reduces_always; ++at) {
      write_.Take(WholeGradient(at) * units_[at].copies, ShiftKind::kGradients);
    }
  }

  int64_t Whole(size_t at) const {
    return flat_[at].elements * BytesOf(computes_);
  }
  // Elements of the flat gradient, and its share of them.
  int64_t GradientElements(size_t at) const {
    if (!rank_.frozen_apart) return flat_[at].elements;
    int64_t out = 0;
    for (const UnitParameter& one : units_[at].parameters) {
      if (one.gradient) out += one.elements;
    }
    return out;
  }
  int64_t GradientShare(size_t at) const {
    return (GradientElements(at) + rank_.ranks - 1) / rank_.ranks;
  }
  int64_t ShareBytes(size_t at) const {
    return GradientShare(at) * BytesOf(rank_.dtype);
  }
  int64_t WholeGradient(size_t at) const {
    return GradientElements(at) * BytesOf(computes_);
  }

  void Gather(size_t at) {
    const int64_t cast =
        computes_ == rank_.dtype ? 0 : flat_[at].share * BytesOf(computes_);
    write_.Take(cast);
    write_.Take(Whole(at), ShiftKind::kGathered);
    write_.Say("allgather_base", ShortNameOf(computes_), Whole(at));
    write_.Free(cast);
  }

  void Forward() {
    write_.MoveTo(0, Phase::kForward);
    if (units_.back().is_root) Gather(units_.size() - 1);
    for (size_t i = 0; i < units_.size(); ++i) {
      const ShardUnit& unit = units_[i];
      if (unit.is_root) continue;
      write_.MoveTo(*unit.forward_begin, Phase::kForward);
      Gather(i);
      write_.MoveTo(*unit.forward_end, Phase::kForward);
      write_.Free(Whole(i), ShiftKind::kGathered);
    }
  }

  void Backward(bool reduces) {
    for (size_t at = units_.size(); at-- > 0;) {
      const ShardUnit& unit = units_[at];
      if (unit.is_root) {
        rank_.sums_outside ? write_.MoveBehindSum()
                           : write_.MoveToStartOf(Phase::kBackward);
      } else if (unit.backward_begin) {
        write_.MoveTo(*unit.backward_begin, Phase::kBackward);
      } else {
        continue;
      }
      const bool is_first = at + 1 == units_.size();
      if (!unit.is_root && (is_first || !rank_.prefetches)) Gather(at);
      if (at > 0 && rank_.prefetches) Gather(at - 1);
      if (unit.is_root) continue;
      write_.MoveTo(*unit.backward_end, Phase::kBackward);
      Reduce(at, reduces);
    }
    write_.MoveToEndOf(Phase::kBackward);
    if (units_.back().is_root) Reduce(units_.size() - 1, reduces);
  }

  // The split's backward joins the parts, zeros where something fills up.
  void Reduce(size_t at, bool reduces) {
    const int64_t elements = GradientElements(at);
    const int64_t whole = WholeGradient(at);
    const int64_t fills = flat_[at].filled * BytesOf(computes_);
    if (elements > 0) {
      write_.Take(fills);
      write_.Take(whole);
      write_.Free(fills);
    }
    write_.Free(units_[at].gradient_bytes, ShiftKind::kGradients);
    write_.Free(Whole(at), ShiftKind::kGathered);
    if (!reduces || elements == 0) return;
    int64_t cast = 0;
    if (reduced_ != computes_) {
      cast = elements * BytesOf(reduced_);
      write_.Take(cast);
    }
    const int64_t output = GradientShare(at) * BytesOf(reduced_);
    const bool is_cast = reduced_ != rank_.dtype;
    write_.Take(output,
                is_cast ? ShiftKind::kCommunication : ShiftKind::kGradients);
    write_.Say("reduce_scatter_base", ShortNameOf(reduced_),
               elements * BytesOf(reduced_));
    const int64_t gradient = ShareBytes(at);
    if (is_cast) {
      write_.Take(gradient, ShiftKind::kGradients);
      write_.Free(output);
    }
    if ((rank_.accumulate > 1 && rank_.reduces_always) ||
        rank_.gradients_on_host) {
      write_.Free(gradient, ShiftKind::kGradients);  // added likewise
    }
    write_.Free(cast);
    write_.Free(whole);
    // What was added to it: autograd holds it for the hook that reduces.
    if (rank_.accumulate > 1 && !rank_.reduces_always) {
      write_.Free(whole, ShiftKind::kGradients);
    }
  }

  const RankCase& rank_;
  const std::vector<ShardUnit>& units_;
  ShareWriter write_;
  std::vector<FlatUnit> flat_;
  DType computes_;
  DType reduced_;
  int64_t share_bytes_ = 0;  // of all gradients, reduced
  int64_t held_bytes_ = 0;   // of all parameters
};

}  // namespace

RankShare DivideByFsdp1(Graph& graph, const RankCase& rank,
                        const std::vector<ShardUnit>& units) {
  RankShare share = Fsdp1(graph, rank, units).Run();
  // One share for all of a unit: it stands at the first of its parameters.
  for (const ShardUnit& unit : units) {
    int64_t bytes = HeldBytes(graph, rank, unit);
    for (const UnitParameter& one : unit.parameters) {
      graph.storages[graph[one.value].storage.index].bytes = bytes;
      bytes = 0;
    }
  }
  return share;
}

HeldElements Fsdp1Pieces(const Graph& graph, const RankCase& rank,
                         const std::vector<ShardUnit>& units) {
  std::map<ValueId, int64_t> held;
  for (const ShardUnit& unit : units) {
    const FlatUnit flat = Flatten(graph, rank, unit);
    const int64_t begin = flat.share * rank.rank;
    for (size_t i = 0; i < unit.parameters.size(); ++i) {
      const int64_t from = std::max(begin, flat.begins[i]);
      const int64_t to = std::min(begin + flat.share,
                                  flat.begins[i] + unit.parameters[i].elements);
      held[unit.parameters[i].value] = std::max<int64_t>(0, to - from);
    }
  }
  return [held = std::move(held)](ValueId leaf) {
    const auto at = held.find(leaf);
    return at == held.end() ? 0 : at->second;
  };
}

}  // namespace foretell
