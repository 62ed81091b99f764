#include "analysis/memory.h"

#include <algorithm>

#include "base/checked.h"

namespace foretell {
namespace {

class Sweep {
 public:
  Sweep(const Graph& graph, std::span<const int64_t> beside,
        std::optional<std::span<const MemoryShift>> shifts)
      : graph_(graph),
        beside_(beside),
        shifts_(shifts.value_or(std::span<const MemoryShift>())),
        is_rank_(shifts),
        names_(graph.storages.size()),
        lives_(graph.storages.size()) {}

  std::optional<StepMemory> Run() {
    if (!AddResident()) return std::nullopt;
    CountGivenValues();
    live_ = out_.resident();
    if (!AddLasting()) return std::nullopt;
    size_t next_phase = 0;
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      while (next_phase < graph_.phases.size() &&
             graph_.phases[next_phase].first_step <= at) {
        ShiftUpTo(at, graph_.phases[next_phase].phase, false);
        Begin(graph_.phases[next_phase++].phase);
      }
      ShiftUpTo(at, Phase::kOptimizer, true);
      const Step step = graph_.steps[at];
      if (step.kind == Step::Kind::kDrop) {
        Drop(at, ValueId{step.index});
      } else if (!Run(at, OperationId{step.index})) {
        return std::nullopt;
      }
    }
    while (next_phase < graph_.phases.size()) {
      Begin(graph_.phases[next_phase++].phase);
    }
    ShiftUpTo(static_cast<uint32_t>(graph_.steps.size()), Phase::kOptimizer,
              true);
    return std::move(out_);
  }

 private:
  // Storages that something names: a tied parameter's own was never made.
  bool AddResident() {
    std::vector<bool> seen(graph_.storages.size());
    const auto add = [&](ValueId value, int64_t& sum) {
      const StorageId storage = graph_[value].storage;
      if (seen[storage.index]) return true;
      seen[storage.index] = true;
      const int64_t bytes = graph_.storages[storage.index].bytes;
      const auto total = CheckedAdd(sum, bytes);
      if (bytes < 0 || !total) return false;
      sum = *total;
      return true;
    };
    bool fits = true;
    for (const Parameter& parameter : graph_.parameters) {
      fits = fits && add(parameter.value, out_.parameters);
    }
    for (const Buffer& buffer : graph_.buffers) {
      fits = fits && add(buffer.value, out_.buffers);
    }
    for (const ValueId input : graph_.inputs) {
      fits = fits && add(input, out_.inputs);
    }
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      const Storage& storage = graph_.storages[i];
      if (storage.kind != StorageKind::kState) continue;
      lives_[i] = true;  // and may go, as what operations make
      const auto total = CheckedAdd(out_.states, storage.bytes);
      if (storage.bytes < 0 || !total) return false;
      out_.states = *total;
    }
    return fits;
  }

  // What the model made in an earlier step and keeps beside its buffers: an
  // event, so that it counts among what lives at a peak.
  bool AddLasting() {
    for (uint32_t i = 0; i < graph_.storages.size(); ++i) {
      const Storage& storage = graph_.storages[i];
      if (storage.kind != StorageKind::kLasting) continue;
      const auto live = CheckedAdd(live_, storage.bytes);
      if (storage.bytes < 0 || !live) return false;
      live_ = *live;
      out_.events.push_back({0, StorageId{i}, storage.bytes});
    }
    return true;
  }

