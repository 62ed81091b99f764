#include "input/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

using testing::HasSubstr;

std::string Parsed(const std::string& text) {
  return ParseJson(text, "x").ToJson();
}

std::string ErrorOf(const std::string& text, const JsonLimits& limits = {}) {
  const JsonResult result = ReadJson(text, "c.json", limits);
  return result.error ? ToString(*result.error)
                      : "read: " + result.value.ToJson();
}

TEST(Json, ReadsEveryKind) {
  EXPECT_EQ(Parsed(R"( {"a": [1, -2.5e-3, true, false, null, "x"], "b": {}} )"),
            R"({"a":[1,-2.5e-3,true,false,null,"x"],"b":{}})");
  EXPECT_EQ(Parsed("7"), "7");
  EXPECT_EQ(Parsed("\"\\u00e9\\ud83d\\ude00\\n\\/\""),
            "\"\xC3\xA9\xF0\x9F\x98\x80\\u000a/\"");
}

TEST(Json, TakesWhatPythonTakes) {
  EXPECT_EQ(Parsed("[NaN, Infinity, -Infinity]"), "[NaN,Infinity,-Infinity]");
  // Python writes whole numbers of any length.
  EXPECT_EQ(Parsed("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(Parsed("[1e308, 1E+2, 0.1e1, -0]"), "[1e308,1E+2,0.1e1,-0]");
}

TEST(Json, KeepsTheSpellingOfNumbers) {
  const ConfigValue value = ParseJson("[1e-06, 4096.0, 1.0E5]", "x");
  EXPECT_EQ(value.items()[0].spelling(), "1e-06");
  EXPECT_EQ(value.items()[1].spelling(), "4096.0");
  EXPECT_EQ(value.items()[2].spelling(), "1.0E5");
}

TEST(Json, KeepsWhereEachValueBegins) {
  const std::string text = "{\"a\" :\n [1, \"b,:\" ,{\"c\":null}],\"d\":true}";
  const ConfigValue root = ParseJson(text, "x");
  EXPECT_EQ(root.offset(), 0);
  const ConfigValue& array = *root.Find("a");
  EXPECT_EQ(text[size_t(array.offset())], '[');
  EXPECT_EQ(text.substr(size_t(array.items()[0].offset()), 1), "1");
  EXPECT_EQ(text.substr(size_t(array.items()[1].offset()), 5), "\"b,:\"");
  EXPECT_EQ(text.substr(size_t(array.items()[2].offset()), 4), "{\"c\"");
  EXPECT_EQ(text.substr(size_t(array.items()[2].Find("c")->offset()), 4),
            "null");
  EXPECT_EQ(text.substr(size_t(root.Find("d")->offset()), 4), "true");
}

TEST(Json, NotesAKeyGivenTwiceAndKeepsTheLast) {
  std::vector<Finding> notes;
  const ConfigValue value = ParseJson(
      "{\"a\": {\"b\": 1, \"c\": 2,\n \"b\": \"x\"}}", "x", {}, &notes);
  EXPECT_EQ(value.ToJson(), R"({"a":{"b":"x","c":2}})");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].rule, "config/duplicate-key");
  EXPECT_EQ(notes[0].severity, Severity::kWarn);
  EXPECT_EQ(notes[0].what, "a.b is given twice: 1, then \"x\"");
  EXPECT_EQ(ToString(notes[0].place), "x:2:7 (a.b)");
}

TEST(Json, NotesAreBounded) {
  std::string text = "{";
  for (int i = 0; i < 10000; ++i) text += "\"a\": 1,";
  std::vector<Finding> notes;
  EXPECT_EQ(ParseJson(text + "\"a\": 2}", "x", {}, &notes).ToJson(),
            "{\"a\":2}");
  EXPECT_EQ(notes.size(), 20u);
}

TEST(Json, NotesAByteOrderMark) {
  std::vector<Finding> notes;
  EXPECT_EQ(ParseJson("\xEF\xBB\xBF{}", "x", {}, &notes).ToJson(), "{}");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].rule, "config/byte-order-mark");
}

TEST(Json, ThrowsWhatItCannotRead) {
  try {
    ParseJson("{", "c.json");
    FAIL();
  } catch (const InputErrors& errors) {
    EXPECT_STREQ(errors.what(),
                 "error: c.json:1:1: the object that begins here is never "
                 "closed\n  {\n  ^\ncure: fetch the file again if it was cut "
                 "short, else add } at its end\n");
  }
}

