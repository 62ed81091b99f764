#include "report/safe_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace foretell {
namespace {

TEST(Harmless, ShowsWhatATerminalWouldObey) {
  const struct {
    std::string from;
    std::string to;
  } cases[] = {
      {"model.layers.0", "model.layers.0"},
      {"größe 大 ✓", "größe 大 ✓"},
      {"a\x1b[2Jb", "a\\x1b[2Jb"},
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"two\nlines\tand\rmore", "two\\nlines\\tand\\rmore"},
      {std::string("nul\0byte", 8), "nul\\x00byte"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},  // C1: an escape of its own
      // NOLINTNEXTLINE(misc-misleading-bidirectional): it is to be shown.
      {"\xe2\x80\xae"
       "txt.exe",
       "\\u202etxt.exe"},  // turns the direction
      {"a\xe2\x80\x8b"
       "b",
       "a\\u200bb"},  // zero width
      {"\xef\xbb\xbf{", "\\ufeff{"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xe5\xa4", "\\xe5\\xa4"},                    // a character cut short
      {"\xc0\xaf", "\\xc0\\xaf"},                    // an overlong slash
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // past U+10FFFF
  };
  for (const auto& [from, to] : cases) EXPECT_EQ(Harmless(from), to);
}

TEST(Harmless, HoldsNoControlCharacterWhateverTheBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first),
                                 static_cast<char>(second)};
      const std::string shown = Harmless(bytes);
      for (const char c : shown) {
        const auto code = static_cast<unsigned char>(c);
        ASSERT_TRUE(code >= 0x20 && code != 0x7F) << first << " " << second;
      }
      ASSERT_EQ(ValidUtf8(shown), shown);
    }
  }
}

TEST(Harmless, KeepsLinesOfPreformattedTextApart) {
  EXPECT_EQ(HarmlessLines("a\n\tb\n\n\x1b[0m\n"),
            (std::vector<std::string>{"a", "        b", "", "\\x1b[0m"}));
  EXPECT_TRUE(HarmlessLines("").empty());
}

TEST(ValidUtf8, ReplacesWhatIsNone) {
  EXPECT_EQ(ValidUtf8("größe\n"), "größe\n");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(ValidUtf8("\xf0\x9f\x98"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("größe"), 5u);
  EXPECT_EQ(DisplayWidth("大模型"), 6u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(PadLeft("大", 4), "  大");
  EXPECT_EQ(PadRight("大", 4), "大  ");
  EXPECT_EQ(PadRight("longer", 4), "longer");
}

TEST(Wrap, BreaksAtSpacesThenAtPartsThenAnywhere) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrap("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(Wrap("one two", 3), (Lines{"one", "two"}));
  EXPECT_EQ(Wrap("model.layers.0.mlp", 14), (Lines{"model.layers.", "0.mlp"}));
  EXPECT_EQ(Wrap("gate_proj_weight", 12), (Lines{"gate_proj_", "weight"}));
  EXPECT_EQ(Wrap("Qwen3ForCausalLM", 12), (Lines{"Qwen3For", "CausalLM"}));
  EXPECT_EQ(Wrap("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(Wrap("大模型", 3), (Lines{"大", "模", "型"}));
  EXPECT_EQ(Wrap("", 5), (Lines{""}));
  EXPECT_EQ(Wrap("ab", 0), (Lines{"a", "b"}));
}

TEST(Wrap, LosesNothingButSpaces) {
  const std::string text =
      "A rather long text: with/paths, names_of_things and 大きな words.";
  std::string dense = text;
  std::erase(dense, ' ');
  for (size_t width = 1; width < 80; ++width) {
    std::string joined;
    for (const std::string& line : Wrap(text, width)) {
      EXPECT_LE(DisplayWidth(line), std::max<size_t>(width, 2));
      joined += line;
    }
    std::erase(joined, ' ');
    EXPECT_EQ(joined, dense);
  }
}

TEST(HarmlessCaretBlock, StandsUnderWhatIsShown) {
  Place place;
  EXPECT_EQ(HarmlessCaretBlock(place), "");
  place.excerpt = "\x1b[m大 \"x\": 1";
  place.caret = 12;  // the value
  EXPECT_EQ(HarmlessCaretBlock(place),
            "  \\x1b[m大 \"x\": 1\n"
            "                ^\n");
  place.excerpt = "ab";
  place.caret = 3;  // behind the end
  EXPECT_EQ(HarmlessCaretBlock(place), "  ab\n     ^\n");
}

}  // namespace
}  // namespace foretell
