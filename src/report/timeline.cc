#include "report/timeline.h"

#include <algorithm>

#include "base/check.h"
#include "report/json_writer.h"
#include "report/timeline_svg.h"

namespace foretell {
namespace {

void WriteMoment(const Timeline& timeline, JsonWriter& json) {
  const StepMoment& at = timeline.peak_at;
  json.Key("peak");
  json.BeginObject();
  json.Key("bytes");
  json.Integer(timeline.peak);
  json.TextAt("phase", NameOf(at.phase));
  json.TextAt("operation", at.operation);
  json.TextAt("module", at.module);
  json.Key("ran");
  json.Integer(at.ran);
  json.EndObject();
}

void WriteParts(const Timeline& timeline, JsonWriter& json) {
  json.Key("stages");
  json.BeginArray();
  for (const TimelinePart& part : timeline.parts) {
    json.BeginObject();
    json.TextAt("name", part.name);
    json.Key("first");
    json.Integer(part.first);
    json.EndObject();
  }
  json.EndArray();
}

std::string Json(const Timeline& timeline) {
  JsonWriter json;
  json.BeginObject();
  json.TextAt("kind", timeline.mark);
  json.TextAt("model", timeline.name);
  json.TextAt("class", timeline.class_name);
  json.TextAt("setting", timeline.setting);
  json.Key("exact");
  json.Flag(timeline.is_exact);
  json.Key("operations");
  json.Integer(timeline.operations);
  WriteMoment(timeline, json);
  if (timeline.mark == kTrainTimelineMark) WriteParts(timeline, json);
  json.Key("kinds");
  json.BeginArray();
  for (size_t i = 0; i < kMemoryKinds; ++i) {
    json.Text(NameOf(static_cast<MemoryKind>(i)));
  }
  json.EndArray();
  json.Key("points");
  json.BeginArray();
  for (const MemoryPoint& point : timeline.points) {
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

Timeline TimelineOf(const StepAnswer& answer) {
  FORETELL_CHECK(answer.result.has_value(), "a timeline of nothing");
  const StepResult& result = *answer.result;
  Timeline out;
  out.mark = kTimelineMark;
  out.name = answer.name;
  out.class_name = answer.class_name;
  out.setting = answer.setting;
  out.is_exact = answer.not_exact.empty();
  out.operations = result.operations;
  out.peak = result.peak;
  out.peak_at = result.peak_at;
  out.points = result.timeline;
  for (size_t i = 0; i < out.points.size(); ++i) {
    const MemoryPoint& point = out.points[i];
    if (i > 0 && point.phase == out.points[i - 1].phase) continue;
    out.parts.push_back(
        {std::string(NameOf(point.phase)), i == 0 ? 0 : point.operation});
  }
  return out;
}

Timeline TimelineOf(const TrainAnswer& answer) {
  Timeline out;
  out.mark = kTrainTimelineMark;
  out.name = answer.name;
  out.class_name = answer.class_name;
  out.setting = answer.setting;
  out.is_exact = answer.memory.not_exact.empty();
  uint32_t before = 0;
  for (const TrainStage& stage : answer.stages) {
    out.parts.push_back({stage.name, before});
    uint32_t ran = 0;
    for (MemoryPoint point : stage.timeline) {
      ran = std::max(ran, point.operation);
      point.operation += before;
      const int64_t live = SumOf(point.bytes);
      if (live > out.peak) {
        out.peak = live;
        out.peak_at.phase = point.phase;
        out.peak_at.operation = stage.name;
        out.peak_at.ran = point.operation;
      }
      out.points.push_back(point);
    }
    before += ran;
  }
  out.operations = before;
  return out;
}

std::string RenderTimeline(const Timeline& timeline, TimelineFormat format) {
  FORETELL_CHECK(!timeline.points.empty(), "a timeline of nothing");
  return format == TimelineFormat::kSvg ? TimelineSvg(timeline)
                                        : Json(timeline);
}

}  // namespace foretell
