#include "report/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "report/timeline_svg.h"

namespace foretell {
namespace {

StepAnswer Answer() {
  StepAnswer answer;
  answer.name = "<b>&\"\x1b[2J";
  answer.class_name = "GPT2LMHeadModel";
  answer.setting = "train";
  StepResult result;
  result.peak = 3 << 20;
  result.peak_at = {.phase = Phase::kBackward,
                    .operation = "aten.mm.default",
                    .module = "h.0",
                    .ran = 2};
  result.operations = 3;
  for (uint32_t i = 1; i <= 3; ++i) {
    MemoryPoint point;
    point.operation = i;
    point.phase = i == 1 ? Phase::kForward : Phase::kBackward;
    point.bytes[static_cast<size_t>(MemoryKind::kParameters)] = 1 << 20;
    point.bytes[static_cast<size_t>(MemoryKind::kKept)] = (i == 2 ? 2 : 1)
                                                          << 20;
    result.timeline.push_back(point);
  }
  answer.result = result;
  return answer;
}

// Every element that opens closes, and every & begins an entity.
bool IsBalanced(const std::string& xml) {
  int depth = 0;
  for (size_t at = xml.find('<'); at != std::string::npos;
       at = xml.find('<', at + 1)) {
    if (xml.compare(at, 4, "<!--") == 0) continue;
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    if (xml[at + 1] == '/') {
      --depth;
    } else if (xml[end - 1] != '/') {
      ++depth;
    }
    if (depth < 0) return false;
  }
  return depth == 0;
}

TEST(Timeline, ThePictureIsWholeAndHarmless) {
  const std::string svg =
      RenderTimeline(TimelineOf(Answer()), TimelineFormat::kSvg);
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;\\x1b[2J"), std::string::npos);
  EXPECT_LT(svg.find(kTimelineMark), 256u);
  for (const char* text :
       {"peak 3 MiB: aten.mm.default, h.0", "kept activations", "forward",
        "backward", "3 operations", "prefers-color-scheme:dark"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(svg.find("optimizer states"), std::string::npos)
      << "a kind without bytes is in the legend";
}

TEST(Timeline, NumbersHoldEveryPoint) {
  const std::string json =
      RenderTimeline(TimelineOf(Answer()), TimelineFormat::kJson);
  EXPECT_LT(json.find(kTimelineMark), 256u);
  EXPECT_EQ(std::ranges::count(json, '{'), std::ranges::count(json, '}'));
  EXPECT_NE(json.find("\"kept activations\""), std::string::npos);
  EXPECT_NE(json.find("2097152"), std::string::npos);
}

TEST(XmlText, EscapesWhatXmlReads) {
  EXPECT_EQ(XmlText("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(XmlText("\xff"), "\\xff");
}

}  // namespace
}  // namespace foretell
