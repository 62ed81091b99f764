#include "input/overrides.h"

#include <gtest/gtest.h>

#include <string>

#include "input/json.h"

namespace foretell {
namespace {

std::string Changed(const std::string& config, const std::string& text) {
  ConfigValue root = ParseJson(config, "x");
  ApplyOverrides(ParseOverrides(text, "--over"), root);
  return root.ToJson();
}

std::string ErrorOf(const std::string& text) {
  const OverridesResult result = ReadOverrides(text, "--over");
  return result.error ? ToString(*result.error) : "read";
}

TEST(Overrides, SetsKeysAsTheRecorderDoes) {
  EXPECT_EQ(Changed(R"({"a":1})", "a=2"), R"({"a":2})");
  EXPECT_EQ(Changed(R"({"a":1})", " b = null , c=\"x\" "),
            R"({"a":1,"b":null,"c":"x"})");
  EXPECT_EQ(Changed(R"({"r":{"f":1}})", R"(r.f=2.5,r.t="yarn")"),
            R"({"r":{"f":2.5,"t":"yarn"}})");
  EXPECT_EQ(Changed(R"({"r":null})", "r.s.t=1"), R"({"r":{"s":{"t":1}}})");
  EXPECT_EQ(Changed(R"({"a":1})", "a=-1"), R"({"a":-1})");
}

TEST(Overrides, CommasInsideAValueDoNotDivide) {
  EXPECT_EQ(Changed("{}", R"(a=[1,2],b={"c":1,"d":[3]},e="x,y=1")"),
            R"({"a":[1,2],"b":{"c":1,"d":[3]},"e":"x,y=1"})");
}

TEST(Overrides, TakesKeysOut) {
  EXPECT_EQ(Changed(R"({"a":1,"b":{"c":2,"d":3}})", "-a,-b.c,e=1"),
            R"({"b":{"d":3},"e":1})");
  EXPECT_EQ(Changed(R"({"a":1})", "-z"), R"({"a":1})");
}

TEST(Overrides, NothingIsNoChange) {
  EXPECT_TRUE(ParseOverrides("", "x").empty());
  EXPECT_TRUE(ParseOverrides("  ", "x").empty());
  EXPECT_TRUE(ParseOverrides("none", "x").empty());
}

TEST(Overrides, KnowWhereTheyStandAndTheirValuesDoNot) {
  const auto overrides = ParseOverrides("a=1, b=[{\"c\":2}]", "x");
  ASSERT_EQ(overrides.size(), 2u);
  EXPECT_EQ(overrides[1].offset, 5);
  // Their offsets would point into the configuration's own text.
  EXPECT_EQ(overrides[1].value->offset(), -1);
  EXPECT_EQ(overrides[1].value->items()[0].Find("c")->offset(), -1);
}

TEST(Overrides, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("a=1,,b=2"),
            "error: --over:1:5: a key is missing here\n  a=1,,b=2\n      ^\n"
            "cure: write KEY=VALUE, or -KEY to take a key out\n");
  EXPECT_EQ(ErrorOf("a=1,"),
            "error: --over:1:5: a key is missing here\n  a=1,\n      ^\n"
            "cure: write KEY=VALUE, or -KEY to take a key out\n");
  EXPECT_EQ(ErrorOf("num_layers"),
            "error: --over:1:1: num_layers has no value\n  num_layers\n  ^\n"
            "cure: write num_layers=VALUE, or -num_layers to take the key "
            "out\n");
  EXPECT_EQ(ErrorOf("a=,b=1"),
            "error: --over:1:3: a has no value\n  a=,b=1\n    ^\n"
            "cure: write a value in JSON: 2, true, null, \"text\"\n");
  EXPECT_EQ(ErrorOf("a=1,rope_type=yarn"),
            "error: --over:1:15 (rope_type): yarn is no value of JSON\n"
            "  a=1,rope_type=yarn\n                ^\n"
            "cure: write a string in double quotes, a number, true, false or "
            "null\n");
  EXPECT_EQ(ErrorOf("a=True"),
            "error: --over:1:3 (a): True is Python, not JSON\n  a=True\n"
            "    ^\ncure: write true; in Python, json.dumps writes JSON\n");
  EXPECT_EQ(ErrorOf("a=1 2"),
            "error: --over:1:5: neither a comma nor the end follows the "
            "value\n  a=1 2\n      ^\ncure: divide the changes by commas; "
            "write text in double quotes\n");
  EXPECT_EQ(ErrorOf("a..b=1"),
            "error: --over:1:1: a..b has an empty step\n  a..b=1\n  ^\n"
            "cure: write one name on each side of a dot\n");
  EXPECT_EQ(ErrorOf("-a=1"),
            "error: --over:1:1: -a takes the key out and has no value\n"
            "  -a=1\n  ^\ncure: remove the minus, or the value\n");
}

TEST(Overrides, AreBounded) {
  std::string deep = "a";
  for (int i = 0; i < 5000; ++i) deep += ".a";
  EXPECT_NE(ErrorOf(deep + "=1").find("more than 16 steps"), std::string::npos);
  std::string many = "a=1";
  for (int i = 0; i < 5000; ++i) many += ",a=1";
  EXPECT_NE(ErrorOf(many).find("more than 1000 changes"), std::string::npos);
}

}  // namespace
}  // namespace foretell
