#include "analysis/occupancy.h"

#include <algorithm>
#include <numeric>

namespace foretell {
namespace {

constexpr size_t Index(MemoryKind kind) { return static_cast<size_t>(kind); }

}  // namespace

std::string_view NameOf(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kParameters:
      return "parameters";
    case MemoryKind::kGradients:
      return "gradients";
    case MemoryKind::kStates:
      return "optimizer states";
    case MemoryKind::kBuffers:
      return "buffers";
    case MemoryKind::kInputs:
      return "inputs";
    case MemoryKind::kKept:
      return "kept activations";
    case MemoryKind::kCache:
      return "cache";
    case MemoryKind::kRecomputed:
      return "recomputed activations";
    case MemoryKind::kReturned:
      return "logits and loss";
    case MemoryKind::kTemporary:
      return "temporaries";
  }
  return "temporaries";
}

int64_t SumOf(const BytesByKind& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

Occupancy::Occupancy(const Graph& graph, const StepMemory& memory,
                     const KnownStorages& known)
    : graph_(&graph),
      memory_(&memory),
      kinds_(graph.storages.size(), MemoryKind::kTemporary) {
  SetKinds(known);
  Resident();
}

void Occupancy::SetKinds(const KnownStorages& known) {
  const auto mark = [this](std::span<const StorageId> list, MemoryKind kind) {
    for (const StorageId storage : list) kinds_[storage.index] = kind;
  };
  for (const OperationRange& range : known.recomputed) {
    for (uint32_t i = range.first; i < range.end; ++i) {
      for (const ValueId id : graph_->OutputsOf(graph_->operations[i])) {
        kinds_[(*graph_)[id].storage.index] = MemoryKind::kRecomputed;
      }
    }
  }
  const auto backward =
      std::ranges::find(memory_->phases, Phase::kBackward, &PhaseMemory::phase);
  const bool trains = backward != memory_->phases.end();
  const uint32_t end = trains ? graph_->phases[1].first_step : 0;
  std::vector<bool> lives(kinds_.size());
  for (const MemoryEvent& event : memory_->events) {
    if (event.step >= end) break;
    lives[event.storage.index] = event.bytes > 0;
  }
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i]) kinds_[i] = MemoryKind::kKept;
  }
  mark(known.states, MemoryKind::kStates);
  mark(known.gradients, MemoryKind::kGradients);
  mark(known.returned, MemoryKind::kReturned);
  mark(known.cache, MemoryKind::kCache);
  for (size_t i = 0; i < kinds_.size(); ++i) {
    switch (graph_->storages[i].kind) {
      case StorageKind::kParameter:
        kinds_[i] = MemoryKind::kParameters;
        break;
      case StorageKind::kBuffer:
        kinds_[i] = MemoryKind::kBuffers;
        break;
      case StorageKind::kInput:
        kinds_[i] = MemoryKind::kInputs;
        break;
      case StorageKind::kState:
        // Not the optimizer's: a filled cache, or what earlier micro-batches
        // left as gradients.
        if (kinds_[i] == MemoryKind::kCache ||
            kinds_[i] == MemoryKind::kGradients) {
          break;
        }
        kinds_[i] = MemoryKind::kStates;
        break;
      case StorageKind::kLasting:
        kinds_[i] = MemoryKind::kBuffers;
        break;
      case StorageKind::kActivation:
        break;
    }
  }
}

void Occupancy::Resident() {
  resident_[Index(MemoryKind::kParameters)] = memory_->parameters;
  resident_[Index(MemoryKind::kBuffers)] = memory_->buffers;
  resident_[Index(MemoryKind::kInputs)] = memory_->inputs;
  // A cache that was filled before the step is there as a state is.
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (graph_->storages[i].kind != StorageKind::kState) continue;
    resident_[Index(kinds_[i])] += graph_->storages[i].bytes;
  }
}

size_t Occupancy::EventsAt(const PhaseMemory& phase) const {
  size_t count = phase.event;
  if (phase.at.valid()) return count;
  // Reached as the phase began: before the names went that ended with the
  // phase before, where that was more.
  int64_t live = memory_->resident();
  for (size_t i = 0; i < count; ++i) live += memory_->events[i].bytes;
  while (live < phase.peak && count > 0 &&
         memory_->events[count - 1].bytes < 0) {
    live -= memory_->events[--count].bytes;
  }
  return count;
}

BytesByKind Occupancy::At(const PhaseMemory& phase) const {
  BytesByKind out = resident_;
  const size_t count = EventsAt(phase);
  for (size_t i = 0; i < count; ++i) {
    const MemoryEvent& event = memory_->events[i];
    out[Index(KindOf(event.storage))] += event.bytes;
  }
  return out;
}

std::vector<StorageId> Occupancy::LivingAt(const PhaseMemory& phase) const {
  std::vector<bool> lives(kinds_.size());
  for (size_t i = 0; i < kinds_.size(); ++i) {
    lives[i] = graph_->storages[i].kind == StorageKind::kState;
  }
  const size_t count = EventsAt(phase);
  for (size_t i = 0; i < count; ++i) {
    const MemoryEvent& event = memory_->events[i];
    lives[event.storage.index] = event.bytes > 0;
  }
  std::vector<StorageId> out;
  for (uint32_t i = 0; i < lives.size(); ++i) {
    if (lives[i]) out.push_back({i});
  }
  return out;
}

std::vector<MemoryPoint> Occupancy::Points(size_t most) const {
  const size_t operations = graph_->operations.size();
  const size_t run = most == 0 ? 1 : (operations + most - 1) / most;
  std::vector<MemoryPoint> out;
  MemoryPoint now;
  now.bytes = resident_;
  int64_t largest = 0;
  size_t event = 0;
  size_t phase = 0;
  for (uint32_t at = 0; at < graph_->steps.size(); ++at) {
    const bool starts =
        phase < graph_->phases.size() && graph_->phases[phase].first_step <= at;
    if (starts) now.phase = graph_->phases[phase++].phase;
    for (; event < memory_->events.size() && memory_->events[event].step == at;
         ++event) {
      const MemoryEvent& change = memory_->events[event];
      now.bytes[Index(KindOf(change.storage))] += change.bytes;
    }
    if (graph_->steps[at].kind == Step::Kind::kDrop) continue;
    const int64_t live = SumOf(now.bytes);
    const bool is_new = out.empty() || now.operation % run == 0 ||
                        out.back().phase != now.phase;
    ++now.operation;
    if (is_new) {
      out.push_back(now);
      largest = live;
    } else if (live > largest) {
      out.back() = now;
      largest = live;
    }
  }
  return out;
}

}  // namespace foretell
