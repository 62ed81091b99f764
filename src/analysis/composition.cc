#include "analysis/composition.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "analysis/flops.h"
#include "analysis/memory.h"
#include "base/checked.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

// Which repeated run a region belongs to, and how often it happens.
struct Membership {
  int32_t run = -1;    // index into the repeats; -1: happens once
  int32_t after = -1;  // the run that its block comes after; -1: none
};

class Blocks {
 public:
  Blocks(const Graph& graph, std::span<const RepeatedBlocks> repeats)
      : of_(graph.regions.size()) {
    for (size_t i = 0; i < graph.regions.size(); ++i) {
      const Region& region = graph.regions[i];
      if (region.parent.valid()) of_[i] = of_[region.parent.index];
      if (region.kind != RegionKind::kBlock) continue;
      int64_t index = -1;
      const std::string& name = region.name;
      std::from_chars(name.data(), name.data() + name.size(), index);
      for (size_t run = 0; run < repeats.size(); ++run) {
        const RepeatedBlocks& repeat = repeats[run];
        if (repeat.list != region.parent || index < repeat.first) continue;
        const bool is_in = index < repeat.first + repeat.period;
        (is_in ? of_[i].run : of_[i].after) = static_cast<int32_t>(run);
      }
    }
  }

  Membership Of(RegionId region) const { return of_[region.index]; }

 private:
  std::vector<Membership> of_;
};

// A part of the events of one phase that happens `copies` times in a row.
struct Stretch {
  Phase phase = Phase::kForward;
  int32_t run = -1;
  int64_t copies = 1;
  int64_t change = 0;             // of the level, over the stretch
  int64_t highest = 0;            // above the level it starts from
  int64_t at_last_operation = 0;  // the same after its last operation
  bool has_operation = false;
};

class Composer {
 public:
  Composer(const Graph& graph, std::span<const RepeatedBlocks> repeats)
      : graph_(graph), repeats_(repeats), blocks_(graph, repeats) {}

  std::optional<ComposedStep> Run(
      std::span<const std::pair<StorageId, ValueId>> states) {
    const auto memory = AnalyzeMemory(graph_);
    if (!memory || !CountFlops() || !Cut(memory->events)) return std::nullopt;
    CountKept();
    CountParameters();
    CountStates(states);
    if (!fits_) return std::nullopt;
    out_.resident = Sum({out_.parameter_bytes, buffer_bytes_, memory->inputs,
                         out_.optimizer_bytes - made_states_});
    Stack();
    if (!fits_) return std::nullopt;
    return std::move(out_);
  }

 private:
  int64_t CopiesOf(int32_t run) const {
    return run < 0 ? 1 : repeats_[static_cast<size_t>(run)].copies;
  }
  int64_t CopiesOf(RegionId region) const {
    return CopiesOf(blocks_.Of(region).run);
  }

  void Add(int64_t& sum, int64_t amount, int64_t copies) {
    const auto product = CheckedMul(amount, copies);
    const auto total = product ? CheckedAdd(sum, *product) : std::nullopt;
    fits_ = fits_ && total.has_value();
    sum = total.value_or(0);
  }

  int64_t Sum(std::initializer_list<int64_t> parts) {
    int64_t sum = 0;
    for (const int64_t part : parts) Add(sum, part, 1);
    return sum;
  }

  bool CountFlops() {
    ForEachOperation(graph_, [this](const Operation& operation, Phase phase) {
      if (operation.row->flops == nullptr) return;
      const auto flops = FlopsOf(graph_, operation);
      fits_ = fits_ && flops.has_value();
      auto& counts =
          phase == Phase::kForward ? out_.flops_forward : out_.flops_backward;
      Add(counts[CounterNameOf(operation.row->name)], flops.value_or(0),
          CopiesOf(operation.region));
    });
    return fits_;
  }

