// fully_shard on each block and on the root, parameter by parameter.
//
// Forward: a unit's shares are copied (in mixed precision cast) into one
// buffer, gathered, and copied out into whole parameters; the buffer stays
// until the next unit's arrives. Blocks are freed after their forward, the
// root stays until its gradients are reduced, the last of all.
// Backward: as a unit's begins, the one that will follow is gathered.
// As it ends its gradients go into a buffer, which stays until the next unit
// has come so far. (_fsdp_param_group.py, pre_forward to post_backward.)
#include <algorithm>
#include <vector>

#include "base/dtype.h"
#include "passes/sharding/share_writer.h"

namespace foretell {
namespace {

// A unit's share and its whole, in bytes.
struct UnitSize {
  int64_t held = 0;
  int64_t cast = 0;        // the copy of shares in the dtype that computes
  int64_t whole = 0;       // gathered, in one buffer
  int64_t parameters = 0;  // the same as tensors, each rounded
  std::string_view dtype;
  int64_t trained_share = 0;      // elements
  int64_t gradient = 0;           // bytes of reduced ones, each rounded
  DType shard = DType::kFloat32;  // of reduced gradients
};

class Fsdp2 {
 public:
  Fsdp2(const Graph& graph, const RankCase& rank,
        const std::vector<ShardUnit>& units)
      : graph_(graph), rank_(rank), units_(units), write_(graph, rank) {
    for (const ShardUnit& unit : units) sizes_.push_back(SizeOf(unit));
  }

  RankShare Run() {
    for (int64_t i = 1; i < rank_.accumulate; ++i) {
      SayEarlier();
    }
    if (rank_.accumulate > 1 && rank_.reduces_always) HoldShares();
    Forward();
    if (!rank_.evaluates) Backward();
    for (size_t i = 0; i < units_.size(); ++i) {
      const UnitSize& size = sizes_[i];
      const int64_t copies = units_[i].copies;
      write_.share().parameter_bytes += size.held * copies;
      write_.share().gradient_bytes += size.gradient * copies;
    }
    return std::move(write_.share());
  }

 private:
  UnitSize SizeOf(const ShardUnit& unit) const {
    UnitSize out;
    for (const UnitParameter& one : unit.parameters) {
      const Value& value = graph_[one.value];
      const DType held = HeldDTypeOf(rank_, value.dtype, one);
      const int64_t share = ShareOf(value.shape, rank_.ranks, 0).filled;
      const int64_t bytes = share * BytesOf(value.dtype);
      out.held += share * BytesOf(held);
      out.whole += bytes * rank_.ranks;
      out.parameters += RoundedUp(bytes * rank_.ranks, rank_.rounding);
      if (held != value.dtype) out.cast += bytes;
      const std::string_view name = ShortNameOf(value.dtype);
      out.dtype = out.dtype.empty() || out.dtype == name ? name : "u8";
      if (!one.gradient) continue;
      out.trained_share += share;
      out.shard = held;
      out.gradient += RoundedUp(share * BytesOf(held), rank_.rounding);
    }
    return out;
  }

  // foreach_all_gather: the buffer that all shares arrive in.
  void Gather(const UnitSize& size) {
    write_.Take(size.cast);
    write_.Take(size.whole);
    write_.Say("allgather_base", size.dtype, size.whole);
    write_.Free(size.cast);
  }

  // Micro-steps before the last say the same, and reduce only where asked.
  void SayEarlier() {
    const size_t before = write_.share().shifts.size();
    Forward();
    Backward(rank_.reduces_always);
    write_.share().shifts.resize(before);
    held_ = 0;
    reducing_ = 0;
  }

  // Shares of gradients that earlier micro-steps have reduced.
  void HoldShares() {
    write_.MoveTo(0, Phase::kForward);
    for (size_t i = 0; i < units_.size(); ++i) {
      write_.Take(sizes_[i].gradient * units_[i].copies, ShiftKind::kGradients);
    }
  }

