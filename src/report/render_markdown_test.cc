#include "report/render_markdown.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "report/example_document.h"

namespace foretell {
namespace {

TEST(RenderMarkdown, WritesEveryKindOfRow) {
  EXPECT_EQ(RenderMarkdown(ExampleDocument()), R"golden(# An example

## Model

- Class: Qwen3
- Layers: 1,234
- Ratio: 0.25
- Tied: yes
- Parameters: 9,007,199,254,740,993
- Weights: at least 3,072 bytes (3 KiB) (missing: the adapter's rank)
- Step: \~12.3 ms (11 to 14.1 ms; records)
- Names: Qwen3, other

## Memory

**By part**

| Part | Size | Share |
| --- | ---: | ---: |
| experts | 3,221,225,472 bytes (3 GiB) | 75.0 % |
| Qwen3 | 1,073,741,824 bytes (1 GiB) | 25.0 % |

**Left out**

| Reason | Rows |
| --- | ---: |
| no configuration | 4 |

## Tensors

| Name | Parameters | Tied to |
| --- | ---: | --- |
| lm\_head.weight | 622,329,856 | embed |
| adapter | unknown (missing: the rank) | – |

**By figure**

| Figure | Rows | Equal |
| --- | ---: | ---: |
| parameters | 3 | 2 |

**By class**

| Class | Figure | Rows |
| --- | --- | ---: |
| A | parameters | 1 |
| B | parameters | 1 |
| A | tensors | 2 |

## Findings

- **block** model/heads: 6 does not divide 32 heads
  - at: config.json:12:26 (num\_key\_value\_heads)
  - why: the model cannot be built
  - fix: "num\_key\_value\_heads": 8

- Rules that ran: model/heads

**Rules that could not run**

| Rule | Reason |
| --- | --- |
| model/rope | there is no rope\_theta |
)golden");
}

TEST(MarkdownText, OutsideTextStaysText) {
  const struct {
    std::string from;
    std::string to;
  } cases[] = {
      {"plain text, 12.5 (ok)", "plain text, 12.5 (ok)"},
      {"a|b", "a\\|b"},
      {"*x* _y_ `z` ~w~ $m$", "\\*x\\* \\_y\\_ \\`z\\` \\~w\\~ \\$m\\$"},
      {"[a](b) <img> &amp;", "\\[a\\](b) \\<img\\> \\&amp;"},
      {"\\", "\\\\"},
      {"# big", "\\# big"},
      {"- item", "\\- item"},
      {"@someone, me@here, #12, o/r#3",
       "@<!-- -->someone, me@<!-- -->here, "
       "#<!-- -->12, o/r#<!-- -->3"},
      {"layers.#.mlp", "layers.#.mlp"},
      {"https://x.y www.x.y", "https:/<!-- -->/x.y www.<!-- -->x.y"},
      {"a\nb\x1b[m\xff", "a\\\\nb\\\\x1b\\[m\\\\xff"},
      {"", ""},
  };
  for (const auto& [from, to] : cases) EXPECT_EQ(MarkdownText(from), to);
}

TEST(MarkdownCode, TheTextDoesNotCloseItsFence) {
  EXPECT_EQ(MarkdownCode("a\n```\n\x1b", "text"),
            "````text\na\n```\n\\x1b\n````\n");
  EXPECT_EQ(MarkdownCode(""), "```\n```\n");
}

TEST(RenderMarkdown, EveryTableRowHasItsCells) {
  std::istringstream lines(RenderMarkdown(ExampleDocument("a|b\n|\\|")));
  size_t bars = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      bars = 0;
      continue;
    }
    size_t found = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '|') {
        ++found;
      }
    }
    EXPECT_TRUE(bars == 0 || found == bars) << line;
    bars = found;
  }
}

}  // namespace
}  // namespace foretell
