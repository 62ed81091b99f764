#include "passes/shard_storages.h"

#include <algorithm>

#include "base/dtype.h"

namespace foretell {
namespace {

// What is gathered of one block, in bytes.
struct Unit {
  int64_t gathered = 0;  // parameters in the dtype that they are used in
  int64_t trains = 0;    // of these, what has a gradient
  int64_t copies = 1;    // of such blocks
};

class Sharder {
 public:
  Sharder(Graph& graph, const TrainingJob& job,
          std::span<const StorageId> gradients, std::span<const int64_t> copies)
      : graph_(graph), job_(job), gradients_(gradients), copies_(copies) {}

  std::vector<int64_t> Run() {
    beside_.resize(graph_.operations.size());
    if (job_.sharding == Sharding::kNone) return beside_;
    FindBlocks();
    MeasureUnits();
    Divide();
    AddBeside();
    return std::move(beside_);
  }

 private:
  bool Gathers() const {
    return job_.sharding == Sharding::kZero3 ||
           job_.sharding == Sharding::kFsdp1 ||
           job_.sharding == Sharding::kFsdp2;
  }
  bool DividesGradients() const {
    return job_.sharding == Sharding::kZero2 || Gathers();
  }
  bool DividesStates() const {
    return job_.sharding == Sharding::kZero1 || DividesGradients();
  }

  // By region, which block it lies in; 0: in none.
  void FindBlocks() {
    block_.resize(graph_.regions.size());
    units_.resize(1);
    for (size_t i = 0; i < graph_.regions.size(); ++i) {
      const Region& region = graph_.regions[i];
      if (region.parent.valid()) block_[i] = block_[region.parent.index];
      if (region.kind == RegionKind::kBlock && block_[i] == 0) {
        block_[i] = units_.size();
        units_.push_back({0, 0, copies_.empty() ? 1 : copies_[i]});
      }
    }
  }

  void MeasureUnits() {
    std::vector<bool> seen(graph_.storages.size());
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      if (parameter.tied_to || seen[value.storage.index]) continue;
      seen[value.storage.index] = true;
      const int64_t bytes = graph_.storages[value.storage.index].bytes;
      Unit& unit = units_[block_[parameter.region.index]];
      unit.gathered += bytes;
      if (value.requires_grad) unit.trains += bytes;
    }
  }

  int64_t Share(int64_t bytes) const {
    return bytes / job_.gpus + (bytes % job_.gpus != 0 ? 1 : 0);
  }

  void Divide() {
    std::vector<bool> divided(graph_.storages.size());
    if (Gathers()) {
      for (const Parameter& parameter : graph_.parameters) {
        divided[graph_[parameter.value].storage.index] = true;
      }
    }
    if (DividesGradients()) {
      for (const StorageId storage : gradients_) divided[storage.index] = true;
    }
    if (DividesStates()) {
      for (size_t i = 0; i < graph_.storages.size(); ++i) {
        if (graph_.storages[i].kind == StorageKind::kState) divided[i] = true;
      }
      MarkOptimizer(divided);
    }
    Shrink(divided);
  }

  // A share in float32 has four bytes for each element, whatever the dtype of
  // the step. Only kinds of storages that are divided are asked for theirs.
  void Shrink(const std::vector<bool>& divided) {
    std::vector<int64_t> size(divided.size(), 4);
    if (job_.float32_shares) {
      for (const Value& value : graph_.values) {
        size[value.storage.index] = std::max<int64_t>(1, BytesOf(value.dtype));
      }
      // What does not train keeps its dtype.
      for (const Parameter& parameter : graph_.parameters) {
        const Value& value = graph_[parameter.value];
        if (!value.requires_grad) size[value.storage.index] = 4;
      }
    }
    for (size_t i = 0; i < divided.size(); ++i) {
      if (!divided[i]) continue;
      int64_t& bytes = graph_.storages[i].bytes;
      bytes = Share(bytes / size[i] * (job_.float32_shares ? 4 : size[i]));
    }
  }

  // What the optimizer's operations make is as large as what they update.
  void MarkOptimizer(std::vector<bool>& divided) const {
    uint32_t first = 0;
    bool has = false;
    for (const PhaseStart& start : graph_.phases) {
      if (start.phase != Phase::kOptimizer) continue;
      first = start.first_step;
      has = true;
    }
    if (!has) return;
    for (size_t at = first; at < graph_.steps.size(); ++at) {
      if (graph_.steps[at].kind != Step::Kind::kOperation) continue;
      const Operation& operation = graph_.operations[graph_.steps[at].index];
      for (const ValueId made : graph_.OutputsOf(operation)) {
        const StorageId storage = graph_[made].storage;
        if (graph_.storages[storage.index].kind == StorageKind::kActivation) {
          divided[storage.index] = true;
        }
      }
    }
  }

  void AddBeside() {
    Phase phase = Phase::kForward;
    size_t next = 0;
    size_t last = 0;  // the block that ran last
    int64_t all_trained = 0;
    for (const Unit& unit : units_) all_trained += unit.trains * unit.copies;
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      while (next < graph_.phases.size() &&
             graph_.phases[next].first_step <= at) {
        phase = graph_.phases[next++].phase;
      }
      const Step step = graph_.steps[at];
      if (step.kind != Step::Kind::kOperation) continue;
      int64_t& beside = beside_[step.index];
      if (job_.sharding == Sharding::kDdp) beside += all_trained;
      if (!Gathers() || phase == Phase::kOptimizer) continue;
      const size_t block = block_[graph_.operations[step.index].region.index];
      if (block != 0) last = block;
      beside += units_[0].gathered + InUse(phase, block, last);
    }
  }

  // Of blocks, while an operation of `block` runs and `last` was the last
  // block that an operation lay in.
  int64_t InUse(Phase phase, size_t block, size_t last) const {
    const Unit& now = units_[last];
    const bool copies = job_.sharding == Sharding::kFsdp2;
    if (last == 0) return 0;
    if (phase == Phase::kForward) {
      const int64_t own = block == 0 ? 0 : now.gathered;
      return own + (copies ? now.gathered : 0);
    }
    if (block == 0) {
      return (copies ? now.gathered : 0) + units_[0].trains;
    }
    const Unit& to_come = last > 1 ? units_[last - 1] : units_[0];
    const int64_t reduced =
        last + 1 < units_.size() ? units_[last + 1].trains : 0;
    return now.gathered + (last > 1 ? to_come.gathered : 0) * (copies ? 2 : 1) +
           now.trains + reduced + units_[0].trains;
  }

  Graph& graph_;
  const TrainingJob& job_;
  std::span<const StorageId> gradients_;
  std::span<const int64_t> copies_;  // by region
  std::vector<size_t> block_;        // by region
  std::vector<Unit> units_;          // by block; [0] is what lies in none
  std::vector<int64_t> beside_;
};

}  // namespace

std::vector<int64_t> ShardStorages(Graph& graph, const TrainingJob& job,
                                   std::span<const StorageId> gradients,
                                   std::span<const int64_t> copies) {
  return Sharder(graph, job, gradients, copies).Run();
}

}  // namespace foretell
