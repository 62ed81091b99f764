// The memory of one step over its operations, as a file: a picture or numbers.
//
// In: the answer of `foretell step` with its timeline. Out: SVG
// (report/timeline_svg.h) or JSON: the kinds of bytes, and for each point how
// many operations had run and the bytes of every kind as the last of them had.
// Points are exact where the answer is; where there are fewer points than
// operations, each stands for its neighbours at their highest.
#ifndef FORETELL_REPORT_TIMELINE_H_
#define FORETELL_REPORT_TIMELINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "answers/step.h"

namespace foretell {

enum class TimelineFormat : uint8_t { kSvg, kJson };

// Stands near the start of every file that this writes.
inline constexpr std::string_view kTimelineMark = "foretell step timeline";

// `answer` has a result with a timeline.
std::string RenderTimeline(const StepAnswer& answer, TimelineFormat format);

}  // namespace foretell

#endif  // FORETELL_REPORT_TIMELINE_H_