struct FaultCase {
  std::string text;
  std::string error;
};

TEST(Json, SaysWhatIsWrongAndHowToMendIt) {
  const FaultCase cases[] = {
      {"{\"a\": 1,}",
       "error: c.json:1:8: a comma stands before the closing }\n"
       "  {\"a\": 1,}\n         ^\ncure: remove the comma\n"},
      {"[1, ]",
       "error: c.json:1:3: a comma stands before the closing ]\n"
       "  [1, ]\n    ^\ncure: remove the comma\n"},
      {"{'a': 1}",
       "error: c.json:1:2: single quotes are Python, not JSON\n"
       "  {'a': 1}\n   ^\n"
       "cure: write double quotes; in Python, json.dumps writes JSON\n"},
      {"{\"a\": 'b'}",
       "error: c.json:1:7: single quotes are Python, not JSON\n"
       "  {\"a\": 'b'}\n        ^\n"
       "cure: write double quotes; in Python, json.dumps writes JSON\n"},
      {"{\"a\": True}",
       "error: c.json:1:7: True is Python, not JSON\n"
       "  {\"a\": True}\n        ^\n"
       "cure: write true; in Python, json.dumps writes JSON\n"},
      {"{\"a\": None}",
       "error: c.json:1:7: None is Python, not JSON\n"
       "  {\"a\": None}\n        ^\n"
       "cure: write null; in Python, json.dumps writes JSON\n"},
      {"{\"a\": nul}",
       "error: c.json:1:7: nul is no value of JSON\n"
       "  {\"a\": nul}\n        ^\n"
       "cure: write a string in double quotes, a number, true, false or "
       "null\n"},
      {"{\n  // width\n  \"a\": 1}",
       "error: c.json:2:3: JSON has no comments\n    // width\n    ^\n"
       "cure: remove the comment\n"},
      {"{\"a\": 1 # width\n}",
       "error: c.json:1:9: JSON has no comments\n"
       "  {\"a\": 1 # width\n          ^\ncure: remove the comment\n"},
      {"{\"a\": 1 /* width */}",
       "error: c.json:1:9: JSON has no comments\n"
       "  {\"a\": 1 /* width */}\n          ^\ncure: remove the comment\n"},
      {"{a: 1}",
       "error: c.json:1:2: the key a is not in quotes\n  {a: 1}\n   ^\n"
       "cure: write \"a\"\n"},
      {"{1: 1}",
       "error: c.json:1:2: a key is a string in double quotes\n"
       "  {1: 1}\n   ^\ncure: write the key in double quotes\n"},
      {"{\"a\" 1}",
       "error: c.json:1:6: a colon is missing after the key\n"
       "  {\"a\" 1}\n       ^\n"
       "cure: write : between the key and its value\n"},
      {"{\"a\": 1 \"b\": 2}",
       "error: c.json:1:9: a comma is missing before this\n"
       "  {\"a\": 1 \"b\": 2}\n          ^\ncure: write a comma\n"},
      {"[1 2]",
       "error: c.json:1:4: a comma is missing before this\n  [1 2]\n     ^\n"
       "cure: write a comma\n"},
      {"[1, , 2]",
       "error: c.json:1:5: a value is missing before this comma\n"
       "  [1, , 2]\n      ^\ncure: write the value, or remove the comma\n"},
      {"{\"a\": }",
       "error: c.json:1:7: a value is missing after the colon\n"
       "  {\"a\": }\n        ^\ncure: write the value\n"},
      {"{\"a\": [1}",
       "error: c.json:1:9: } closes an object, but an array is open\n"
       "  {\"a\": [1}\n          ^\n"
       "cure: write ], or close what is open first\n"},
      {"{\"a\": 1]",
       "error: c.json:1:8: ] closes an array, but an object is open\n"
       "  {\"a\": 1]\n         ^\n"
       "cure: write }, or close what is open first\n"},
      {"{} {}",
       "error: c.json:1:4: more text follows the end of the value\n"
       "  {} {}\n     ^\n"
       "cure: keep one value in the file and remove the rest\n"},
      {"{}}",
       "error: c.json:1:3: a closing } too many\n  {}}\n    ^\n"
       "cure: remove it\n"},
      {"[007]",
       "error: c.json:1:3: a number does not begin with 0\n  [007]\n    ^\n"
       "cure: remove the zeros before it\n"},
      {"[+1]",
       "error: c.json:1:2: a number does not begin with +\n  [+1]\n   ^\n"
       "cure: remove it\n"},
      {"[.5]",
       "error: c.json:1:2: a number does not begin with a point\n"
       "  [.5]\n   ^\ncure: write 0 before it\n"},
      {"[1.]",
       "error: c.json:1:4: a number does not end with its point or exponent\n"
       "  [1.]\n     ^\ncure: write digits after it, as in 1.0 or 1e-06\n"},
      {"[1e400]",
       "error: c.json:1:2: is a number larger than any that a computer "
       "calculates with\n  [1e400]\n   ^\n"
       "cure: write a number below 1.7e308\n"},
      {"[Inf]",
       "error: c.json:1:2: Inf is no number of JSON\n  [Inf]\n   ^\n"
       "cure: write Infinity\n"},
      {"[-NaN]",
       "error: c.json:1:2: this is no number\n  [-NaN]\n   ^\n"
       "cure: write digits, as in 4096 or 1e-06\n"},
      {"[\"a\\d\"]",
       "error: c.json:1:4: \\d is no escape of JSON\n  [\"a\\d\"]\n     ^\n"
       "cure: write \\\\ where a backslash is meant\n"},
      {"[\"a\nb\"]",
       "error: c.json:1:4: a line break stands inside a string\n"
       "  [\"a\n     ^\n"
       "cure: close the string before it, or write \\n, \\t or \\u00XX\n"},
      {"[\"a\tb\"]",
       "error: c.json:1:4: the control character 0x09 stands inside a "
       "string\n  [\"a b\"]\n     ^\n"
       "cure: close the string before it, or write \\n, \\t or \\u00XX\n"},
      {"[\"\\u12\"]",
       "error: c.json:1:3: \\u is not followed by four hexadecimal digits\n"
       "  [\"\\u12\"]\n    ^\n"
       "cure: write all four, or \\\\u where a backslash is meant\n"},
      {"[\"\\ud83d\"]",
       "error: c.json:1:3: half a surrogate pair, which no text can hold\n"
       "  [\"\\ud83d\"]\n    ^\ncure: write both halves (\\ud83d\\ude00) or "
       "the character itself\n"},
      {"[\"x\\ude00\"]",
       "error: c.json:1:2: half a surrogate pair, which no text can hold\n"
       "  [\"x\\ude00\"]\n   ^\ncure: write both halves (\\ud83d\\ude00) or "
       "the character itself\n"},
      {"[\"\xE9t\xE9\"]",
       "error: c.json:1:3: the bytes here are not UTF-8\n"
       "  [\"\xE9t\xE9\"]\n    ^\ncure: save the file as UTF-8\n"},
  };
  for (const FaultCase& one : cases) {
    EXPECT_EQ(ErrorOf(one.text), one.error) << one.text;
  }
}

