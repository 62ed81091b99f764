#include "analysis/folded_memory.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

#include "graph/phase_walk.h"

namespace foretell {
namespace {

// Which of the two runs of a repeat a region lies in.
struct Member {
  int32_t repeat = -1;  // -1: it happens once
  bool is_witness = false;
  friend bool operator==(const Member&, const Member&) = default;
};

std::vector<Member> MembersOf(const Graph& graph,
                              std::span<const RepeatedBlocks> repeats) {
  std::vector<Member> out(graph.regions.size());
  for (size_t i = 0; i < graph.regions.size(); ++i) {
    const Region& region = graph.regions[i];
    if (region.parent.valid()) out[i] = out[region.parent.index];
    if (region.kind != RegionKind::kBlock) continue;
    int64_t index = -1;
    const std::string& name = region.name;
    std::from_chars(name.data(), name.data() + name.size(), index);
    for (size_t at = 0; at < repeats.size(); ++at) {
      const RepeatedBlocks& repeat = repeats[at];
      if (repeat.list != region.parent || index < repeat.first) continue;
      const int64_t run = (index - repeat.first) / repeat.period;
      if (run < 2) out[i] = {static_cast<int32_t>(at), run == 1};
    }
  }
  return out;
}

int64_t Total(const FoldedBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

void AddTimes(FoldedBytes& sum, const FoldedBytes& change, int64_t times) {
  for (size_t i = 0; i < kFoldedCategories; ++i) sum[i] += change[i] * times;
}

// The level as an operation has run, above where its stretch began.
struct Height {
  FoldedBytes bytes = {};
  int64_t beside = 0;
  OperationId at;
  bool is_shift = false;
  int64_t total() const { return Total(bytes) + beside; }
};

// A part of the events of one phase that happens so often in a row.
struct Stretch {
  Phase phase = Phase::kForward;
  Member member;
  int64_t copies = 1;
  FoldedBytes change = {};
  Height highest;  // of its operations
  Height first;    // of them, for the backward's, which counts twice
  FoldedBytes at_last = {};
  int64_t last_beside = 0;
  bool has_operation = false;
  bool rises = false;  // has an operation, or a shift upward
};

class Folder {
 public:
  Folder(const Graph& graph, const FoldRequest& request)
      : graph_(graph),
        request_(request),
        members_(MembersOf(graph, request.repeats)) {}

  std::optional<std::vector<FoldedPhase>> Run() {
    Cut();
    if (!Agrees()) return std::nullopt;
    Stack();
    return std::move(out_);
  }

 private:
  void Cut() {
    PhaseWalk phases(graph_);
    const std::vector<MemoryEvent>& events = request_.memory->events;
    size_t event = 0;
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      if (graph_.steps[at].kind == Step::Kind::kOperation) last_operation_ = at;
    }
    Start(Phase::kForward, {});
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      const Phase now = phases.At(at);
      const Step step = graph_.steps[at];
      const bool runs = step.kind == Step::Kind::kOperation;
      const Member member =
          runs ? members_[graph_.operations[step.index].region.index]
               : stretches_.back().member;
      // What ends a phase is still of it.
      while (HasShift(at) && NextShift().phase < now) {
        ShiftTo(NextShift().phase);
      }
      if (now != stretches_.back().phase ||
          member != stretches_.back().member) {
        Start(now, member);
      }
      while (HasShift(at)) Shift();
      Stretch& stretch = stretches_.back();
      for (; event < events.size() && events[event].step == at; ++event) {
        const MemoryEvent& one = events[event];
        stretch.change[request_.categories[one.storage.index]] += one.bytes;
        Follow(one);
      }
      if (runs) Note(stretch, OperationId{step.index});
    }
    // A phase in which nothing happens begins all the same.
    for (const PhaseStart& start : graph_.phases) {
      if (start.first_step < graph_.steps.size()) continue;
      while (HasShift(start.first_step) && NextShift().phase < start.phase) {
        ShiftTo(NextShift().phase);
      }
      Start(start.phase, {});
    }
    while (HasShift(UINT32_MAX)) ShiftTo(NextShift().phase);
  }

