#include "front/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace foretell {
namespace {

TEST(ShellQuoted, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(ShellQuoted("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B");
  EXPECT_EQ(ShellQuoted("--dtype=fp16"), "--dtype=fp16");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("a b"), "'a b'");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuoted("$x"), "'$x'");
}

TEST(PlaceInCommandLine, PointsIntoQuotedWords) {
  const std::vector<std::string> words = {"model", "it's a", "--x=y z"};
  EXPECT_EQ(CaretBlock(PlaceInCommandLine("foretell", words, 1)),
            "  foretell model 'it'\\''s a' '--x=y z'\n"
            "                  ^\n");
  EXPECT_EQ(CaretBlock(PlaceInCommandLine("foretell", words, 2, 4)),
            "  foretell model 'it'\\''s a' '--x=y z'\n"
            "                                  ^\n");
}

TEST(PlaceInCommandLine, LongLinesAreCutAroundThePlace) {
  const std::vector<std::string> words = {"model", std::string(200, 'a'),
                                          "--nope", std::string(200, 'b')};
  const Place place = PlaceInCommandLine("foretell", words, 2);
  EXPECT_EQ(place.column, 217);
  EXPECT_LE(place.excerpt.size(), 90u);
  EXPECT_TRUE(place.excerpt.starts_with("...aaa"));
  EXPECT_TRUE(place.excerpt.ends_with("bbb..."));
  EXPECT_EQ(place.excerpt.substr(static_cast<size_t>(place.caret), 7),
            "--nope ");
}

TEST(PlaceInCommandLine, NeverCutsWithinACharacter) {
  for (size_t pad = 0; pad < 6; ++pad) {
    std::string word(pad, 'x');
    for (int i = 0; i < 100; ++i) word += "大";
    const Place place =
        PlaceInCommandLine("foretell", std::vector{word, std::string("y")}, 1);
    const std::string shown = place.excerpt.substr(3);
    EXPECT_TRUE(shown.starts_with("大")) << place.excerpt;
  }
}

}  // namespace
}  // namespace foretell