TEST(Json, SaysWhereACutTextIsOpen) {
  EXPECT_EQ(ErrorOf("{\"a\": {\"b\": [1, 2"),
            "error: c.json:1:13: the array that begins here is never closed\n"
            "  {\"a\": {\"b\": [1, 2\n              ^\n"
            "cure: fetch the file again if it was cut short, else add ]}} at "
            "its end\n");
  EXPECT_EQ(ErrorOf("{\"a\": \"b{"),
            "error: c.json:1:7: the string that begins here is never closed\n"
            "  {\"a\": \"b{\n        ^\n"
            "cure: fetch the file again if it was cut short, else add \"} at "
            "its end\n");
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1\n"),
            "error: c.json:1:1: the object that begins here is never closed\n"
            "  {\n  ^\ncure: fetch the file again if it was cut short, else "
            "add } at its end\n");
}

TEST(Json, TellsAnotherKindOfFile) {
  const FaultCase cases[] = {
      {"",
       "error: c.json: is empty\n"
       "cure: fetch the file again, or pass one that holds a JSON object\n"},
      {" \n\n",
       "error: c.json: is empty\n"
       "cure: fetch the file again, or pass one that holds a JSON object\n"},
      {"\n<!DOCTYPE html>\n<html>",
       "error: c.json:2:1: this looks like a web page, perhaps a login or "
       "error page, not JSON\n  <!DOCTYPE html>\n  ^\ncure: fetch the file "
       "itself: on the hub its address has /resolve/ in it, not /blob/\n"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n",
       "error: c.json:1:1: is a Git LFS pointer, not the file that it stands "
       "for\n  version https://git-lfs.github.com/spec/v1\n  ^\ncure: run "
       "`git lfs pull` in its repository, or download the file\n"},
      {"# a model\nhidden_size: 4096\n",
       "error: c.json:1:1: this looks like YAML, not JSON\n  # a model\n  ^\n"
       "cure: write it as JSON: {\"hidden_size\": 4096, …}\n"},
      {"---\na: 1\n",
       "error: c.json:1:1: this looks like YAML, not JSON\n  ---\n  ^\n"
       "cure: write it as JSON: {\"hidden_size\": 4096, …}\n"},
      {std::string("{\0}\0", 4),
       "error: c.json:1:2: holds a zero byte, so it is no text in UTF-8\n"
       "  { } \n   ^\ncure: save the file as UTF-8\n"},
      {std::string("{\"a\": \"\0\"}", 10),
       "error: c.json:1:8: holds a zero byte, so it is no text in UTF-8\n"
       "  {\"a\": \" \"}\n         ^\ncure: pass a text file in JSON\n"},
  };
  for (const FaultCase& one : cases) {
    EXPECT_EQ(ErrorOf(one.text), one.error) << one.text;
  }
}

