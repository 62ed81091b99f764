#include "report/render_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "report/example_document.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

const DocumentShape& FindingsOnly() {
  static const DocumentShape shape = {
      .name = "x", .title = "X", .doc = "X.", .sections = {FindingsSection()}};
  return shape;
}

TEST(RenderText, WritesEveryKindOfRow) {
  EXPECT_EQ(RenderText(ExampleDocument()), R"golden(Model

  Class       Qwen3
  Layers                      1,234
  Ratio                        0.25
  Tied        yes
  Parameters  9,007,199,254,740,993
  Weights            at least 3,072 bytes (3 KiB) (missing: the adapter's rank)
  Step                     ~12.3 ms (11 to 14.1 ms; records)
  Names       Qwen3, other

Memory

  By part

    Part      Size [bytes]          Share
    ───────  ─────────────  ─────  ──────  ────────────────────────
    experts  3,221,225,472  3 GiB  75.0 %  ████████████████████████
    Qwen3    1,073,741,824  1 GiB  25.0 %  ████████

  Left out

    Reason            Rows
    ────────────────  ────
    no configuration     4

Tensors

    Name             Parameters                       Tied to
    ──────────────  ───────────  ───────────────────  ───────
    lm_head.weight  622,329,856                       embed
    adapter             unknown  (missing: the rank)  –

  By figure

    Figure      Rows  Equal
    ──────────  ────  ─────
    parameters     3      2

  By class

    Class  Figure      Rows
    ─────  ──────────  ────
    A      parameters     1
    B      parameters     1
    A      tensors        2

Findings

  block  model/heads
    6 does not divide 32 heads
    at config.json:12:26 (num_key_value_heads)
      "num_key_value_heads": 6
                             ^
    why: the model cannot be built
    fix: "num_key_value_heads": 8

  Rules that ran  model/heads

  Rules that could not run

    Rule        Reason
    ──────────  ──────────────────────
    model/rope  there is no rope_theta
)golden");
}

// NOLINTNEXTLINE(misc-misleading-bidirectional): it must be shown as text.
constexpr char kHostile[] = "\x1b[31m\x07\r\n\xff\xe2\x80\xae";

TEST(RenderText, OutsideTextCannotReachTheTerminal) {
  Document document = ExampleDocument(kHostile);
  document.Set("note", kHostile);
  document.Set("equation", std::string("a\n") + kHostile + "b");
  Finding finding = ExampleFinding();
  finding.what = finding.why = finding.fix = finding.rule = kHostile;
  finding.place.source = finding.place.key = finding.place.excerpt = kHostile;
  document.AddFinding("findings", finding);
  const std::string text = RenderText(document);
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 &&
                              static_cast<unsigned char>(c) != 0x7F));
  }
  EXPECT_EQ(text, ValidUtf8(text));
  EXPECT_NE(text.find("Class       \\x1b[31m\\x07\\r\\n\\xff\\u202e\n"),
            std::string::npos);
}

TEST(RenderText, StaysWithinItsWidth) {
  std::string long_name;
  for (int i = 0; i < 40; ++i) long_name += "model.layers.";
  Document document = ExampleDocument(long_name);
  Finding finding = ExampleFinding();
  finding.what = "A long sentence. " + long_name;
  document.AddFinding("findings", finding);
  for (const int width : {0, 80, 93, 100, 1000}) {
    std::istringstream lines(RenderText(document, {.width = width}));
    const auto most = static_cast<size_t>(std::clamp(width, 80, 100));
    size_t whole = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), most) << line;
      for (size_t at = line.find("layers"); at != std::string::npos;
           at = line.find("layers", at + 1)) {
        ++whole;
      }
    }
    // Five times the long name: nothing was cut.
    EXPECT_GE(whole, 4u * 40u) << width;
  }
}

TEST(RenderText, ColoursSeveritiesOnly) {
  const std::string plain = RenderText(ExampleDocument());
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  std::string coloured = RenderText(ExampleDocument(), {.colour = true});
  const size_t at = coloured.find("\x1b[1;31mblock\x1b[0m");
  ASSERT_NE(at, std::string::npos);
  coloured.replace(at, std::string("\x1b[1;31mblock\x1b[0m").size(), "block");
  EXPECT_EQ(coloured, plain);
}

TEST(RenderText, AnEmptyTextIsADash) {
  EXPECT_TRUE(RenderText(ExampleDocument(""))
                  .starts_with("Model\n"
                               "\n"
                               "  Class       –\n"));
}

TEST(RenderText, KeepsTheLinesOfAnEquation) {
  Document document = ExampleDocument();
  document.Set("equation", "P = V*H\n  + L\n\n= 12");
  EXPECT_NE(RenderText(document).find("  Equation\n"
                                      "\n"
                                      "    P = V*H\n"
                                      "      + L\n"
                                      "\n"
                                      "    = 12\n"
                                      "\n"
                                      "Findings\n"),
            std::string::npos);
}

TEST(RenderText, BarsOfAnUnknownSumHaveNoShares) {
  Document document = ExampleDocument();
  document.AddRow("memory.parts", {"driver", Bytes::Unknown("the device")});
  const std::string text = RenderText(document);
  EXPECT_NE(text.find("driver         unknown         "
                      "(missing: the device)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("Share"), std::string::npos);
  EXPECT_NE(text.find("(no shares: the sum of the parts is not known or "
                      "zero)\n"),
            std::string::npos);
}

TEST(RenderText, SaysSoWhereNothingWasFound) {
  Document document(FindingsOnly());
  SetFindings(document, {}, {"model/heads"}, {});
  EXPECT_EQ(RenderText(document),
            "Findings\n"
            "\n"
            "  Findings: none\n"
            "\n"
            "  Rules that ran  model/heads\n"
            "\n"
            "  Rules that could not run: none\n");
}

TEST(RenderText, AFixOfSeveralLinesCanBePasted) {
  Document document(FindingsOnly());
  Finding finding;
  finding.rule = "model/heads";
  finding.severity = Severity::kWarn;
  finding.what = "what";
  finding.fix = "\"a\": 1,\n\"b\": 2";
  SetFindings(document, {finding}, {}, {});
  EXPECT_EQ(RenderText(document).substr(0, 75),
            "Findings\n"
            "\n"
            "  warn  model/heads\n"
            "    what\n"
            "    fix:\n"
            "      \"a\": 1,\n"
            "      \"b\": 2\n");
}

}  // namespace
}  // namespace foretell
