// Peaks of measured training runs, and whether they ran out of memory.
//
// Quantities: "allocated", "reserved", "device" and "unspecified" (a peak
// whose meter is not named is compared with what is allocated), by the meter;
// "fit" with the texts "ran" and "out of memory". A figure whose unit is not
// sure (GB or GiB) is right within both readings.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/score/training_settings.h"
#include "answers/train.h"
#include "answers/train_memory.h"

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

}  // namespace

Prediction PredictTrainingMemory(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  auto job = JobOfRecord(input);
  if (auto* left_out = std::get_if<LeftOut>(&job)) return std::move(*left_out);
  const auto memory =
      TrainMemoryOf(*input.config, {}, std::get<TrainingJob>(job));
  if (std::holds_alternative<Refusal>(memory)) {
    return LeftOut{"the model's class or its step is not derived"};
  }
  const TrainMemory& found = std::get<TrainMemory>(memory);
  std::vector<Predicted> out = {
      {"allocated", found.allocated.any()},
      {"reserved", found.reserved.any()},
      {"device", found.device.any()},
      {"unspecified", found.reserved.any()},
  };
  const Device card = CardOf(input);
  if (card.total.any().value()) {
    const FitVerdict verdict = JudgeFit(found, card);
    out.push_back({"fit", std::string(verdict.likely ? kRan : kOutOfMemory)});
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
