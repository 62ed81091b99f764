// --timeline: the file that a command's memory over time is written to.
//
// In: the command line, and what to draw. Out: the file's format, or the error
// of a name that says none. Only a file of the same kind is written over.
#ifndef FORETELL_FRONT_TIMELINE_OPTION_H_
#define FORETELL_FRONT_TIMELINE_OPTION_H_

#include <cstddef>
#include <optional>
#include <string>

#include "front/invocation.h"
#include "report/timeline.h"

namespace foretell {

inline constexpr size_t kMostTimelinePoints = 2000;

struct TimelineFile {
  std::string path;
  TimelineFormat format = TimelineFormat::kSvg;
};

// Nothing where none is asked for.
std::optional<TimelineFile> TimelineFileOf(const Invocation& invocation);

void WriteTimeline(const Invocation& invocation, const TimelineFile& file,
                   const Timeline& timeline);

}  // namespace foretell

#endif  // FORETELL_FRONT_TIMELINE_OPTION_H_
