#include "answers/train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "answers/read_model.h"
#include "answers/step_checks.h"
#include "answers/train_levers.h"
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

std::string_view NameOf(Sharding sharding) {
  switch (sharding) {
    case Sharding::kNone:
      return "not divided";
    case Sharding::kDdp:
      return "DDP";
    case Sharding::kZero1:
      return "ZeRO 1";
    case Sharding::kZero2:
      return "ZeRO 2";
    case Sharding::kZero3:
      return "ZeRO 3";
    case Sharding::kFsdp1:
      return "FSDP 1";
    case Sharding::kFsdp2:
      return "FSDP 2";
  }
  return "";
}

std::string_view NameOf(WeightFormat format) {
  switch (format) {
    case WeightFormat::kNone:
      return "";
    case WeightFormat::kNf4:
      return "nf4";
    case WeightFormat::kInt8:
      return "int8";
    case WeightFormat::kGptq4:
      return "gptq";
  }
  return "";
}

// "full, batch 8, 4,096 tokens, bfloat16, sdpa attention, adamw_fused"
std::string SettingOf(const TrainingJob& job) {
  const StepCase& step = job.step;
  std::vector<std::string> parts;
  if (!step.lora) {
    parts.emplace_back("full");
  } else {
    parts.push_back(fmt::format(
        "{} r={} on {}", job.weights == WeightFormat::kNone ? "LoRA" : "QLoRA",
        step.lora->rank, fmt::join(step.lora->targets, "+")));
  }
  parts.push_back(fmt::format("batch {}", step.batch));
  if (job.accumulate > 1) {
    parts.push_back(fmt::format("{} micro-steps", job.accumulate));
  }
  parts.push_back(fmt::format("{} tokens", WithSeparators(step.sequence)));
  parts.emplace_back(foretell::NameOf(step.dtype));
  if (job.weights != WeightFormat::kNone) {
    parts.push_back(fmt::format("{} weights", NameOf(job.weights)));
  }
  if (step.autocast) {
    parts.push_back(
        fmt::format("autocast {}", foretell::NameOf(*step.autocast)));
  }
  parts.push_back(step.attention + " attention");
  if (step.checkpoint) parts.emplace_back("every block checkpointed");
  if (job.loss == LossKind::kFused) parts.emplace_back("fused loss");
  if (job.loss == LossKind::kChunked) parts.emplace_back("chunked loss");
  parts.push_back(job.optimizer.empty() ? step.optimizer : job.optimizer);
  if (job.gpus > 1) {
    parts.push_back(
        fmt::format("{} over {} cards", NameOf(job.sharding), job.gpus));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
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
  explicit Answerer(const TrainRequest& request) : request_(request) {}

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
    out_.assumptions = AssumptionsOf(request_);
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
  std::variant<TrainMemory, Refusal> MemoryOf(const TrainingJob& job) const {
    return TrainMemoryOf(request_.config, request_.build, job);
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
    if (out_.verdict.fit == Fit::kFits) return;
    Finding finding;
    finding.rule = "train/fit";
    const double needed = out_.verdict.needed.any().value().value_or(0) / kGib;
    const auto total = request_.device.total.any().value();
    if (out_.verdict.fit == Fit::kCannotTell) {
      out_.rules_ran.clear();
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
  TrainAnswer out_;
};

}  // namespace

std::string SettingOfFits(const TrainingJob& job) {
  return fmt::format("{} tokens, {}, {} attention",
                     WithSeparators(job.step.sequence),
                     foretell::NameOf(job.step.dtype), job.step.attention);
}

std::vector<std::string> AssumptionsOf(const TrainRequest& request) {
  const StepCase& step = request.job.step;
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "eager PyTorch {} and transformers {}, with the kernels of sm{}",
      step.torch, step.transformers, step.capability));
  out.emplace_back(step.holds_output
                       ? "the loop holds what the forward returns, logits "
                         "included, until the backward has run (--loop hold)"
                       : "the loop keeps the loss alone of what the forward "
                         "returns, as transformers' Trainer does");
  if (!step.autocast && !request.job.master_weights) {
    out.push_back(fmt::format(
        "parameters, gradients and what the optimizer keeps are {}, without "
        "autocast",
        foretell::NameOf(step.dtype)));
  }
  out.emplace_back(
      "a later step: the optimizer's states lie there already, gradients are "
      "let go by zero_grad(set_to_none=True)");
  if (!step.mask) out.emplace_back("every sequence is full: no padding mask");
  if (step.lora && step.lora->float32) {
    out.emplace_back(
        "adapters of half-precision models are float32, as peft "
        "makes them");
  }
  if (request.job.weights == WeightFormat::kNf4) {
    out.emplace_back(request.job.double_quant
                         ? "the scales of the 4-bit weights are quantized too"
                         : "the scales of the 4-bit weights are float32");
  }
  if (request.job.weights != WeightFormat::kNone) {
    out.emplace_back(request.job.prepared_float32
                         ? "what is not packed is float32 "
                           "(prepare_model_for_kbit_training)"
                         : "what is not packed stays in the model's dtype");
  }
  return out;
}

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

std::variant<TrainAnswer, Refusal> AnswerTrain(TrainRequest request) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  request.job.step.dtype = whole.built.dtype;
  auto errors = CheckStep(whole, request.build, request.job.step);
  if (!errors.empty()) return Refusal{std::move(errors)};
  std::vector<Finding> findings;
  for (const StepRule& rule : StepRules()) {
    RuleOutcome outcome = rule.run(RuleInputOf(whole, request.job.step));
    std::ranges::move(outcome.findings, std::back_inserter(findings));
  }
  TrainAnswer blocked;
  const bool is_blocked = AnyBlocks(findings);
  if (is_blocked) {
    blocked.setting = SettingOf(request.job);
    blocked.device = DescribeDevice(request.device);
  }
  std::variant<TrainAnswer, Refusal> result =
      is_blocked ? std::variant<TrainAnswer, Refusal>(std::move(blocked))
                 : Answerer(request).Run();
  if (auto* answer = std::get_if<TrainAnswer>(&result)) {
    answer->name = request.config.catalogue ? request.config.catalogue->id
                                            : request.config.source;
    answer->class_name = whole.built.class_name;
    std::ranges::copy(whole.log.findings, std::back_inserter(answer->findings));
    std::ranges::move(findings, std::back_inserter(answer->findings));
    AddKernelFinding(request.device, *answer);
  }
  return result;
}

}  // namespace foretell
