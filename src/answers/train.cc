#include "answers/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "answers/read_model.h"
#include "answers/step_checks.h"
#include "answers/train_checks.h"
#include "answers/train_levers.h"
#include "answers/train_text.h"
#include "base/dtype.h"
#include "rules/step_rules.h"

namespace foretell {
namespace {

// Past it a step takes so long to compile that only the job itself is: a scan
// over tokens that is written out.
constexpr int64_t kMostOperations = 200'000;
// No search goes past it.
constexpr int64_t kLargestBatch = 4096;

std::optional<int64_t> Rounded(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::string DescribeDevice(const Device& device) {
  const auto total = device.total.any().value();
  constexpr double kGib = 1073741824.0;
  std::string out = device.name;
  if (total) out += fmt::format(", {:.2f} GiB seen by programs", *total / kGib);
  return out;
}

void AddKernelFinding(const Device& device, TrainAnswer& answer) {
  if (device.vendor.empty() || device.vendor == "nvidia") return;
  Finding finding;
  finding.rule = "train/kernels";
  finding.severity = Severity::kWarn;
  finding.what = fmt::format(
      "{} runs other kernels than CUDA's, whose memory is not followed",
      device.name);
  finding.why = "what attention and the optimizer keep may differ";
  answer.findings.push_back(std::move(finding));
}

class Answerer {
 public:
  Answerer(const TrainRequest& request, const BuiltModel& built)
      : request_(request), model_(request.config, request.build, built) {}

  std::variant<TrainAnswer, Refusal> Run() {
    out_.is_compiled = true;
    auto memory = MemoryOf(request_.job);
    if (auto* refusal = std::get_if<Refusal>(&memory)) {
      return std::move(*refusal);
    }
    out_.memory = std::move(std::get<TrainMemory>(memory));
    out_.setting = SettingOf(request_.job);
    out_.device = DescribeDevice(request_.device);
    out_.verdict = JudgeFit(out_.memory, request_.device);
    out_.assumptions = AssumptionsOf(request_.job);
    auto stages =
        StagesOf(model_, request_.job, out_.memory, request_.most_points);
    if (auto* refusal = std::get_if<Refusal>(&stages)) {
      return std::move(*refusal);
    }
    out_.stages = std::move(std::get<std::vector<TrainStage>>(stages));
    out_.host = HostOf(request_.job, out_.memory, request_.host_gib);
    if (out_.memory.operations <= kMostOperations) {
      SearchBatch();
      AddLevers();
    } else {
      out_.rules_not_run.emplace_back(
          "train/levers",
          fmt::format("the step has {} operations (a scan without its fused "
                      "kernel), and other jobs were not compiled",
                      WithSeparators(out_.memory.operations)));
    }
    Report();
    return std::move(out_);
  }

 private:
  std::variant<TrainMemory, Refusal> MemoryOf(const TrainingJob& job) {
    return model_.MemoryOf(job);
  }

  // What a micro-batch leaves of the card, by the best values; nothing where
  // it cannot be compiled.
  std::optional<int64_t> MarginOf(int64_t batch) {
    TrainingJob job = request_.job;
    job.step.batch = batch;
    const auto memory = MemoryOf(job);
    ++out_.candidates;
    const auto* fits = std::get_if<TrainMemory>(&memory);
    if (fits == nullptr) return std::nullopt;
    return JudgeFit(*fits, request_.device).margin;
  }

  // Needs grow about linearly with the batch, so that a guess between the two
  // nearest candidates is seldom far off: a few are compiled, not all.
  void SearchBatch() {
    if (!out_.verdict.margin) return;
    struct Tried {
      int64_t batch = 0;
      int64_t margin = 0;
    };
    std::optional<Tried> fits;
    std::optional<Tried> fails;
    const auto add = [&](int64_t batch, std::optional<int64_t> margin) {
      if (margin && *margin >= 0) {
        fits = Tried{batch, *margin};
      } else {
        // What cannot be compiled is too large.
        fails = Tried{batch, margin.value_or(-1)};
      }
    };
    add(request_.job.step.batch, out_.verdict.margin);
    while (!fits && fails && fails->batch > 1) {
      const int64_t batch = std::max<int64_t>(1, fails->batch / 2);
      add(batch, MarginOf(batch));
    }
    while (fits && !fails && fits->batch < kLargestBatch) {
      add(fits->batch * 2, MarginOf(fits->batch * 2));
    }
    while (fits && fails && fails->batch - fits->batch > 1) {
      const double share = static_cast<double>(fits->margin) /
                           static_cast<double>(fits->margin - fails->margin);
      const auto apart = static_cast<double>(fails->batch - fits->batch);
      const int64_t guess = fits->batch + static_cast<int64_t>(share * apart);
      const int64_t batch =
          std::clamp(guess, fits->batch + 1, fails->batch - 1);
      add(batch, MarginOf(batch));
    }
    const int64_t good = fits ? fits->batch : 0;
    if (good == 0) return;
    out_.largest_batch = good;
    const int64_t global = request_.global_batch.value_or(
        request_.job.step.batch * request_.job.accumulate * request_.job.gpus);
    const int64_t per_card = global / std::max<int64_t>(1, request_.job.gpus);
    for (int64_t batch = std::min(good, per_card); batch > 0; --batch) {
      if (per_card % batch != 0) continue;
      out_.fitting_batch = batch;
      out_.accumulate = per_card / batch;
      break;
    }
  }

  void AddLevers() {
    const double now = out_.verdict.needed.any().value().value_or(0);
    for (JobChange& change : ChangesOf(request_.job)) {
      const auto memory = MemoryOf(change.job);
      const auto* changed = std::get_if<TrainMemory>(&memory);
      if (changed == nullptr) continue;
      Lever lever;
      lever.what = std::move(change.what);
      lever.option = std::move(change.option);
      lever.training = std::move(change.training);
      lever.verdict = JudgeFit(*changed, request_.device);
      lever.needed = lever.verdict.needed;
      lever.saved =
          static_cast<int64_t>(now - lever.needed.any().value().value_or(0));
      if (out_.memory.flops > 0) {
        lever.flops = static_cast<double>(changed->flops) /
                      static_cast<double>(out_.memory.flops) *
                      static_cast<double>(request_.job.step.batch) /
                      static_cast<double>(change.job.step.batch);
      }
      out_.levers.push_back(std::move(lever));
    }
  }

  void Report() {
    constexpr double kGib = 1073741824.0;
    out_.rules_ran.emplace_back("train/fit");
    ReportEvaluation();
    if (request_.host_gib) out_.rules_ran.emplace_back("train/host");
    if (out_.host.finding) out_.findings.push_back(*out_.host.finding);
    if (out_.verdict.fit == Fit::kFits) return;
    Finding finding;
    finding.rule = "train/fit";
    const double needed = out_.verdict.needed.any().value().value_or(0) / kGib;
    const auto total = request_.device.total.any().value();
    if (out_.verdict.fit == Fit::kCannotTell) {
      std::erase(out_.rules_ran, "train/fit");
      out_.rules_not_run.emplace_back(
          "train/fit",
          total ? fmt::format("{:.1f} GiB are needed, give or take, and the "
                              "card has {:.1f}",
                              needed, *total / kGib)
                : "the card's memory is not known");
      return;
    }
    finding.severity = Severity::kBlock;
    finding.what = fmt::format(
        "the job needs {:.1f} GiB and the card has "
        "{:.1f}",
        needed, total.value_or(0) / kGib);
    finding.why = "torch.OutOfMemoryError in the " +
                  std::string(foretell::NameOf(out_.memory.peak_phase));
    finding.fix = Fix();
    out_.findings.push_back(std::move(finding));
  }

  // An evaluation may take more than a step: the logits that it keeps.
  void ReportEvaluation() {
    const auto evaluation =
        std::ranges::find(out_.stages, "evaluation", &TrainStage::name);
    const auto total = request_.device.total.any().value();
    if (evaluation == out_.stages.end() || !total) return;
    out_.rules_ran.emplace_back("train/evaluation");
    const double beside = (out_.memory.workspaces + out_.memory.outside)
                              .any()
                              .value()
                              .value_or(0);
    const double needed = static_cast<double>(evaluation->peak) + beside;
    if (needed <= *total) return;
    constexpr double kGib = 1073741824.0;
    Finding finding;
    finding.rule = "train/evaluation";
    finding.severity = Severity::kWarn;
    finding.what =
        fmt::format("an evaluation needs {:.1f} GiB and the card has {:.1f}",
                    needed / kGib, *total / kGib);
    finding.why = request_.job.eval_batches > 0
                      ? "the logits of all its batches stay on the card"
                      : "its forward takes more than the card has";
    finding.fix =
        request_.job.eval_batches > 1 ? "--eval-batches 1" : "--eval-batch 1";
    out_.findings.push_back(std::move(finding));
  }

  // The change that keeps the run the same, else the first that fits.
  std::string Fix() const {
    if (out_.largest_batch && out_.accumulate) {
      return fmt::format("--batch {} --accumulate {}", out_.fitting_batch,
                         *out_.accumulate);
    }
    for (const Lever& lever : out_.levers) {
      if (lever.verdict.likely) return lever.option;
    }
    return "";
  }

  const TrainRequest& request_;
  TrainModel model_;
  TrainAnswer out_;
};

// Gives the job the dtype that its weights have; what cannot be a step at all
// is told.
std::optional<Refusal> Prepare(const ReadModel& whole, TrainRequest& request) {
  request.job.step.dtype = whole.built.dtype;
  auto errors = CheckStep(whole, request.build, request.job.step);
  if (errors.empty()) return std::nullopt;
  return Refusal{std::move(errors)};
}

TrainTime TimeOf(const ReadModel& whole, const TrainRequest& request,
                 const TrainMemory& memory) {
  const auto all =
      static_cast<double>(whole.parameters.total.any().value().value_or(0));
  const auto trained = static_cast<double>(memory.trained);
  return TimeOfTraining({.model = &whole,
                         .config = &request.config,
                         .job = &request.job,
                         .device = &request.device,
                         .costs = &request.costs,
                         .trained_share = all > 0 ? trained / all : 1});
}

}  // namespace

std::string_view NameOf(Fit fit) {
  switch (fit) {
    case Fit::kFits:
      return "fits";
    case Fit::kDoesNotFit:
      return "does not fit";
    case Fit::kCannotTell:
      return "cannot tell";
  }
  return "cannot tell";
}

FitVerdict JudgeFit(const TrainMemory& memory, const Device& device) {
  FitVerdict out;
  out.needed = memory.allocated + memory.outside;
  out.available = device.total;
  const AnyFigure& needed = out.needed.any();
  const AnyFigure& available = out.available.any();
  if (!needed.value() || !available.value()) return out;
  out.margin = Rounded(*available.value() - *needed.value());
  out.likely = *out.margin >= 0;
  if (needed.high().value_or(0) <= available.low().value_or(0)) {
    out.fit = Fit::kFits;
  } else if (needed.low().value_or(0) > available.high().value_or(0)) {
    out.fit = Fit::kDoesNotFit;
  }
  return out;
}

std::variant<TrainFigures, Refusal> FiguresOfRequest(TrainRequest request) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  if (auto refusal = Prepare(whole, request)) return std::move(*refusal);
  auto memory = TrainModel(request.config, request.build, whole.built)
                    .MemoryOf(request.job);
  if (auto* refusal = std::get_if<Refusal>(&memory)) return std::move(*refusal);
  TrainFigures out;
  out.memory = std::move(std::get<TrainMemory>(memory));
  out.time = TimeOf(whole, request, out.memory);
  return out;
}

std::variant<TrainAnswer, Refusal> AnswerTrain(TrainRequest request) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  if (auto refusal = Prepare(whole, request)) return std::move(*refusal);
  std::vector<Finding> findings;
  for (const StepRule& rule : StepRules()) {
    RuleOutcome outcome = rule.run(RuleInputOf(whole, request.job.step));
    std::ranges::move(outcome.findings, std::back_inserter(findings));
  }
  std::ranges::move(CheckJob(request.job, request.device),
                    std::back_inserter(findings));
  TrainAnswer blocked;
  const bool is_blocked = AnyBlocks(findings);
  if (is_blocked) {
    blocked.setting = SettingOf(request.job);
    blocked.device = DescribeDevice(request.device);
  }
  std::variant<TrainAnswer, Refusal> result =
      is_blocked ? std::variant<TrainAnswer, Refusal>(std::move(blocked))
                 : Answerer(request, whole.built).Run();
  if (auto* answer = std::get_if<TrainAnswer>(&result)) {
    if (answer->is_compiled) {
      answer->time = TimeOf(whole, request, answer->memory);
    }
    answer->name = request.config.catalogue ? request.config.catalogue->id
                                            : request.config.source;
    answer->class_name = whole.built.class_name;
    std::ranges::copy(whole.log.findings, std::back_inserter(answer->findings));
    std::ranges::move(RulesOfJobs(), std::back_inserter(answer->rules_ran));
    std::ranges::move(findings, std::back_inserter(answer->findings));
    AddKernelFinding(request.device, *answer);
  }
  return result;
}

}  // namespace foretell
