#include "answers/step_memo.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/library.h"

namespace foretell {
namespace {

// Settings that choose operations; sizes do not.
std::string WayOf(const StepCase& step) {
  std::string out = fmt::format(
      "{} {} {} {} {} {} {} {} {}", static_cast<int>(step.mode), step.attention,
      step.experts, step.checkpoint, step.optimizer, step.capability,
      ShortNameOf(step.dtype), step.autocast ? ShortNameOf(*step.autocast) : "",
      LibraryFor(step.transformers).name);
  if (step.lora) {
    out += step.lora->dropout > 0 ? " dropout" : "";
    for (const std::string& target : step.lora->targets) out += " " + target;
  }
  return out;
}

// Operations over all parameters at once, and states made on the way, are no
// block's; Adafactor makes some of its own anew each step.
bool MayCompose(const StepCase& step) {
  return step.optimizer != "adamw_foreach" && step.optimizer != "adafactor" &&
         !step.first_step && step.frozen.empty() && step.accumulate <= 1;
}

StepFigures FromComposed(const ComposedStep& composed, const StepCase& step) {
  StepFigures out;
  out.flops_forward = composed.flops_forward;
  out.flops_backward = composed.flops_backward;
  for (const auto& [phase, peak] : composed.peaks) {
    out.figures["peak_" + std::string(NameOf(phase))] = peak;
    out.memory.phases.push_back({phase, peak, {}, 0});
  }
  if (step.mode != StepMode::kTrain) return out;
  out.figures["saved_bytes"] = composed.kept_bytes;
  out.figures["saved_count"] = composed.kept_count;
  out.figures["live_after_forward"] = composed.live_after_forward;
  out.figures["gradient_bytes"] = composed.gradient_bytes;
  out.figures["optimizer_bytes"] = composed.optimizer_bytes;
  out.memory.live_after_forward = composed.live_after_forward;
  out.memory.parameters = composed.parameter_bytes;
  return out;
}

Refusal TooLarge(const ModelConfig& config) {
  InputError error;
  error.place.source = config.source;
  error.what = "a size passes 2^63 - 1";
  error.cure = "lower --batch or --seq";
  return Refusal{{error}};
}

}  // namespace

const std::vector<BlockPattern>& StepMemo::Patterns() {
  if (patterns_) return *patterns_;
  patterns_.emplace();
  if (build_.most_layers) return *patterns_;
  const auto read = ReadModelOf(config_, build_);
  const auto* model = std::get_if<ReadModel>(&read);
  if (model != nullptr) patterns_ = PatternsOf(model->built);
  return *patterns_;
}

StepMemo::Plan StepMemo::PlanOf(int64_t later) {
  Plan plan;
  plan.patterns = Patterns();
  for (BlockPattern& pattern : plan.patterns) {
    pattern.first += later * pattern.period;
    const int64_t rest = (pattern.blocks - pattern.first) % pattern.period;
    plan.blocks =
        std::max(plan.blocks, pattern.first + 2 * pattern.period + rest);
  }
  plan.is_short = !plan.patterns.empty();
  for (const BlockPattern& pattern : plan.patterns) {
    const int64_t left = pattern.blocks - plan.blocks;
    plan.is_short = plan.is_short && left > 0 && left % pattern.period == 0;
  }
  return plan;
}

// What all blocks share goes with the first of them, in the backward: it must
// not be one that repeats. So where the plainest plan fails, a later one.
std::optional<StepMemo::Plan> StepMemo::PlanFor(const StepCase& step) {
  if (!MayCompose(step)) return std::nullopt;
  const auto [at, is_new] = plans_.try_emplace(WayOf(step));
  if (!is_new) return at->second;
  for (const int64_t later : {0, 1}) {
    const Plan plan = PlanOf(later);
    if (plan.is_short && Holds(step, plan)) {
      at->second = plan;
      break;
    }
  }
  return at->second;
}

std::optional<StepFigures> StepMemo::Composed(const StepCase& step,
                                              const Plan& plan,
                                              std::optional<int64_t> more) {
  BuildOptions build = build_;
  build.most_layers = plan.blocks;
  const auto result = CompileStep(config_, build, step);
  const auto* small = std::get_if<CompiledStep>(&result);
  if (small == nullptr) return std::nullopt;
  const Graph& graph = small->graph();
  const std::vector<RepeatedBlocks> repeats =
      RepeatsIn(graph, plan.patterns, plan.blocks, more);
  std::vector<std::pair<StorageId, ValueId>> states;
  for (const OptimizerState& state : small->optimizer.states) {
    states.emplace_back(graph[state.tensor.id()].storage, state.leaf);
  }
  const auto composed = Compose(graph, repeats, states);
  if (!composed) return std::nullopt;
  return FromComposed(*composed, step);
}

// One period more, composed and compiled in full.
bool StepMemo::Holds(const StepCase& step, const Plan& plan) {
  int64_t more = 1;
  for (const BlockPattern& pattern : plan.patterns) {
    more = std::max(more, pattern.period);
  }
  const auto composed = Composed(step, plan, more);
  BuildOptions build = build_;
  build.most_layers = plan.blocks + more;
  const auto result = CompileStep(config_, build, step);
  const auto* whole = std::get_if<CompiledStep>(&result);
  if (!composed || whole == nullptr) return false;
  const auto figures = foretell::FiguresOf(*whole);
  return figures && figures->figures == composed->figures &&
         figures->flops_forward == composed->flops_forward &&
         figures->flops_backward == composed->flops_backward;
}

bool StepMemo::Composes(const StepCase& step) {
  return PlanFor(step).has_value();
}

std::variant<StepFigures, Refusal> StepMemo::FiguresOf(const StepCase& step) {
  if (const auto plan = PlanFor(step)) {
    auto composed = Composed(step, *plan, std::nullopt);
    if (composed) return *std::move(composed);
  }
  auto result = CompileStep(config_, build_, step);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    return std::move(*refusal);
  }
  auto figures = foretell::FiguresOf(std::get<CompiledStep>(result));
  if (!figures) return TooLarge(config_);
  return *std::move(figures);
}

}  // namespace foretell
