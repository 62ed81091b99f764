// Peaks of measured training runs, and whether they ran out of memory.
//
// Quantities: "allocated", "reserved", "device" and "unspecified" (a peak
// whose meter is not named is compared with what nvidia-smi shows, from a
// quarter below what is allocated on), by the meter;
// "fit" with the texts "ran" and "out of memory". A figure whose unit is not
// sure (GB or GiB) is right within both readings.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/score/training_litgpt.h"
#include "answers/score/training_settings.h"
#include "answers/train_memory.h"
#include "engines/pytorch/device_memory.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;
constexpr double kGb = 1e9;
constexpr char kRan[] = "ran";
constexpr char kOutOfMemory[] = "out of memory";

std::string TextOf(const ConfigValue& row, std::string_view path) {
  const ConfigValue* value = FieldAt(row, path);
  if (value == nullptr) return "";
  return std::string(value->AsString().value_or(""));
}

std::optional<double> RealOf(const ConfigValue& row, std::string_view path) {
  const ConfigValue* value = FieldAt(row, path);
  return value == nullptr ? std::nullopt : value->AsReal();
}

// Which of a card's three figures a record's meter reads.
std::string QuantityOf(const std::string& metric) {
  if (metric == "max_memory_allocated" || metric.starts_with("peak active") ||
      metric == "max cuda memory" || metric.starts_with("memory allocated")) {
    return "allocated";
  }
  if (metric == "max_memory_reserved" || metric == "memory reserved") {
    return "reserved";
  }
  if (metric == "nvidia-smi") return "device";
  return "unspecified";
}

std::vector<std::string> GroupsOf(const ConfigValue& row,
                                  const std::string& quantity) {
  std::vector<std::string> out;
  const std::string kind = TextOf(row, "sharding.kind");
  const bool whole = kind.empty() || kind == "none";
  const bool one = whole && RealOf(row, "gpu_count").value_or(0) == 1;
  if (quantity == "unspecified") out.emplace_back("unspecified");
  if (!whole) out.emplace_back("sharded");
  if (one && TextOf(row, "measured.metric") == "max_memory_allocated") {
    out.emplace_back("allocated_one_gpu");
    const bool plain =
        TextOf(row, "quant") == "none" && TextOf(row, "fused_loss").empty();
    if (plain) out.emplace_back("allocated_one_gpu_plain");
  }
  if (one && quantity == "reserved") out.emplace_back("reserved_one_gpu");
  out.push_back("by_task." + TextOf(row, "task"));
  return out;
}

Device CardOf(const ScoreInput& input) {
  if (input.device != nullptr) return *input.device;
  Device out;
  const auto size = input.settings.Real("gpu_mem_gb");
  if (!size) {
    out.total = Bytes::Unknown("the card");
    return out;
  }
  // As of a card that is known by its size alone (input/device_row.h).
  const double bytes = *size * kGib;
  out.total = Bytes::Estimated(bytes * 0.987, bytes * 0.91, bytes, "");
  return out;
}

double ValueOf(const Bytes& bytes) { return bytes.any().value().value_or(0); }

struct PeakOfRecord {
  Bytes allocated;
  Bytes reserved;
  Bytes device;
  Bytes unspecified;  // whichever of the three a source meant
  bool fits = true;
  bool in_optimizer = false;  // the step's, whatever the batch
};

double TermOf(const TrainMemory& memory, std::string_view name) {
  const auto term = std::ranges::find(memory.terms, name, &MemoryTerm::name);
  return term == memory.terms.end() ? 0 : static_cast<double>(term->bytes);
}

int64_t PeakOf(const TrainMemory& memory, bool in_optimizer) {
  int64_t out = 0;
  for (const TrainPhase& phase : memory.phases) {
    const bool optimizer = phase.phase == Phase::kOptimizer;
    if (optimizer == in_optimizer) out = std::max(out, phase.peak);
  }
  return out;
}

// The allocator's holes lie between tensors whose sizes change from batch to
// batch: not weights and states, nor gradients, which come back in the same
// sizes. What the optimizer's step takes more than the passes before it, it
// takes of their holes.
Bytes SlackOf(const TrainMemory& memory, const Bytes& allocated, double more,
              BatchSizes sizes) {
  const int64_t passes = PeakOf(memory, false);
  const bool later = memory.peak_phase == Phase::kOptimizer;
  double made = static_cast<double>(passes - memory.stays) + more;
  if (!later) made -= TermOf(memory, "gradients");
  Bytes out = AllocatorSlack(allocated, std::max(0.0, made), sizes);
  if (!later) return out;
  const double gap =
      std::max(0.0, static_cast<double>(PeakOf(memory, true) - passes) - more);
  const AnyFigure& plain = out.any();
  const double least =
      AllocatorSlack(allocated, 0, sizes).any().value().value_or(0);
  const auto below = [&](std::optional<double> value) {
    return std::max(least, value.value_or(0) - gap);
  };
  return Bytes::Estimated(below(plain.value()),
                          std::min(0.0, plain.low().value_or(0)),
                          below(plain.high()), "");
}

