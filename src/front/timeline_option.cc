#include "front/timeline_option.h"

#include <utility>

#include "base/input_error.h"
#include "front/written_file.h"

namespace foretell {

std::optional<TimelineFile> TimelineFileOf(const Invocation& invocation) {
  const auto path = invocation.Text("timeline");
  if (!path) return std::nullopt;
  if (path->ends_with(".svg")) return {{*path, TimelineFormat::kSvg}};
  if (path->ends_with(".json")) return {{*path, TimelineFormat::kJson}};
  throw InputErrors({invocation.PlaceOf("timeline"),
                     "--timeline: the name says no format",
                     "end it with .svg for a picture or .json for numbers"});
}

void WriteTimeline(const Invocation& invocation, const TimelineFile& file,
                   const Timeline& timeline) {
  if (auto error = WriteNamedFile(
          file.path, RenderTimeline(timeline, file.format), timeline.mark)) {
    error->place = invocation.PlaceOf("timeline");
    throw InputErrors(*std::move(error));
  }
}

}  // namespace foretell
