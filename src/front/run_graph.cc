#include "front/run_graph.h"

#include <string>
#include <utility>
#include <variant>

#include "answers/graph.h"
#include "base/input_error.h"
#include "front/hub_options.h"
#include "front/step_options.h"
#include "report/present_graph.h"

namespace foretell {
namespace {

StopAfter StopOf(const std::string& phase) {
  if (phase == "backward") return StopAfter::kBackward;
  if (phase == "optimizer") return StopAfter::kOptimizer;
  return StopAfter::kForward;
}

}  // namespace

Outcome RunGraph(const Invocation& invocation) {
  GraphRequest request;
  request.config = LoadTarget(invocation);
  StepSetting setting = ReadStepSetting(invocation);
  request.build = std::move(setting.build);
  request.step = std::move(setting.step);
  request.after = StopOf(invocation.Text("after").value_or("forward"));
  const bool trains = request.step.mode == StepMode::kTrain;
  if (!trains && request.after != StopAfter::kForward) {
    throw InputErrors({invocation.PlaceOf("after"),
                       "only a training step goes on behind the forward",
                       "leave --after out, or write --mode train"});
  }
  auto answer = AnswerGraph(request);
  if (auto* refusal = std::get_if<Refusal>(&answer)) {
    throw AtOptions(invocation, std::move(refusal->errors));
  }
  const GraphAnswer& graph = std::get<GraphAnswer>(answer);
  return {.document = PresentGraph(graph), .text = graph.text};
}

}  // namespace foretell
