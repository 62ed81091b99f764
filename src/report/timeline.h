// Memory over operations as a file, of one step or of the stages of a training
// run: a picture or numbers.
//
// In: the answer of `foretell step` or `foretell train` with its timeline. Out:
// SVG (report/timeline_svg.h) or JSON: the kinds of bytes, and for each point
// how many operations had run and the bytes of every kind as the last of them
// had. Points are exact where the answer is; where there are fewer points than
// operations, each stands for its neighbours at their highest.
#ifndef FORETELL_REPORT_TIMELINE_H_
#define FORETELL_REPORT_TIMELINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answers/step.h"
#include "answers/train.h"

namespace foretell {

enum class TimelineFormat : uint8_t { kSvg, kJson };

// One stands near the start of every file that this writes.
inline constexpr std::string_view kTimelineMark = "foretell step timeline";
inline constexpr std::string_view kTrainTimelineMark =
    "foretell train timeline";

// A part of the time that has a name: a phase, a stage.
struct TimelinePart {
  std::string name;
  uint32_t first = 0;  // operations that had run before it
};

struct Timeline {
  std::string_view mark;
  std::string name;
  std::string class_name;
  std::string setting;
  bool is_exact = true;
  int64_t operations = 0;
  int64_t peak = 0;
  StepMoment peak_at;
  std::vector<TimelinePart> parts;  // in order; the first begins at 0
  std::vector<MemoryPoint> points;
};

// `answer` has a result with a timeline.
Timeline TimelineOf(const StepAnswer& answer);
// The stages of `answer` have theirs, one put after another.
Timeline TimelineOf(const TrainAnswer& answer);

std::string RenderTimeline(const Timeline& timeline, TimelineFormat format);

}  // namespace foretell

#endif  // FORETELL_REPORT_TIMELINE_H_
