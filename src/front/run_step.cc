#include "front/run_step.h"

#include <string>
#include <utility>
#include <variant>

#include "answers/step.h"
#include "front/hub_options.h"
#include "front/step_options.h"
#include "front/timeline_option.h"
#include "report/present_step.h"
#include "report/timeline.h"

namespace foretell {
Outcome RunStep(const Invocation& invocation) {
  const auto file = TimelineFileOf(invocation);
  StepRequest request;
  request.config = LoadTarget(invocation);
  StepSetting setting = ReadStepSetting(invocation);
  request.build = std::move(setting.build);
  request.step = std::move(setting.step);
  if (file) request.most_points = kMostTimelinePoints;
  auto result = AnswerStep(request);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw AtOptions(invocation, std::move(refusal->errors));
  }
  const StepAnswer& answer = std::get<StepAnswer>(result);
  StepView view;
  // A program reads what it wants; for people one table is enough.
  const bool all = invocation.format() == Format::kJson;
  view.by_operator = all || invocation.Text("by") == "operator";
  view.by_region = all || !view.by_operator;
  view.reconcile = invocation.Text("reconcile").value_or(all ? "6ND" : "");
  if (file && answer.result) {
    WriteTimeline(invocation, *file, TimelineOf(answer));
    view.timeline_file = file->path;
  }
  return {.document = PresentStep(answer, view)};
}

}  // namespace foretell
