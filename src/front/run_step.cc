#include "front/run_step.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "answers/step.h"
#include "base/input_error.h"
#include "front/hub_options.h"
#include "front/step_options.h"
#include "front/written_file.h"
#include "report/present_step.h"
#include "report/timeline.h"

namespace foretell {
namespace {

constexpr size_t kMostPoints = 2000;

// The format that the name asks for; nothing where it asks for none.
std::optional<TimelineFormat> FormatOf(const std::string& path) {
  if (path.ends_with(".svg")) return TimelineFormat::kSvg;
  if (path.ends_with(".json")) return TimelineFormat::kJson;
  return std::nullopt;
}

void WriteTimeline(const Invocation& invocation, const std::string& path,
                   TimelineFormat format, const StepAnswer& answer) {
  if (auto error =
          WriteNamedFile(path, RenderTimeline(answer, format), kTimelineMark)) {
    error->place = invocation.PlaceOf("timeline");
    throw InputErrors(*std::move(error));
  }
}

}  // namespace

Outcome RunStep(const Invocation& invocation) {
  const auto path = invocation.Text("timeline");
  const auto format = path ? FormatOf(*path) : std::nullopt;
  if (path && !format) {
    throw InputErrors({invocation.PlaceOf("timeline"),
                       "--timeline: the name says no format",
                       "end it with .svg for a picture or .json for numbers"});
  }
  StepRequest request;
  request.config = LoadTarget(invocation);
  StepSetting setting = ReadStepSetting(invocation);
  request.build = std::move(setting.build);
  request.step = std::move(setting.step);
  if (path) request.most_points = kMostPoints;
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
  if (path && answer.result) {
    WriteTimeline(invocation, *path, *format, answer);
    view.timeline_file = *path;
  }
  return {.document = PresentStep(answer, view)};
}

}  // namespace foretell
