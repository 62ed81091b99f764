#include "report/render_json.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <limits>
#include <string>

#include "report/example_document.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

TEST(RenderJson, WritesEveryKindOfRow) {
  EXPECT_EQ(RenderJson(ExampleDocument()), R"golden({
  "class": "Qwen3",
  "layers": 1234,
  "ratio": 0.25,
  "tied": true,
  "parameters": {
    "value": 9007199254740993,
    "unit": "parameters",
    "provenance": "exact"
  },
  "weights": {
    "value": null,
    "unit": "bytes",
    "provenance": "unknown",
    "low": 3072,
    "missing": [
      "the adapter's rank"
    ]
  },
  "step": {
    "value": 0.0123,
    "unit": "seconds",
    "provenance": "estimated",
    "low": 0.011,
    "high": 0.0141,
    "source": "records"
  },
  "names": [
    "Qwen3",
    "other"
  ],
  "memory": {
    "parts": [
      {
        "part": "experts",
        "size": {
          "value": 3221225472,
          "unit": "bytes",
          "provenance": "exact"
        }
      },
      {
        "part": "Qwen3",
        "size": {
          "value": 1073741824,
          "unit": "bytes",
          "provenance": "exact"
        }
      }
    ],
    "left_out": {
      "no configuration": 4
    }
  },
  "tensors": [
    {
      "name": "lm_head.weight",
      "count": {
        "value": 622329856,
        "unit": "parameters",
        "provenance": "exact"
      },
      "of": "embed"
    },
    {
      "name": "adapter",
      "count": {
        "value": null,
        "unit": "parameters",
        "provenance": "unknown",
        "missing": [
          "the rank"
        ]
      },
      "of": null
    }
  ],
  "fields": {
    "parameters": {
      "n": 3,
      "equal": 2
    }
  },
  "by_class": {
    "A": {
      "parameters": {
        "n": 1
      },
      "tensors": {
        "n": 2
      }
    },
    "B": {
      "parameters": {
        "n": 1
      }
    }
  },
  "findings": [
    {
      "rule": "model/heads",
      "severity": "block",
      "what": "6 does not divide 32 heads",
      "why": "the model cannot be built",
      "fix": "\"num_key_value_heads\": 8",
      "place": {
        "source": "config.json",
        "line": 12,
        "column": 26,
        "key": "num_key_value_heads"
      }
    }
  ],
  "rules_ran": [
    "model/heads"
  ],
  "rules_not_run": {
    "model/rope": "there is no rope_theta"
  }
}
)golden");
}

TEST(RenderJson, IsValidUtf8WhateverTheBytes) {
  const Document document = ExampleDocument("\xff\xfe\"\\\x01\xed\xa0\x80");
  const std::string json = RenderJson(document);
  EXPECT_EQ(json, ValidUtf8(json));
  rapidjson::Document parsed;
  parsed.Parse<rapidjson::kParseValidateEncodingFlag>(json.c_str());
  ASSERT_FALSE(parsed.HasParseError());
  EXPECT_EQ(std::string(parsed["class"].GetString()),
            "\uFFFD\uFFFD\"\\\x01\uFFFD\uFFFD\uFFFD");
}

TEST(RenderJson, WhatIsNoNumberIsNull) {
  const DocumentShape shape = {
      .name = "x",
      .title = "X",
      .doc = "X.",
      .sections = {{.rows = {TableRow("t", "T", "T.",
                                      {{"r", "R", CellType::kReal, "R."}})}}}};
  Document document(shape);
  document.AddRow("t", {std::numeric_limits<double>::quiet_NaN()});
  document.AddRow("t", {-std::numeric_limits<double>::infinity()});
  document.AddRow("t", {0.1});
  document.AddRow("t", {3.0});
  document.AddRow("t", {1e300});
  std::string dense = RenderJson(document);
  std::erase_if(dense, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_EQ(dense,
            "{\"t\":[{\"r\":null},{\"r\":null},{\"r\":0.1},{\"r\":3},"
            "{\"r\":1e300}]}");
}

TEST(RenderJson, OptionalRowsAppearOnlyWhereSet) {
  EXPECT_EQ(RenderJson(ExampleDocument()).find("\"note\""), std::string::npos);
  Document document = ExampleDocument();
  document.Set("note", "here");
  document.Set("equation", "a\nb");
  const std::string json = RenderJson(document);
  EXPECT_NE(json.find("\"note\": \"here\""), std::string::npos);
  EXPECT_NE(json.find("\"equation\": \"a\\nb\""), std::string::npos);
}

}  // namespace
}  // namespace foretell