  bool HasShift(uint32_t at) const {
    return request_.shifts && next_shift_ < request_.shifts->size() &&
           NextShift().before_step <= at;
  }
  const MemoryShift& NextShift() const {
    return (*request_.shifts)[next_shift_];
  }

  // Where nothing of that phase has run yet, it begins.
  void ShiftTo(Phase phase) {
    if (stretches_.back().phase < phase) Start(phase, {});
    Shift();
  }

  // It counts as an operation that follows the one before it.
  void Shift() {
    const MemoryShift& shift = NextShift();
    ++next_shift_;
    Stretch& stretch = stretches_.back();
    const auto kind = static_cast<size_t>(shift.kind);
    stretch.change[request_.shift_categories[kind]] += shift.bytes;
    if (shift.bytes <= 0) return;
    Height height{stretch.change, 0, last_run_, true};
    if (last_run_.index < request_.beside.size()) {
      height.beside = std::min<int64_t>(0, request_.beside[last_run_.index]);
    }
    if (!stretch.rises || height.total() > stretch.highest.total()) {
      stretch.highest = height;
    }
    stretch.rises = true;
  }

  // What a run makes goes within it, within its witness, or right after it:
  // what waits for something else goes once for all runs, which are not folded.
  void Follow(const MemoryEvent& event) {
    const size_t now = stretches_.size() - 1;
    if (made_in_.empty()) made_in_.resize(graph_.storages.size(), -1);
    int64_t& made = made_in_[event.storage.index];
    if (event.bytes > 0) {
      made = static_cast<int64_t>(now);
      return;
    }
    // What goes behind the last operation raises nothing any more.
    if (made < 0 || event.step > last_operation_) return;
    const Stretch& from = stretches_[static_cast<size_t>(made)];
    const Stretch& to = stretches_.back();
    const bool is_bound =
        from.member.repeat >= 0 &&
        from.member.is_witness == (from.phase == Phase::kBackward);
    if (!is_bound || to.phase == Phase::kOptimizer ||
        to.member.repeat == from.member.repeat ||
        static_cast<int64_t>(now) == made + 1) {
      return;
    }
    waits_ = true;
  }

  void Start(Phase phase, Member member) {
    Stretch stretch;
    stretch.phase = phase;
    stretch.member = member;
    if (member.repeat >= 0 && !member.is_witness) {
      stretch.copies =
          request_.repeats[static_cast<size_t>(member.repeat)].copies;
    }
    stretches_.push_back(stretch);
  }

  void Note(Stretch& stretch, OperationId at) {
    Height height{stretch.change, 0, at, false};
    if (at.index < request_.beside.size()) {
      height.beside = request_.beside[at.index];
    }
    if (!stretch.has_operation) stretch.first = height;
    if (!stretch.rises || height.total() > stretch.highest.total()) {
      stretch.highest = height;
    }
    stretch.rises = true;
    last_run_ = at;
    stretch.at_last = stretch.change;
    stretch.last_beside = height.beside;
    stretch.has_operation = true;
  }

  // Each run that is repeated stands beside an equal one, once in a phase.
  bool Agrees() const {
    if (waits_) return request_.repeats.empty();
    for (size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& one = stretches_[i];
      if (one.member.repeat < 0 || one.member.is_witness) continue;
      for (size_t j = 0; j < i; ++j) {
        const Stretch& earlier = stretches_[j];
        if (earlier.phase == one.phase && earlier.member == one.member) {
          return false;
        }
      }
      const Stretch* const other = WitnessBeside(i);
      if (other == nullptr || other->change != one.change ||
          other->highest.bytes != one.highest.bytes ||
          other->highest.beside != one.highest.beside ||
          other->at_last != one.at_last) {
        return false;
      }
    }
    return true;
  }

  const Stretch* WitnessBeside(size_t at) const {
    const Stretch& one = stretches_[at];
    for (const size_t near : {at + 1, at - 1}) {
      if (near >= stretches_.size()) continue;
      const Stretch& other = stretches_[near];
      if (other.phase == one.phase && other.member.is_witness &&
          other.member.repeat == one.member.repeat) {
        return &other;
      }
    }
    return nullptr;
  }