Bytes Widened(double value, double low, double high, double doubt) {
  return Bytes::Estimated(value, std::min(low, value * (1 - doubt)),
                          std::max(high, value * (1 + doubt)), "");
}

// A loss that is computed in the logits' dtype makes their logarithms and two
// gradients beside them; the library's three of float32. The logits live on
// until the optimizer's step: that is the peak, or a block of the backward
// beside them, or the step.
std::optional<double> BesideOwnLoss(const ModelConfig& config,
                                    const RecordedRun& run,
                                    const TrainMemory& found) {
  const ConfigValue* vocabulary = FieldAt(config.root, "vocab_size");
  if (vocabulary == nullptr) return 0;
  const double logits = static_cast<double>(run.job.step.batch) *
                        static_cast<double>(run.job.step.sequence) *
                        vocabulary->AsReal().value_or(0);
  TrainingJob job = run.job;
  job.loss = LossKind::kChunked;
  const auto made = TrainMemoryOf(config, {}, job);
  const auto* blocks = std::get_if<TrainMemory>(&made);
  if (blocks == nullptr) return std::nullopt;
  constexpr double kOwn = 4;
  constexpr double kLibrarys = 12;
  const auto each = static_cast<double>(BytesOf(run.job.step.dtype));
  const auto peak = static_cast<double>(found.tensors);
  double own =
      std::max(static_cast<double>(PeakOf(*blocks, false)) + each * logits,
               static_cast<double>(PeakOf(*blocks, true)));
  if (TermOf(found, "logits and loss") >= (kLibrarys - 1) * logits) {
    own = std::max(own, peak + (kOwn * each - kLibrarys) * logits);
  }
  return own - peak;
}

// What a record leaves open lies over the answer for its job.
std::optional<PeakOfRecord> PeakOfRun(const ModelConfig& config,
                                      const RecordedRun& run,
                                      const Device& card) {
  auto made = TrainMemoryOf(config, {}, run.job);
  auto* found = std::get_if<TrainMemory>(&made);
  if (found == nullptr) return std::nullopt;
  double more = 0;
  if (run.kept > 0) {
    TrainingJob all = run.job;
    all.step.checkpoint = false;
    const auto kept = TrainMemoryOf(config, {}, all);
    const auto* without = std::get_if<TrainMemory>(&kept);
    if (without == nullptr) return std::nullopt;
    more +=
        run.kept * (ValueOf(without->allocated) - ValueOf(found->allocated));
  }
  if (run.keeps_on_host) more -= TermOf(*found, "kept activations");
  if (run.steps_in_backward) more -= TermOf(*found, "gradients");
  const auto tokens = static_cast<double>(run.job.step.batch) *
                      static_cast<double>(run.job.step.sequence);
  // accelerate returns float32 copies of what autocast made in less.
  constexpr double kWide = 4;
  double of_logits = 0;
  if (run.job.step.holds_output && run.job.step.autocast) of_logits += kWide;
  const ConfigValue* vocabulary = FieldAt(config.root, "vocab_size");
  if (vocabulary != nullptr && found->peak_phase != Phase::kOptimizer) {
    more += of_logits * tokens * vocabulary->AsReal().value_or(0);
  }
  more += TermOf(*found, "weights") * static_cast<double>(run.reference_models);
  if (run.own_loss) {
    const auto beside = BesideOwnLoss(config, run, *found);
    if (!beside) return std::nullopt;
    more += *beside;
  }
  if (run.litgpt) {
    more = static_cast<double>(found->stays - found->tensors) +
           LitgptWeightsBeside(config.root, run.job) +
           LitgptMadeAnew(config.root, run.job, *run.litgpt, run.longest_first);
  }
  const AnyFigure& plain = found->allocated.any();
  PeakOfRecord out;
  const double allocated = std::max(0.0, ValueOf(found->allocated) + more);
  out.allocated =
      Widened(allocated, std::max(0.0, plain.low().value_or(0) + more),
              plain.high().value_or(0) + more, run.doubt);
  const Bytes slack = SlackOf(*found, out.allocated, more, run.sizes);
  out.reserved = out.allocated + slack;
  out.fits = true;
  out.in_optimizer = found->peak_phase == Phase::kOptimizer;
  const auto total = card.total.any().value();
  if (total) {
    const double room = *total - ValueOf(found->outside);
    out.fits = allocated <= room;
    // A full cache is given back before the card is: reserved stays below it.
    const double reserved = ValueOf(out.reserved);
    if (out.fits && reserved > room) {
      const double low = out.reserved.any().low().value_or(0);
      out.reserved = Bytes::Estimated(room, std::min(low, room), *total, "");
    }
  }
  out.device = out.reserved + found->outside;
  // A length that is a limit, and a meter that nobody names.
  constexpr double kWider = 0.25;
  const double high = out.device.any().high().value_or(0) * (1 + kWider);
  const double low = out.allocated.any().low().value_or(0) * (1 - kWider);
  out.unspecified = Bytes::Estimated(ValueOf(out.device), low, high, "");
  return out;
}

}  // namespace

