#include "report/shape_page.h"

#include <gtest/gtest.h>

#include <string>

#include "report/example_document.h"

namespace foretell {
namespace {

TEST(ShapePage, SaysWhatEveryKeyHolds) {
  const std::string page = ShapePage(ExampleShape());
  for (const char* line : {
           "# JSON of `foretell example`\n",
           "| `class` | text | The class. |\n",
           "| `note` | text, optional | A remark. |\n",
           "| `memory` | object | What takes memory. |\n",
           "| `memory.parts[].size` | figure | Its bytes. |\n",
           "| `memory.left_out.<reason>` | integer | How many. |\n",
           "| `tensors[].of` | text or null | The other name. |\n",
           "| `by_class.<class>.<figure>.n` | integer | Rows. |\n",
           "A *figure* is an object",
           "A *finding* is an object",
       }) {
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace foretell
