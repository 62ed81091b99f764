#include "answers/graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "answers/compile_step.h"
#include "answers/step_checks.h"
#include "graph/text.h"
#include "rules/step_rules.h"

namespace foretell {
namespace {

// A graph has no place for what a rule finds: what blocks refuses it.
Refusal Blocked(const std::vector<Finding>& findings) {
  Refusal out;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kBlock) continue;
    InputError error;
    error.place.key = "--seq";
    error.what = finding.rule + ": " + finding.what + "; " + finding.why;
    error.cure = "write " + finding.fix + " or less";
    out.errors.push_back(std::move(error));
  }
  return out;
}

}  // namespace

std::variant<GraphAnswer, Refusal> AnswerGraph(const GraphRequest& request) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  auto errors = CheckStep(whole, request.build, request.step);
  if (!errors.empty()) return Refusal{std::move(errors)};
  GraphAnswer out;
  for (const StepRule& rule : StepRules()) {
    RuleOutcome outcome = rule.run(RuleInputOf(whole, request.step));
    std::ranges::move(outcome.findings, std::back_inserter(out.findings));
  }
  if (AnyBlocks(out.findings)) return Blocked(out.findings);
  auto step =
      CompileStep(request.config, request.build, request.step, request.after);
  if (auto* refusal = std::get_if<Refusal>(&step)) return std::move(*refusal);
  const CompiledStep& compiled = std::get<CompiledStep>(step);
  const Graph& graph = compiled.graph();
  out.name = request.config.ShownName();
  out.class_name = compiled.model.built.class_name;
  out.text = ToText(graph);
  out.operations = static_cast<int64_t>(graph.operations.size());
  out.drops = std::ranges::count(graph.steps, Step::Kind::kDrop, &Step::kind);
  out.by_operation = AnalyzeFlops(graph);
  for (const OperationFlops& entry : out.by_operation) out.flops += entry.flops;
  for (const Finding& finding : compiled.model.log.findings) {
    out.findings.push_back(finding);
  }
  return out;
}

}  // namespace foretell