Prediction PredictTrainingMemory(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  auto read = RunOfRecord(input);
  if (auto* left_out = std::get_if<LeftOut>(&read)) return std::move(*left_out);
  const RecordedRun& run = std::get<RecordedRun>(read);
  const Device card = CardOf(input);
  const auto found = PeakOfRun(*input.config, run, card);
  if (!found) return LeftOut{"the model's class or its step is not derived"};
  if (!run.has_length && !found->in_optimizer) {
    return LeftOut{"no length is stated"};
  }
  std::vector<Predicted> out = {
      {"allocated", found->allocated.any()},
      {"reserved", found->reserved.any()},
      {"device", found->device.any()},
      {"unspecified", found->unspecified.any()},
  };
  if (card.total.any().value()) {
    out.push_back({"fit", std::string(found->fits ? kRan : kOutOfMemory)});
  }
  return out;
}

std::vector<Measured> MeasureTrainingMemory(const ConfigValue& row) {
  std::vector<Measured> out;
  const std::string quantity = QuantityOf(TextOf(row, "measured.metric"));
  const std::vector<std::string> groups = GroupsOf(row, quantity);
  const ConfigValue* oom = FieldAt(row, "measured.oom");
  const bool failed = oom != nullptr && oom->AsBool().value_or(false);
  if (!failed) {
    const auto gib = RealOf(row, "measured.peak_gib_norm");
    const auto gb = RealOf(row, "measured.peak_gb_per_gpu");
    if (gib) {
      out.push_back(MeasuredNumber(quantity, *gib * kGib, groups));
    } else if (gb) {
      Measured one = MeasuredNumber(quantity, *gb * kGib, groups);
      one.low = *gb * kGb;
      one.high = *gb * kGib;
      out.push_back(std::move(one));
    }
  }
  const bool inferred =
      failed && TextOf(row, "notes").find("inferred") != std::string::npos;
  out.push_back(MeasuredText("fit", failed ? kOutOfMemory : kRan,
                             {inferred ? "fit_inferred" : "fit"}));
  return out;
}

// Of "does not fit": what was foretold of the failures, and what failed of
// what was foretold. Inferred failures stand beside the same runs that ran.
void FinishTrainingMemory(const std::vector<Score>& scores,
                          ScoreGroups& groups) {
  for (const std::string_view name : {"fit", "fit_inferred"}) {
    double failed = 0;
    double ran = 0;
    double told = 0;
    double told_wrongly = 0;
    for (const Score& score : scores) {
      if (score.quantity != "fit") continue;
      const bool is_in =
          std::ranges::find(score.groups, name) != score.groups.end();
      const bool out_of_memory = score.measured == kOutOfMemory;
      if (!is_in && out_of_memory) continue;
      const bool foretold = score.predicted == kOutOfMemory;
      (out_of_memory ? failed : ran) += 1;
      if (foretold) (out_of_memory ? told : told_wrongly) += 1;
    }
    const auto group = groups.find(std::string(name));
    if (group == groups.end()) continue;
    ScoreFigures& figures = group->second;
    figures["n_out_of_memory"] = failed;
    figures["n_ran"] = ran;
    if (failed > 0) figures["recall"] = told / failed;
    if (told + told_wrongly > 0) {
      figures["precision"] = told / (told + told_wrongly);
    }
  }
}

}  // namespace foretell
