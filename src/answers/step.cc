#include "answers/step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "answers/claims.h"
#include "answers/compile_step.h"
#include "answers/step_checks.h"
#include "answers/step_figures.h"
#include "base/checked.h"
#include "base/figure.h"
#include "base/library.h"
#include "graph/operation_row.h"
#include "graph/tape.h"
#include "rules/step_rules.h"

namespace foretell {
namespace {

std::string_view NameOf(StepMode mode) {
  switch (mode) {
    case StepMode::kTrain:
      return "train";
    case StepMode::kForward:
      return "forward";
    case StepMode::kPrefill:
      return "prefill";
    case StepMode::kDecode:
      return "decode";
  }
  return "train";
}

// "train, batch 2, 512 tokens, bfloat16, sdpa, checkpoint full, adamw_fused"
std::string SettingOf(const StepCase& step, DType dtype) {
  std::vector<std::string> parts = {
      std::string(NameOf(step.mode)), fmt::format("batch {}", step.batch),
      fmt::format("{} tokens", WithSeparators(step.sequence))};
  if (step.target > 0) {
    parts.push_back(fmt::format("{} to write", WithSeparators(step.target)));
  }
  parts.emplace_back(foretell::NameOf(dtype));
  if (step.autocast) {
    parts.push_back(
        fmt::format("autocast {}", foretell::NameOf(*step.autocast)));
  }
  parts.push_back(step.attention + " attention");
  if (step.mode != StepMode::kTrain) {
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  if (step.accumulate > 1) {
    parts.push_back(fmt::format("the last of {} micro-batches",
                                WithSeparators(step.accumulate)));
  }
  if (step.checkpoint) parts.emplace_back("every block checkpointed");
  if (step.lora) {
    parts.push_back(fmt::format("LoRA r={} on {}", step.lora->rank,
                                fmt::join(step.lora->targets, "+")));
  }
  if (!step.frozen.empty()) {
    parts.push_back(fmt::format("frozen {}", fmt::join(step.frozen, ", ")));
  }
  parts.push_back(step.optimizer == "none" ? "no optimizer" : step.optimizer);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> AssumptionsOf(const StepCase& step) {
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "eager PyTorch {}{} and transformers {}{}, with the kernels of sm{}",
      step.torch,
      IsFollowedTorch(step.torch)
          ? ""
          : fmt::format(" (taken as {})", FollowedTorch()),
      step.transformers,
      IsFollowed(step.transformers)
          ? ""
          : fmt::format(" (taken as {})", LibraryFor(step.transformers).name),
      step.capability));
  if (step.mode == StepMode::kTrain) {
    out.emplace_back(
        step.holds_output
            ? "the loop holds what the forward returns, logits included, until "
              "the backward has run"
            : "the loop holds the loss alone of what the forward returns");
    out.emplace_back(
        "gradients that meet at one tensor are added out of place");
  }
  if (step.mode == StepMode::kTrain && step.optimizer != "none") {
    out.emplace_back(
        step.first_step
            ? "the first step: the optimizer makes its states in it"
            : "a later step: the optimizer's states lie there already "
              "(--first-step: it makes them)");
  }
  out.emplace_back(step.mask ? "an attention mask is passed, and is full"
                             : "no attention mask is passed");
  out.emplace_back(
      "not in any figure: workspaces of libraries (cuBLAS, cuDNN), rounding "
      "and holes of the caching allocator, the driver's context");
  return out;
}

std::optional<int64_t> Sum(const std::map<std::string, int64_t>& counts) {
  std::optional<int64_t> sum = 0;
  for (const auto& [name, count] : counts) {
    if (sum) sum = CheckedAdd(*sum, count);
  }
  return sum;
}

Refusal TooLarge(const StepRequest& request) {
  InputError error;
  error.place.key = "--seq";
  error.what = fmt::format(
      "a size or a count of this step passes 2^63 - 1 (batch {}, {} tokens)",
      request.step.batch, request.step.sequence);
  error.cure = "lower --batch or --seq";
  return Refusal{{error}};
}

// Fills the result from a compiled step.
class Summary {
 public:
  Summary(const CompiledStep& step, const StepFigures& figures)
      : step_(step),
        graph_(step.graph()),
        figures_(figures),
        occupancy_(
            graph_, figures.memory,
            {.gradients = step.gradients,
             .states = step.states,
             .returned = step.returned,
             .cache = step.cache,
             .recomputed = step.model.built.builder->tape().recomputed}) {}

  bool Fill(size_t most_points, StepResult& out) {
    CountOperations();
    out.operations = static_cast<int64_t>(graph_.operations.size());
    const PhaseMemory* peak = nullptr;
    for (size_t i = 0; i < figures_.memory.phases.size(); ++i) {
      const PhaseMemory& phase = figures_.memory.phases[i];
      if (peak == nullptr || phase.peak > peak->peak) peak = &phase;
      if (!AddPhase(phase, i, out)) return false;
    }
    if (peak == nullptr) return false;
    out.peak = peak->peak;
    out.peak_at = MomentOf(*peak);
    out.at_peak = occupancy_.At(*peak);
    const auto figure = [this](const char* name) -> std::optional<int64_t> {
      const auto at = figures_.figures.find(name);
      if (at == figures_.figures.end()) return std::nullopt;
      return at->second;
    };
    out.kept_bytes = figure("saved_bytes");
    out.kept_count = figure("saved_count");
    out.gradient_bytes = figure("gradient_bytes");
    out.optimizer_bytes = figure("optimizer_bytes");
    out.cache_bytes = figure("cache_bytes");
    out.operators = OperatorsOf(step_);
    out.modules = ModulesOf(step_, occupancy_, *peak);
    if (most_points > 0) out.timeline = occupancy_.Points(most_points);
    return true;
  }