  // Cuts the steps where they pass from one run of blocks to another part.
  bool Cut(std::span<const MemoryEvent> events) {
    PhaseWalk phases(graph_);
    size_t event = 0;
    Phase phase = Phase::kForward;
    int32_t run = -1;
    StartStretch(phase, run);
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      const Phase now = phases.At(at);
      const Step step = graph_.steps[at];
      const bool is_operation = step.kind == Step::Kind::kOperation;
      const int32_t belongs =
          is_operation ? blocks_.Of(graph_.operations[step.index].region).run
                       : run;
      if (now != phase || belongs != run) {
        phase = now;
        run = belongs;
        if (!StartStretch(phase, run)) return false;
      }
      Stretch& stretch = stretches_.back();
      while (event < events.size() && events[event].step == at) {
        stretch.change += events[event++].bytes;
      }
      if (!is_operation) continue;
      stretch.highest = std::max(stretch.highest, stretch.change);
      stretch.at_last_operation = stretch.change;
      stretch.has_operation = true;
    }
    return true;
  }

  // False where a run of blocks is entered a second time in a phase.
  bool StartStretch(Phase phase, int32_t run) {
    for (const Stretch& earlier : stretches_) {
      if (run >= 0 && earlier.run == run && earlier.phase == phase) {
        return false;
      }
    }
    stretches_.push_back({phase, run, CopiesOf(run)});
    return true;
  }

  // A storage that a repeated block keeps is its own, unless a block after
  // the run keeps it, too: then all blocks share it.
  void CountKept() {
    std::map<uint32_t, int32_t> run_of;  // storage -> the run that met it first
    size_t saved = 0;
    // What lies between two operations' is a block's own, of the later one.
    for (const Operation& operation : graph_.operations) {
      const Membership at = blocks_.Of(operation.region);
      const size_t end = size_t{operation.first_saved} + operation.saved_count;
      for (; saved < end; ++saved) {
        const Saved& one = graph_.saved[saved];
        if (one.is_recomputed) continue;
        const uint32_t storage = graph_[one.value].storage.index;
        if (graph_.storages[storage].kind != StorageKind::kActivation) continue;
        const auto [known, is_new] = run_of.try_emplace(storage, at.run);
        if (!is_new && at.after >= 0 && known->second == at.after) {
          known->second = -1;
        }
      }
    }
    for (const auto& [storage, run] : run_of) {
      Add(out_.kept_bytes, graph_.storages[storage].bytes, CopiesOf(run));
      Add(out_.kept_count, 1, CopiesOf(run));
    }
  }

  int64_t BytesOf(ValueId value) const {
    return graph_.storages[graph_[value].storage.index].bytes;
  }

  void CountParameters() {
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.tied_to) continue;
      const int64_t copies = CopiesOf(parameter.region);
      const int64_t bytes = BytesOf(parameter.value);
      Add(out_.parameter_bytes, bytes, copies);
      copies_of_[parameter.value.index] = copies;
      if (graph_[parameter.value].requires_grad) {
        Add(out_.gradient_bytes, bytes, copies);
      }
    }
    for (const Buffer& buffer : graph_.buffers) {
      Add(buffer_bytes_, BytesOf(buffer.value), CopiesOf(buffer.region));
    }
  }

  void CountStates(std::span<const std::pair<StorageId, ValueId>> states) {
    for (const auto& [storage, leaf] : states) {
      const Storage& of = graph_.storages[storage.index];
      const auto at = copies_of_.find(leaf.index);
      const int64_t copies = at == copies_of_.end() ? 1 : at->second;
      Add(out_.optimizer_bytes, of.bytes, copies);
      // States of a first step are made in it.
      if (of.kind != StorageKind::kState) Add(made_states_, of.bytes, copies);
    }
  }

  // Puts the stretches one after another and finds each phase's peak.
  void Stack() {
    int64_t level = out_.resident;
    int64_t last_operation = level;
    const Stretch* before = nullptr;
    for (const Stretch& stretch : stretches_) {
      const bool begins = before == nullptr || before->phase != stretch.phase;
      if (begins) Begin(stretch.phase, level, last_operation);
      int64_t last_start = level;
      Add(last_start, stretch.change, stretch.copies - 1);
      const int64_t highest =
          Sum({std::max(level, last_start), stretch.highest});
      Raise(stretch.phase, highest);
      // The first operation of the backward still counts as the forward's.
      if (begins && stretch.phase == Phase::kBackward) {
        Raise(Phase::kForward, Sum({level, FirstRise()}));
      }
      if (stretch.has_operation) {
        last_operation = Sum({last_start, stretch.at_last_operation});
      }
      level = Sum({last_start, stretch.change});
      before = &stretch;
    }
  }

  void Begin(Phase phase, int64_t level, int64_t last_operation) {
    if (phase == Phase::kBackward) {
      out_.live_after_forward = level - out_.resident;
      level = std::max(level, last_operation);
    }
    Raise(phase, level);
  }

  void Raise(Phase phase, int64_t level) {
    const auto [at, is_new] = out_.peaks.try_emplace(phase, level);
    if (!is_new) at->second = std::max(at->second, level);
  }

  // What the first operation of the backward makes.
  int64_t FirstRise() const {
    for (const PhaseStart& start : graph_.phases) {
      if (start.phase != Phase::kBackward) continue;
      for (uint32_t at = start.first_step; at < graph_.steps.size(); ++at) {
        if (graph_.steps[at].kind == Step::Kind::kDrop) continue;
        const Operation& first = graph_.operations[graph_.steps[at].index];
        int64_t bytes = 0;
        for (const ValueId id : graph_.OutputsOf(first)) bytes += BytesOf(id);
        return bytes;
      }
    }
    return 0;
  }

  const Graph& graph_;
  std::span<const RepeatedBlocks> repeats_;
  Blocks blocks_;
  ComposedStep out_;
  std::vector<Stretch> stretches_;
  std::map<uint32_t, int64_t> copies_of_;  // by a parameter's value
  int64_t buffer_bytes_ = 0;
  int64_t made_states_ = 0;
  bool fits_ = true;
};

}  // namespace

std::optional<ComposedStep> Compose(
    const Graph& graph, std::span<const RepeatedBlocks> repeats,
    std::span<const std::pair<StorageId, ValueId>> states) {
  return Composer(graph, repeats).Run(states);
}

}  // namespace foretell
