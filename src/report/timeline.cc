#include "report/timeline.h"

#include "base/check.h"
#include "report/json_writer.h"
#include "report/timeline_svg.h"

namespace foretell {
namespace {

void WriteMoment(const StepResult& result, JsonWriter& json) {
  const StepMoment& at = result.peak_at;
  json.Key("peak");
  json.BeginObject();
  json.Key("bytes");
  json.Integer(result.peak);
  json.TextAt("phase", NameOf(at.phase));
  json.TextAt("operation", at.operation);
  json.TextAt("module", at.module);
  json.Key("ran");
  json.Integer(at.ran);
  json.EndObject();
}

std::string Json(const StepAnswer& answer) {
  const StepResult& result = *answer.result;
  JsonWriter json;
  json.BeginObject();
  json.TextAt("kind", kTimelineMark);
  json.TextAt("model", answer.name);
  json.TextAt("class", answer.class_name);
  json.TextAt("setting", answer.setting);
  json.Key("exact");
  json.Flag(answer.not_exact.empty());
  json.Key("operations");
  json.Integer(result.operations);
  WriteMoment(result, json);
  json.Key("kinds");
  json.BeginArray();
  for (size_t i = 0; i < kMemoryKinds; ++i) {
    json.Text(NameOf(static_cast<MemoryKind>(i)));
  }
  json.EndArray();
  json.Key("points");
  json.BeginArray();
  for (const MemoryPoint& point : result.timeline) {
    json.BeginObject();
    json.Key("ran");
    json.Integer(point.operation);
    json.TextAt("phase", NameOf(point.phase));
    json.Key("bytes");
    json.BeginArray();
    for (const int64_t bytes : point.bytes) json.Integer(bytes);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace

std::string RenderTimeline(const StepAnswer& answer, TimelineFormat format) {
  FORETELL_CHECK(answer.result && !answer.result->timeline.empty(),
                 "a timeline of nothing");
  return format == TimelineFormat::kSvg ? TimelineSvg(answer) : Json(answer);
}

}  // namespace foretell