TEST(Json, TellsUtf16ByItsMark) {
  EXPECT_THAT(ErrorOf(std::string("\xFF\xFE{\0}\0", 6)),
              HasSubstr("c.json:1:1: is UTF-16, not UTF-8\n"));
  EXPECT_THAT(ErrorOf(std::string("\xFE\xFF\0{\0}", 6)),
              HasSubstr("cure: save the file as UTF-8\n"));
}

TEST(Json, HoldsItsLimits) {
  EXPECT_EQ(ErrorOf("[[[1]]]", {.depth = 3}), "read: [[[1]]]");
  EXPECT_EQ(ErrorOf("[[[{}]]]", {.depth = 3}),
            "error: c.json:1:4: arrays and objects are more than 3 deep here\n"
            "  [[[{}]]]\n     ^\n"
            "cure: check what wrote the file: no configuration is so deep\n");
  EXPECT_EQ(ErrorOf("[1, 2]", {.values = 3}), "read: [1,2]");
  EXPECT_EQ(ErrorOf("[1, 2, 3]", {.values = 3}),
            "error: c.json:1:8: holds more than 3 values\n"
            "  [1, 2, 3]\n         ^\n"
            "cure: pass a smaller file: no configuration is near this size\n");
  EXPECT_EQ(ErrorOf("[1]", {.bytes = 2}),
            "error: c.json: has 3 bytes; at most 2 are read\n"
            "cure: pass a smaller file: no configuration is near this size\n");
}

TEST(Json, StandsAMillionBrackets) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(ErrorOf(deep), HasSubstr("are more than 64 deep here"));
  EXPECT_THAT(ErrorOf(deep, {.depth = 1 << 30, .values = 10}),
              HasSubstr("holds more than 10 values"));
}

TEST(Json, ReadsAnObjectOfManyKeysInItsOrder) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) {
    text += "\"k" + std::to_string(i) + "\":0,";
  }
  text += "\"k7\":1}";
  const ConfigValue value = ParseJson(text, "x");
  EXPECT_EQ(value.members().size(), 200'000u);
  EXPECT_EQ(value.members()[7].second.spelling(), "1");
  EXPECT_EQ(value.members().back().first, "k199999");
}

TEST(JsonPrefix, StopsBehindTheValue) {
  const std::string text = "a= {\"b\": [1,2]},c";
  int64_t offset = 2;
  const JsonResult result = ReadJsonPrefix(text, "x", &offset);
  EXPECT_EQ(result.value.ToJson(), R"({"b":[1,2]})");
  EXPECT_EQ(text.substr(size_t(offset)), ",c");
  offset = 16;
  EXPECT_TRUE(ReadJsonPrefix(text, "x", &offset).error.has_value());
}

TEST(JsonPrefix, ReadsANumberUpToTheComma) {
  int64_t offset = 0;
  EXPECT_EQ(ReadJsonPrefix("12,5", "x", &offset).value.spelling(), "12");
  EXPECT_EQ(offset, 2);
}

}  // namespace
}  // namespace foretell