  // Numbers that Python holds are values that no operation makes: their
  // storage counts once an operation gives it out, and goes with all names.
  void CountGivenValues() {
    std::vector<bool> made(graph_.values.size());
    for (const Operation& operation : graph_.operations) {
      for (const ValueId id : graph_.OutputsOf(operation)) {
        made[id.index] = true;
      }
    }
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) ++names_[graph_.values[i].storage.index];
    }
  }

  void Begin(Phase phase) {
    int64_t start = live_;
    if (phase == Phase::kBackward) {
      EndForward();
      if (!is_rank_) start = std::max(start, live_at_last_operation_);
    }
    out_.phases.push_back(
        {phase, start, {}, static_cast<uint32_t>(out_.events.size())});
  }

  void EndForward() {
    out_.live_after_forward = live_ - out_.resident();
    forward_may_rise_ = !is_rank_;
  }

  // The shifts that stand before the step, of phases before one or up to it.
  void ShiftUpTo(uint32_t at, Phase phase, bool inclusive) {
    while (next_shift_ < shifts_.size()) {
      const MemoryShift& shift = shifts_[next_shift_];
      if (shift.before_step > at || shift.phase > phase ||
          (shift.phase == phase && !inclusive)) {
        return;
      }
      live_ += shift.bytes;
      ++next_shift_;
      if (!out_.phases.empty() && live_ > out_.phases.back().peak) {
        PhaseMemory& last = out_.phases.back();
        last.peak = live_;
        last.event = static_cast<uint32_t>(out_.events.size());
      }
    }
  }

  bool Run(uint32_t at, OperationId id) {
    for (const ValueId value : graph_.OutputsOf(graph_.operations[id.index])) {
      const StorageId storage = graph_.values[value.index].storage;
      ++names_[storage.index];
      const Storage& of = graph_.storages[storage.index];
      if (of.kind != StorageKind::kActivation || lives_[storage.index]) {
        continue;
      }
      const auto live = CheckedAdd(live_, of.bytes);
      if (of.bytes < 0 || !live) return false;
      lives_[storage.index] = true;
      live_ = *live;
      out_.events.push_back({at, storage, of.bytes});
    }
    live_at_last_operation_ = live_;
    Note(id);
    return true;
  }

  void Note(OperationId id) {
    const int64_t live =
        id.index < beside_.size() ? live_ + beside_[id.index] : live_;
    const auto rise = [&](PhaseMemory& phase) {
      if (live <= phase.peak) return;
      phase.peak = live;
      phase.at = id;
      phase.event = static_cast<uint32_t>(out_.events.size());
    };
    if (!out_.phases.empty()) rise(out_.phases.back());
    if (forward_may_rise_ && out_.phases.size() > 1) {
      rise(out_.phases[out_.phases.size() - 2]);
    }
    forward_may_rise_ = false;
  }

  void Drop(uint32_t at, ValueId value) {
    const StorageId storage = graph_.values[value.index].storage;
    if (--names_[storage.index] > 0 || !lives_[storage.index]) return;
    const int64_t bytes = graph_.storages[storage.index].bytes;
    lives_[storage.index] = false;
    live_ -= bytes;
    out_.events.push_back({at, storage, -bytes});
  }

  const Graph& graph_;
  std::span<const int64_t> beside_;
  std::span<const MemoryShift> shifts_;
  bool is_rank_;
  size_t next_shift_ = 0;
  StepMemory out_;
  std::vector<int32_t> names_;  // by storage: values that live
  std::vector<bool> lives_;
  int64_t live_ = 0;
  int64_t live_at_last_operation_ = 0;
  bool forward_may_rise_ = false;
};

}  // namespace

std::optional<StepMemory> AnalyzeMemory(const Graph& graph,
                                        std::span<const int64_t> beside) {
  return Sweep(graph, beside, std::nullopt).Run();
}

std::optional<StepMemory> AnalyzeRankMemory(
    const Graph& graph, std::span<const MemoryShift> shifts) {
  return Sweep(graph, {}, shifts).Run();
}

KeptMemory AnalyzeKept(const Graph& graph) {
  KeptMemory out;
  std::vector<bool> seen(graph.storages.size());
  for (const Saved& saved : graph.saved) {
    if (saved.is_recomputed) continue;
    const StorageId storage = graph[saved.value].storage;
    const Storage& of = graph.storages[storage.index];
    if (of.kind != StorageKind::kActivation || seen[storage.index]) continue;
    seen[storage.index] = true;
    out.bytes += of.bytes;
    ++out.count;
  }
  return out;
}

}  // namespace foretell
