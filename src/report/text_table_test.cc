#include "report/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "base/check.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(LayoutTable, AlignsNumbersRightAndTextsLeft) {
  EXPECT_EQ(
      LayoutTable({{.header = "Name", .wraps = true, .cells = {"a", "大"}},
                   {.header = "N", .right = true, .cells = {"1", "1,234"}}},
                  2, 80),
      "  Name      N\n"
      "  ────  ─────\n"
      "  a         1\n"
      "  大    1,234\n");
}

TEST(LayoutTable, WrapsTextsAndNeverNumbers) {
  const std::string name(200, 'x');
  const std::string table = LayoutTable(
      {{.header = "Name", .wraps = true, .cells = {name}},
       {.header = "N", .right = true, .cells = {"123,456,789,012"}}},
      2, 80);
  EXPECT_NE(table.find("123,456,789,012\n"), std::string::npos);
  std::istringstream lines(table);
  std::string line;
  size_t letters = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(DisplayWidth(line), 80u);
    letters += static_cast<size_t>(std::ranges::count(line, 'x'));
  }
  EXPECT_EQ(letters, name.size());
}

TEST(LayoutTable, NotesGiveWayToNames) {
  const std::string name(60, 'x');
  EXPECT_EQ(LayoutTable({{.header = "Name", .wraps = true, .cells = {name}},
                         {.wraps = true,
                          .is_note = true,
                          .cells = {"(missing: the adapter's rank)"}}},
                        2, 80),
            "  Name\n"
            "  " +
                Repeated("─", 60) + "  " + Repeated("─", 16) + "\n" + "  " +
                name + "  (missing: the\n" + std::string(64, ' ') +
                "adapter's rank)\n");
}

TEST(LayoutTable, GrowsRatherThanCutNumbers) {
  const std::string number(90, '9');
  EXPECT_NE(
      LayoutTable({{.header = "N", .right = true, .cells = {number}}}, 2, 80)
          .find(number),
      std::string::npos);
}

TEST(LayoutTable, RefusesUnequalColumns) {
  EXPECT_THROW(
      LayoutTable({{.header = "A", .cells = {"1"}}, {.header = "B"}}, 0, 80),
      InternalError);
  EXPECT_THROW(LayoutTable({}, 0, 80), InternalError);
}

}  // namespace
}  // namespace foretell