  void Forward() {
    write_.MoveTo(0, Phase::kForward);
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].is_root) Enter(sizes_[i]);
    }
    for (size_t i = 0; i < units_.size(); ++i) {
      const ShardUnit& unit = units_[i];
      if (unit.is_root) continue;
      write_.MoveTo(*unit.forward_begin, Phase::kForward);
      Enter(sizes_[i]);
      write_.MoveTo(*unit.forward_end, Phase::kForward);
      if (FreesAfterForward(unit)) {
        write_.Free(sizes_[i].parameters, ShiftKind::kGathered);
      }
    }
    rank_.sums_outside ? write_.MoveBeforeSum()
                       : write_.MoveToEndOf(Phase::kForward);
    write_.Free(held_);
    held_ = 0;
  }

  bool FreesAfterForward(const ShardUnit& unit) const {
    return rank_.reshards && !unit.stays;
  }

  // pre_forward: the buffer before this one is let go as this one is there.
  void Enter(const UnitSize& size) {
    Gather(size);
    write_.Free(held_);
    write_.Take(size.parameters, ShiftKind::kGathered);
    held_ = size.whole;
  }

  void Backward(bool reduces = true) {
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
      if (FreesAfterForward(unit)) {
        write_.Take(sizes_[at].parameters, ShiftKind::kGathered);
        write_.Free(sizes_[at].whole);  // the buffer
      }
      if (at > 0 && FreesAfterForward(units_[at - 1])) {
        Gather(sizes_[at - 1]);
      }
      if (IsLast(unit)) continue;
      write_.MoveTo(*unit.backward_end, Phase::kBackward);
      Reduce(at, reduces);
    }
    // What takes no input with a gradient: by the root's last callback.
    write_.MoveToEndOf(Phase::kBackward);
    for (size_t at = 0; at < units_.size(); ++at) {
      if (IsLast(units_[at])) Reduce(at, reduces);
    }
    write_.Free(reducing_);
    reducing_ = 0;
  }

  bool IsLast(const ShardUnit& unit) const {
    return unit.is_root || !unit.backward_begin ||
           (has_ends() && &unit == &units_.front());
  }
  bool has_ends() const { return !units_.back().is_root; }

  // post_backward: the whole parameters go, then what was reduced before; the
  // gradients are laid into a buffer, and their shares come.
  void Reduce(size_t at, bool reduces) {
    const UnitSize& size = sizes_[at];
    write_.Free(size.parameters, ShiftKind::kGathered);
    if (!reduces) return;
    write_.Free(reducing_);
    reducing_ = 0;
    if (size.trained_share == 0) return;
    const DType reduced = rank_.reduce_dtype.value_or(size.shard);
    reducing_ = size.trained_share * rank_.ranks * BytesOf(reduced);
    write_.Take(reducing_);
    write_.Free(units_[at].gradient_bytes, ShiftKind::kGradients);
    const int64_t output = size.trained_share * BytesOf(reduced);
    const bool is_cast = reduced != size.shard;
    write_.Take(output,
                is_cast ? ShiftKind::kCommunication : ShiftKind::kGradients);
    write_.Say("reduce_scatter_base", ShortNameOf(reduced), reducing_);
    const int64_t gradient =
        is_cast ? size.gradient : size.trained_share * BytesOf(size.shard);
    if (is_cast) {
      write_.Take(gradient, ShiftKind::kGradients);
      write_.Free(output);
    }
    // Added to the share that lies there already.
    if ((rank_.accumulate > 1 && rank_.reduces_always) ||
        rank_.gradients_on_host) {
      write_.Free(gradient, ShiftKind::kGradients);
    }
  }

  const Graph& graph_;
  const RankCase& rank_;
  const std::vector<ShardUnit>& units_;
  std::vector<UnitSize> sizes_;
  ShareWriter write_;
  int64_t held_ = 0;      // the buffer of the unit before
  int64_t reducing_ = 0;  // the buffer of gradients being reduced
};

}  // namespace

RankShare DivideByFsdp2(Graph& graph, const RankCase& rank,
                        const std::vector<ShardUnit>& units) {
  RankShare share = Fsdp2(graph, rank, units).Run();
  for (const ShardUnit& unit : units) {
    for (const UnitParameter& one : unit.parameters) {
      const Value& value = graph[one.value];
      graph.storages[value.storage.index].bytes =
          ShareOf(value.shape, rank.ranks, 0).filled *
          BytesOf(HeldDTypeOf(rank, value.dtype, one));
    }
  }
  return share;
}

}  // namespace foretell
