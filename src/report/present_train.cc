#include "report/present_train.h"
#include "report/runs_section.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "report/findings_section.h"
#include "report/present_train_time.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;

std::string VerdictText(const FitVerdict& verdict) {
  std::string out(NameOf(verdict.fit));
  if (verdict.fit == Fit::kCannotTell && verdict.margin) {
    out += verdict.likely ? " (fits by the best value)"
                          : " (does not fit by the best value)";
  }
  return out;
}

// For a table.
std::string ShortVerdict(const FitVerdict& verdict) {
  if (verdict.fit != Fit::kCannotTell) return std::string(NameOf(verdict.fit));
  if (!verdict.margin) return "cannot tell";
  return verdict.likely ? "likely fits" : "likely does not";
}

std::string PeakText(const TrainMemory& memory) {
  if (memory.operation.empty()) {
    return fmt::format("in the {}", NameOf(memory.peak_phase));
  }
  return fmt::format("in the {}, as {}{} ran", NameOf(memory.peak_phase),
                     memory.operation,
                     memory.module.empty() ? "" : " of " + memory.module);
}

class Presenter {
 public:
  Presenter(const TrainAnswer& answer, const TrainView& view)
      : answer_(answer),
        memory_(answer.memory),
        view_(view),
        document_(TrainShape()) {}

  Document Present() && {
    document_.Set("name", answer_.name);
    document_.Set("class", answer_.class_name);
    document_.Set("setting", answer_.setting);
    document_.Set("device", answer_.device);
    if (answer_.is_compiled) {
      AddVerdict();
      AddPeak();
      SetRuns(document_, view_.by_runs);
      AddStages();
      AddHost();
      AddWhatFits();
      AddTrainTime(answer_.time, document_);
    }
    for (const std::string& one : answer_.assumptions) {
      document_.AddRow("assumptions", {one});
    }
    if (!memory_.not_exact.empty()) {
      document_.Set("not_exact", memory_.not_exact);
    }
    std::vector<RuleNotRun> not_run;
    for (const auto& [rule, reason] : answer_.rules_not_run) {
      not_run.push_back({rule, reason});
    }
    SetFindings(document_, answer_.findings, answer_.rules_ran, not_run);
    return std::move(document_);
  }

 private:
  // Bytes of tensors, with the interval of the whole.
  AnyFigure Tensors(int64_t bytes) const {
    if (memory_.not_exact.empty()) {
      return AnyFigure::Exact(Unit::kBytes, bytes);
    }
    const AnyFigure& all = memory_.allocated.any();
    const double value = all.value().value_or(1);
    const auto real = static_cast<double>(bytes);
    return AnyFigure::Estimated(Unit::kBytes, real,
                                real * all.low().value_or(value) / value,
                                real * all.high().value_or(value) / value, "");
  }

  void AddVerdict() {
    const FitVerdict& verdict = answer_.verdict;
    document_.Set("verdict", VerdictText(verdict));
    if (verdict.margin) {
      const double margin = static_cast<double>(*verdict.margin) / kGib;
      document_.Set("margin", fmt::format("{:.1f} GiB {}", std::abs(margin),
                                          margin < 0 ? "too little" : "left"));
    }
    document_.Set("needed", verdict.needed.any());
    document_.Set("available", verdict.available.any());
    document_.Set("peak_at", PeakText(memory_));
    document_.Set("trained",
                  AnyFigure::Exact(Unit::kParameters, memory_.trained));
  }

  void AddPeak() {
    for (const MemoryTerm& term : memory_.terms) {
      document_.AddRow("at_peak", {term.name, Tensors(term.bytes)});
    }
    document_.AddRow("at_peak",
                     {"library workspaces", memory_.workspaces.any()});
    document_.AddRow("at_peak",
                     {"outside the allocator", memory_.outside.any()});
    document_.AddRow("levels", {"allocated", memory_.allocated.any(),
                                "tensors and workspaces "
                                "(torch.cuda.max_memory_allocated)"});
    document_.AddRow("levels", {"reserved", memory_.reserved.any(),
                                "with the allocator's holes "
                                "(torch.cuda.max_memory_reserved)"});
    document_.AddRow("levels", {"device", memory_.device.any(),
                                "with context and communicator "
                                "(nvidia-smi)"});
    for (const TrainPhase& phase : memory_.phases) {
      document_.AddRow("phases", {NameOf(phase.phase), Tensors(phase.peak)});
    }
  }

  AnyFigure OfStage(const TrainStage& stage, int64_t bytes) const {
    if (stage.is_exact) return AnyFigure::Exact(Unit::kBytes, bytes);
    if (!memory_.not_exact.empty()) return Tensors(bytes);
    // What a library's own kernels of another stage may be off by.
    constexpr double kMargin = 0.1;
    const auto real = static_cast<double>(bytes);
    return AnyFigure::Estimated(Unit::kBytes, real, real * (1 - kMargin),
                                real * (1 + kMargin), "");
  }

  void AddStages() {
    for (const TrainStage& stage : answer_.stages) {
      document_.AddRow("stages", {stage.name, OfStage(stage, stage.peak),
                                  OfStage(stage, stage.stays), stage.at});
    }
    if (!view_.timeline_file.empty()) {
      document_.Set("timeline", view_.timeline_file);
    }
  }

  void AddHost() {
    for (const HostTerm& term : answer_.host.memory) {
      document_.AddRow("host", {term.name, term.bytes.any(), term.what});
    }
    document_.Set("host_peak", answer_.host.peak.any());
    for (const HostTerm& term : answer_.host.disk) {
      document_.AddRow("disk", {term.name, term.bytes.any(), term.what});
    }
  }

  void AddWhatFits() {
    if (answer_.largest_batch) {
      document_.Set("largest_batch", *answer_.largest_batch);
    }
    if (answer_.accumulate) {
      document_.Set("accumulate",
                    fmt::format("--batch {} --accumulate {}",
                                answer_.fitting_batch, *answer_.accumulate));
    }
    document_.Set("candidates", answer_.candidates);
    for (const Lever& lever : answer_.levers) {
      document_.AddRow(
          "levers", {lever.what, lever.option, lever.needed.any(),
                     ShortVerdict(lever.verdict),
                     fmt::format("{:.2f} times", lever.flops),
                     lever.training.empty() ? Cell() : Cell(lever.training)});
    }
  }

  const TrainAnswer& answer_;
  const TrainMemory& memory_;
  const TrainView& view_;
  Document document_;
};

}  // namespace

std::vector<std::string_view> CardsOfFits() {
  return {"rtx-4090", "rtx-5090", "a100-40gb", "l40s",
          "h100",     "h200",     "b200",      "mi300x"};
}

Document PresentFits(const FitsAnswer& answer) {
  Document out(TrainShape());
  out.Set("name", answer.name);
  out.Set("class", answer.class_name);
  out.Set("setting", answer.setting);
  for (const MethodRow& row : answer.methods) {
    std::vector<Cell> cells = {row.method, row.option, row.needed.any()};
    for (const MethodOnCard& card : row.cards) {
      std::string text = card.batch > 0 ? std::to_string(card.batch) : "no";
      if (!card.is_certain) text += "?";
      cells.emplace_back(std::move(text));
    }
    out.AddRow("fits", std::move(cells));
  }
  for (const std::string& one : answer.assumptions) {
    out.AddRow("assumptions", {one});
  }
  SetFindings(out, {}, {}, {});
  return out;
}

Document PresentTrain(const TrainAnswer& answer, const TrainView& view) {
  return Presenter(answer, view).Present();
}

}  // namespace foretell
