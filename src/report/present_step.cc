#include "report/present_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/figure.h"
#include "report/findings_section.h"

namespace foretell {
namespace {

// How far an estimate may be off either way: 95 % of the figures of steps that
// were derived as another version of the library runs them are within it, and
// 86 % or more of each class but T5.
// Source: tools/fit/step_margin.py over tests/truth/steps_transformers4.jsonl,
// 231 figures of 13 classes: 0.0468.
constexpr double kMargin = 0.05;

class Presenter {
 public:
  Presenter(const StepAnswer& answer, const StepView& view)
      : answer_(answer), view_(view), document_(StepShape()) {}

  Document Present() && {
    document_.Set("name", answer_.name);
    document_.Set("class", answer_.class_name);
    document_.Set("setting", answer_.setting);
    if (!view_.timeline_file.empty()) {
      document_.Set("timeline_file", view_.timeline_file);
    }
    if (answer_.result) AddResult(*answer_.result);
    std::vector<RuleNotRun> not_run;
    for (const auto& [rule, reason] : answer_.rules_not_run) {
      not_run.push_back({rule, reason});
    }
    SetFindings(document_, answer_.findings, answer_.rules_ran, not_run);
    return std::move(document_);
  }

 private:
  AnyFigure Claim(Unit unit, int64_t value) const {
    if (answer_.not_exact.empty()) return AnyFigure::Exact(unit, value);
    const auto real = static_cast<double>(value);
    return AnyFigure::Estimated(unit, real, real * (1 - kMargin),
                                real * (1 + kMargin), "");
  }
  AnyFigure Bytes(int64_t value) const { return Claim(Unit::kBytes, value); }
  AnyFigure Flops(int64_t value) const { return Claim(Unit::kFlops, value); }

  void AddResult(const StepResult& result) {
    document_.Set("peak", Bytes(result.peak));
    document_.Set("peak_at", DescribeMoment(result.peak_at, result.operations));
    document_.Set("exact", answer_.not_exact.empty());
    if (!answer_.not_exact.empty()) {
      document_.Set("not_exact", answer_.not_exact);
    }
    AddKinds(result);
    AddPhases(result);
    if (view_.by_region) AddRegions(result);
    if (view_.by_operator) AddOperators(result);
    AddKernels(result);
    if (view_.reconcile.empty()) {
      AddUncountedProducts(result);
    } else {
      AddConventions(result);
    }
    for (const std::string& one : answer_.assumptions) {
      document_.AddRow("assumptions", {one});
    }
  }

  void AddKinds(const StepResult& result) {
    std::vector<std::pair<int64_t, MemoryKind>> kinds;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
      const int64_t bytes = result.at_peak[i];
      if (bytes > 0) kinds.emplace_back(bytes, static_cast<MemoryKind>(i));
    }
    std::ranges::stable_sort(
        kinds, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [bytes, kind] : kinds) {
      document_.AddRow("at_peak", {NameOf(kind), Bytes(bytes)});
    }
  }

  void AddPhases(const StepResult& result) {
    for (const StepPhase& phase : result.phases) {
      const StepMoment& at = phase.peak_at;
      document_.AddRow("phases",
                       {NameOf(at.phase), phase.operations, Flops(phase.flops),
                        Bytes(phase.peak),
                        at.operation.empty() ? Cell() : Cell(at.operation),
                        at.module.empty() ? Cell() : Cell(at.module)});
    }
    document_.Set("flops", Flops(result.flops));
    const auto set = [this](const char* path,
                            const std::optional<int64_t>& value) {
      if (value) document_.Set(path, Bytes(*value));
    };
    set("kept_bytes", result.kept_bytes);
    if (result.kept_count) document_.Set("kept_count", *result.kept_count);
    set("gradient_bytes", result.gradient_bytes);
    set("optimizer_bytes", result.optimizer_bytes);
    set("cache_bytes", result.cache_bytes);
  }

  void AddRegions(const StepResult& result) {
    document_.Touch("regions_at_peak");
    document_.Touch("regions");
    for (const StepModule& row : result.modules) {
      if (row.at_peak > 0) {
        document_.AddRow("regions_at_peak", {row.name, Bytes(row.at_peak)});
      }
      if (row.flops_forward + row.flops_backward + row.kept == 0) continue;
      document_.AddRow("regions",
                       {row.name, row.times, Flops(row.flops_forward),
                        Flops(row.flops_backward), Bytes(row.kept)});
    }
  }

  void AddOperators(const StepResult& result) {
    document_.Touch("operators");
    for (const StepOperator& row : result.operators) {
      document_.AddRow("operators",
                       {row.name, row.calls, Flops(row.flops_forward),
                        Flops(row.flops_backward), Bytes(row.kept)});
    }
  }

  void AddKernels(const StepResult& result) {
    for (const AttentionKernel& one : result.attention_kernels) {
      document_.AddRow("attention_kernels", {one.kernel, one.calls, one.why});
    }
  }

  // Products that the counter has no formula for, beside its sum.
  void AddUncountedProducts(const StepResult& result) {
    for (const UncountedOperation& one : result.uncounted) {
      if (one.flops == 0) continue;
      document_.AddRow("uncounted", {one.name, one.times, one.flops});
    }
  }

  void AddConventions(const StepResult& result) {
    document_.Touch("conventions");
    double base = 0;
    for (const FlopsConvention& one : result.conventions) {
      if (one.name == view_.reconcile) {
        base = one.flops.any().value().value_or(0);
      }
    }
    for (const FlopsConvention& one : result.conventions) {
      const double flops = one.flops.any().value().value_or(0);
      document_.AddRow(
          "conventions",
          {one.name, one.flops.any(),
           base > 0 ? Cell(fmt::format("{:.4f}", flops / base)) : Cell(),
           one.rule});
    }
    for (const FlopsTerm& term : result.reconciliation) {
      document_.AddRow("reconciliation", {term.what, term.flops});
    }
    for (const UncountedOperation& one : result.uncounted) {
      document_.AddRow("uncounted", {one.name, one.times, one.flops});
    }
  }

  const StepAnswer& answer_;
  const StepView& view_;
  Document document_;
};

}  // namespace

std::string DescribeMoment(const StepMoment& moment, int64_t operations) {
  if (moment.operation.empty()) {
    return fmt::format("as the {} begins", NameOf(moment.phase));
  }
  return fmt::format("in the {}, as {}{} ran (operation {} of {})",
                     NameOf(moment.phase), moment.operation,
                     moment.module.empty() ? "" : " of " + moment.module,
                     WithSeparators(moment.ran), WithSeparators(operations));
}

Document PresentStep(const StepAnswer& answer, const StepView& view) {
  return Presenter(answer, view).Present();
}

}  // namespace foretell
