#include "answers/rank_figures.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/memory.h"
#include "answers/claims.h"
#include "answers/compile_step.h"
#include "answers/train_rank.h"

namespace foretell {
namespace {

Refusal TooLarge() {
  InputError error;
  error.what = "a size passes 2^63 - 1";
  return Refusal{{std::move(error)}};
}

}  // namespace

StepCase StepOfRank(const Recording& recording) {
  StepCase step = recording.step;
  const RankCase& rank = recording.recorded_rank->rank;
  step.dtype = rank.param_dtype.value_or(rank.dtype);
  // None finds whole gradients where every micro-step is reduced, nor where
  // those of earlier ones lie joined.
  if (rank.reduces_always || rank.wrapper == Wrapper::kFsdp1) {
    step.accumulate = 1;
  }
  // The recorder asks the wrapped model for its arguments' names; adapters'
  // wrapper does not tell them, so that no labels are passed.
  if (step.lora) {
    if (rank.param_dtype) step.lora->float32 = false;  // gathered likewise
    step.inputs = {
        {"input_ids", DType::kInt64, Shape({step.batch, step.sequence})}};
  }
  return step;
}

std::variant<RankFigures, Refusal> DeriveRank(const ModelConfig& config,
                                              const BuildOptions& build,
                                              const Recording& recording) {
  const StepCase step = StepOfRank(recording);
  auto compiled = CompileStep(config, build, step);
  if (auto* refusal = std::get_if<Refusal>(&compiled)) {
    return std::move(*refusal);
  }
  CompiledStep& whole = std::get<CompiledStep>(compiled);
  auto figures = FiguresOf(whole);
  if (!figures) return TooLarge();
  RankFigures out;
  out.class_name = whole.model.built.class_name;
  out.parameters = whole.model.parameters.total;
  out.claims = ReasonsNotExact(whole, step).empty() &&
               recording.recorded_rank->unfollowed.empty() &&
               !CastsBuffers(whole.graph(), recording.recorded_rank->rank) &&
               !CastsArguments(whole.graph(), recording.recorded_rank->rank);
  Graph graph = whole.graph();
  RankCase rank = recording.recorded_rank->rank;
  rank.sums_outside = step.lora.has_value();
  const RankShare share = DivideCompiled(whole, rank, graph);
  for (auto* flops : {&figures->flops_forward, &figures->flops_backward}) {
    for (auto& [name, count] : *flops) count *= rank.accumulate;
  }
  auto memory = AnalyzeRankMemory(graph, share.shifts);
  if (!memory) return TooLarge();
  for (const PhaseMemory& phase : memory->phases) {
    figures->figures["peak_" + std::string(NameOf(phase.phase))] = phase.peak;
  }
  figures->figures["parameter_bytes"] = share.parameter_bytes;
  figures->figures["gradient_bytes"] = share.gradient_bytes;
  figures->figures["optimizer_bytes"] = share.optimizer_bytes;
  figures->memory = *std::move(memory);
  out.step = *std::move(figures);
  for (const RankCollective& one : share.collectives) {
    out.collectives.push_back(
        fmt::format("{} {} {} of {}, {}, {} times", one.kind, one.dtype,
                    one.bytes, one.ranks, NameOf(one.phase), one.times));
  }
  return out;
}

}  // namespace foretell