  void Stack() {
    FoldedBytes level = request_.resident;
    FoldedBytes last_operation = level;
    bool is_first = true;
    for (const Stretch& stretch : stretches_) {
      const bool begins = is_first || out_.back().phase != stretch.phase;
      if (begins) Begin(stretch.phase, level, last_operation);
      is_first = false;
      FoldedBytes last_start = level;
      AddTimes(last_start, stretch.change, stretch.copies - 1);
      if (stretch.rises) {
        // Of equal peaks the first in time is told; a backward goes from the
        // last block to the first.
        const bool rises = Total(last_start) > Total(level);
        const bool is_last = rises != (stretch.phase == Phase::kBackward);
        Raise(out_.back(), rises ? last_start : level, stretch.highest,
              is_last ? stretch.copies - 1 : 0);
        // The first operation of the backward counts as the forward's, too.
        if (begins && stretch.phase == Phase::kBackward && out_.size() > 1 &&
            !request_.shifts) {
          Raise(out_[out_.size() - 2], level, stretch.first, 0);
        }
      }
      if (stretch.has_operation) {
        last_beside_ = stretch.last_beside;
        last_operation = last_start;
        AddTimes(last_operation, stretch.at_last, 1);
      }
      level = last_start;
      AddTimes(level, stretch.change, 1);
    }
  }

  // With what still lives of the phase before, whose names end here.
  void Begin(Phase phase, const FoldedBytes& level,
             const FoldedBytes& last_operation) {
    FoldedPhase out;
    out.phase = phase;
    out.start = level;
    const bool ends_forward = phase == Phase::kBackward && !request_.shifts;
    out.bytes = ends_forward && Total(last_operation) > Total(level)
                    ? last_operation
                    : level;
    // What the operation before it found elsewhere has not come back yet.
    out.beside = std::min<int64_t>(0, last_beside_);
    out.peak = Total(out.bytes) + out.beside;
    out_.push_back(out);
  }

  static void Raise(FoldedPhase& phase, const FoldedBytes& start,
                    const Height& height, int64_t copies) {
    const int64_t peak = Total(start) + height.total();
    if (peak <= phase.peak) return;
    phase.peak = peak;
    phase.bytes = start;
    AddTimes(phase.bytes, height.bytes, 1);
    phase.beside = height.beside;
    phase.at = height.at;
    phase.is_shift = height.is_shift;
    phase.copies = copies;
  }

  const Graph& graph_;
  const FoldRequest& request_;
  std::vector<Member> members_;  // by region
  std::vector<Stretch> stretches_;
  std::vector<int64_t> made_in_;  // by storage: the stretch
  uint32_t last_operation_ = 0;   // its step
  size_t next_shift_ = 0;
  OperationId last_run_;
  bool waits_ = false;
  std::vector<FoldedPhase> out_;
  int64_t last_beside_ = 0;  // of the operation before
};

}  // namespace

std::optional<std::vector<FoldedPhase>> FoldMemory(const Graph& graph,
                                                   const FoldRequest& request) {
  return Folder(graph, request).Run();
}

std::vector<int64_t> CopiesOfRegions(const Graph& graph,
                                     std::span<const RepeatedBlocks> repeats) {
  const std::vector<Member> members = MembersOf(graph, repeats);
  std::vector<int64_t> out(members.size(), 1);
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    if (member.repeat < 0 || member.is_witness) continue;
    out[i] = repeats[static_cast<size_t>(member.repeat)].copies;
  }
  return out;
}

std::string PathInWhole(const Graph& graph,
                        std::span<const RepeatedBlocks> repeats,
                        RegionId region, int64_t copies) {
  std::string out;
  for (RegionId at = region; at.valid(); at = graph[at].parent) {
    std::string name = graph[at].name;
    if (name.empty()) continue;
    for (const RepeatedBlocks& repeat : repeats) {
      if (graph[at].parent != repeat.list ||
          graph[at].kind != RegionKind::kBlock) {
        continue;
      }
      const int64_t index = std::stoll(name);
      const int64_t skipped = (repeat.copies - 1) * repeat.period;
      const bool is_run =
          index >= repeat.first && index < repeat.first + repeat.period;
      if (is_run) {
        name = std::to_string(index + copies * repeat.period);
      } else if (index >= repeat.first) {
        name = std::to_string(index + skipped);
      }
    }
    out = out.empty() ? name : name + "." + out;
  }
  return out;
}

}  // namespace foretell