 private:
  void CountOperations() {
    size_t phase = 0;
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      while (phase < graph_.phases.size() &&
             graph_.phases[phase].first_step <= at) {
        ++phase;
      }
      if (graph_.steps[at].kind == Step::Kind::kDrop) continue;
      counts_.resize(std::max(counts_.size(), phase + 1));
      ++counts_[phase];
      if (ran_.size() <= graph_.steps[at].index) {
        ran_.resize(graph_.steps[at].index + size_t{1});
      }
      ran_[graph_.steps[at].index] = ++run_;
    }
  }

  StepMoment MomentOf(const PhaseMemory& phase) const {
    StepMoment out;
    out.phase = phase.phase;
    if (!phase.at.valid()) return out;
    const Operation& operation = graph_.operations[phase.at.index];
    out.operation = operation.row->name;
    out.module = graph_.PathOf(operation.region);
    out.ran = ran_[phase.at.index];
    return out;
  }

  bool AddPhase(const PhaseMemory& phase, size_t index, StepResult& out) const {
    StepPhase row;
    row.peak = phase.peak;
    row.peak_at = MomentOf(phase);
    row.operations = index + 1 < counts_.size() ? counts_[index + 1] : 0;
    std::optional<int64_t> flops = 0;
    if (phase.phase == Phase::kForward) flops = Sum(figures_.flops_forward);
    if (phase.phase == Phase::kBackward) flops = Sum(figures_.flops_backward);
    const auto total =
        flops ? CheckedAdd(out.flops, *flops) : std::optional<int64_t>();
    if (!total) return false;
    row.flops = *flops;
    out.flops = *total;
    out.phases.push_back(std::move(row));
    return true;
  }

  const CompiledStep& step_;
  const Graph& graph_;
  const StepFigures& figures_;
  Occupancy occupancy_;
  std::vector<int64_t> counts_;  // operations; by phase, from 1
  std::vector<int64_t> ran_;     // by operation: how many had run with it
  int64_t run_ = 0;
};

// Runs the rules; true where one blocks.
bool Judge(const StepRuleInput& input, StepAnswer& out) {
  for (const StepRule& rule : StepRules()) {
    RuleOutcome outcome = rule.run(input);
    if (!outcome.cannot_tell.empty()) {
      out.rules_not_run.emplace_back(rule.id, outcome.cannot_tell);
      continue;
    }
    out.rules_ran.emplace_back(rule.id);
    std::ranges::move(outcome.findings, std::back_inserter(out.findings));
  }
  return AnyBlocks(out.findings);
}

}  // namespace

namespace {

// Recurrences whose fused kernels come with packages of their own.
void AddLoops(const Graph& graph, std::vector<std::string>& out) {
  const bool mixes = std::ranges::any_of(graph.regions, [](const Region& one) {
    return one.kind == RegionKind::kMixer;
  });
  if (!mixes) return;
  out.emplace_back(
      "recurrences and short convolutions run as their library's own loops and "
      "products, token by token or in chunks: fused kernels (mamba-ssm, "
      "causal-conv1d, flash-linear-attention) are not installed");
}

// Nothing where the products pass 2^63 - 1, as the conventions then do.
void AddConventions(const CompiledStep& compiled, const StepCase& step,
                    StepResult& out) {
  const auto products = MeasureProducts(
      compiled.graph(), compiled.model.built.builder->tape().recomputed);
  const auto tokens = CheckedMul(step.batch, step.sequence);
  if (!products || !tokens) return;
  const ParameterAnalysis& parameters = compiled.model.parameters;
  out.conventions = FlopsConventions(*products, parameters, *tokens);
  out.uncounted = UncountedOperations(compiled.graph());
  // 6 N D is a training step's.
  if (step.mode != StepMode::kTrain) return;
  out.reconciliation = ReconcileFlops(*products, parameters, *tokens);
}

}  // namespace

std::variant<StepAnswer, Refusal> AnswerStep(const StepRequest& request) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  auto errors = CheckStep(whole, request.build, request.step);
  if (!errors.empty()) return Refusal{std::move(errors)};
  StepAnswer out;
  out.name = request.config.ShownName();
  out.class_name = whole.built.class_name;
  out.setting = SettingOf(request.step, whole.built.dtype);
  if (Judge(RuleInputOf(whole, request.step), out)) return out;
  auto step = CompileStep(request.config, request.build, request.step);
  if (auto* refusal = std::get_if<Refusal>(&step)) return std::move(*refusal);
  const CompiledStep& compiled = std::get<CompiledStep>(step);
  const auto figures = FiguresOf(compiled);
  if (!figures) return TooLarge(request);
  StepResult result;
  if (!Summary(compiled, *figures).Fill(request.most_points, result)) {
    return TooLarge(request);
  }
  AddConventions(compiled, request.step, result);
  result.attention_kernels = AttentionKernels(compiled.graph(), request.step);
  out.result = std::move(result);
  out.not_exact = ReasonsNotExact(compiled, request.step);
  out.assumptions = AssumptionsOf(request.step);
  AddLoops(compiled.graph(), out.assumptions);
  for (const Finding& finding : compiled.model.log.findings) {
    out.findings.push_back(finding);
  }
  return out;
}

}  // namespace foretell
