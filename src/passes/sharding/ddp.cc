// DistributedDataParallel: buckets hold all gradients for good, a tensor never
// split. After the first step they are made anew in the order in which the
// gradients came: the first closes at 1 MiB, the others at 25 MiB, all at a
// stated size. A gradient is copied into its bucket as it comes; as a view of
// it, the copied one then goes. Before the forward, buffers are broadcast from
// rank 0, flat by dtype.
// (c10d/reducer.cpp, compute_bucket_assignment_by_size and
// mark_variable_ready_dense; torch/nn/parallel/distributed.py.)
#include <algorithm>
#include <map>
#include <vector>

#include "base/dtype.h"
#include "passes/sharding/share_writer.h"

namespace foretell {
namespace {

constexpr int64_t kMebibyte = 1 << 20;
constexpr int64_t kFirstBucket = kMebibyte;
constexpr int64_t kBucket = 25 * kMebibyte;

struct ReadyGradient {
  uint32_t behind = 0;  // the step that writes it last
  DType dtype = DType::kFloat32;
  int64_t bytes = 0;
  int64_t copies = 1;
};

class Ddp {
 public:
  Ddp(const Graph& graph, const RankCase& rank)
      : graph_(graph), rank_(rank), write_(graph, rank) {}

  RankShare Run(const std::vector<ShardUnit>& units) {
    FindGradients(units);
    RankShare& share = write_.share();
    for (const ReadyGradient& one : ready_) {
      share.gradient_bytes += one.bytes * one.copies;
    }
    write_.MoveTo(0, Phase::kForward);
    write_.Take(share.gradient_bytes);
    for (int64_t i = 1; i < rank_.accumulate; ++i) {
      Broadcast();
      if (rank_.reduces_always) Reduce();
    }
    Broadcast();
    if (rank_.wrapper == Wrapper::kDdpView) {
      for (const ReadyGradient& one : ready_) {
        write_.MoveTo(one.behind, Phase::kBackward);
        write_.Free(one.bytes, ShiftKind::kGradients);
      }
    }
    if (!rank_.evaluates) Reduce();
    for (const ShardUnit& unit : units) {
      for (const UnitParameter& one : unit.parameters) {
        share.parameter_bytes +=
            graph_.storages[graph_[one.value].storage.index].bytes *
            unit.copies;
      }
    }
    return std::move(share);
  }

 private:
  void FindGradients(const std::vector<ShardUnit>& units) {
    std::map<StorageId, ReadyGradient> found;
    for (const ShardUnit& unit : units) {
      for (const UnitParameter& one : unit.parameters) {
        if (!one.gradient) continue;
        found[*one.gradient] = {0, graph_[one.value].dtype,
                                graph_.storages[one.gradient->index].bytes,
                                unit.copies};
      }
    }
    uint32_t end = static_cast<uint32_t>(graph_.steps.size());
    for (const PhaseStart& start : graph_.phases) {
      if (start.phase == Phase::kOptimizer) end = start.first_step;
    }
    for (uint32_t at = 0; at < end; ++at) {
      if (graph_.steps[at].kind != Step::Kind::kOperation) continue;
      const Operation& operation = graph_.operations[graph_.steps[at].index];
      for (const ValueId made : graph_.OutputsOf(operation)) {
        const auto gradient = found.find(graph_[made].storage);
        if (gradient != found.end()) gradient->second.behind = at + 1;
      }
    }
    for (const auto& [storage, one] : found) ready_.push_back(one);
    std::ranges::stable_sort(ready_, {}, &ReadyGradient::behind);
  }

  void Broadcast() {
    std::vector<std::pair<DType, int64_t>> sums;
    for (const Buffer& buffer : graph_.buffers) {
      const Value& value = graph_[buffer.value];
      const int64_t bytes = graph_.storages[value.storage.index].bytes;
      const auto same = std::ranges::find(sums, value.dtype,
                                          &std::pair<DType, int64_t>::first);
      if (same == sums.end()) {
        sums.emplace_back(value.dtype, bytes);
      } else {
        same->second += bytes;
      }
    }
    write_.MoveTo(0, Phase::kForward);
    for (const auto& [dtype, bytes] : sums) {
      write_.Take(bytes);
      write_.Say("broadcast", ShortNameOf(dtype), bytes);
      write_.Free(bytes);
    }
  }

  void Reduce() {
    struct Bucket {
      int64_t bytes = 0;
      int64_t closed = 0;  // how many of the dtype were before
    };
    const int64_t most =
        rank_.bucket_mib > 0 ? rank_.bucket_mib * kMebibyte : kBucket;
    const int64_t first = rank_.bucket_mib > 0 ? most : kFirstBucket;
    std::map<DType, Bucket> open;
    write_.MoveToEndOf(Phase::kBackward);
    for (const ReadyGradient& one : ready_) {
      Bucket& bucket = open[one.dtype];
      bucket.bytes += one.bytes;
      if (bucket.bytes < (bucket.closed == 0 ? first : most)) continue;
      write_.Say("allreduce", ShortNameOf(one.dtype), bucket.bytes);
      bucket.bytes = 0;
      ++bucket.closed;
    }
    for (const auto& [dtype, bucket] : open) {
      if (bucket.bytes == 0) continue;
      write_.Say("allreduce", ShortNameOf(dtype), bucket.bytes);
    }
  }

  const Graph& graph_;
  const RankCase& rank_;
  ShareWriter write_;
  std::vector<ReadyGradient> ready_;
};

}  // namespace

RankShare DivideByDdp(const Graph& graph, const RankCase& rank,
                      const std::vector<ShardUnit>& units) {
  return Ddp(graph, rank).Run(units);
}

}  // namespace foretell
