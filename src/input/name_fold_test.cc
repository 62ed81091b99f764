#include "input/name_fold.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "input/json.h"

namespace foretell {
namespace {

ConfigValue Names(const std::vector<std::string>& names) {
  ConfigValue out = ConfigValue::Array();
  for (const std::string& name : names) {
    out.mutable_items().push_back(ConfigValue::String(name));
  }
  return out;
}

std::optional<ConfigValue> Unfolded(const std::string& json) {
  return UnfoldNames(ParseJson(json, "x"));
}

TEST(NameFold, FoldsNumbersThatCountUp) {
  std::vector<std::string> names;
  for (int layer = 0; layer < 3; ++layer) {
    for (int expert = 0; expert < 4; ++expert) {
      for (int w = 1; w <= 3; ++w) {
        names.push_back("l." + std::to_string(layer) + ".e." +
                        std::to_string(expert) + ".w" + std::to_string(w));
      }
    }
  }
  names.push_back("lm_head");
  const ConfigValue folded = FoldNames(Names(names));
  EXPECT_EQ(folded.ToJson(),
            R"({"#fold":["l.{0-2}.e.{0-3}.w{1-3}","lm_head"]})");
  EXPECT_EQ(UnfoldNames(folded), Names(names));
}

TEST(NameFold, FoldsMembersOfEqualValues) {
  ConfigValue object = ConfigValue::Object();
  for (int i = 0; i < 12; ++i) {
    object.Set("m." + std::to_string(i),
               ConfigValue::Object(
                   {{"bits", ConfigValue::Number(i < 6 ? "8" : "4")}}));
  }
  const ConfigValue folded = FoldNames(object);
  EXPECT_EQ(folded.ToJson(),
            R"({"#fold":[["m.{0-5}",{"bits":8}],["m.{6-11}",{"bits":4}]]})");
  EXPECT_EQ(UnfoldNames(folded), object);
}

TEST(NameFold, KeepsWhateverOrderThereIs) {
  // As a sort of texts puts them.
  const ConfigValue names = Names({"a.0", "a.1", "a.10", "a.11", "a.12", "a.13",
                                   "a.2", "a.3", "a.4", "a.05", "a.5"});
  const ConfigValue folded = FoldNames(names);
  EXPECT_EQ(folded.ToJson(),
            R"({"#fold":["a.{0-1}","a.{10-13}","a.{2-4}","a.05","a.5"]})");
  EXPECT_EQ(UnfoldNames(folded), names);
}

TEST(NameFold, LeavesOtherListsAlone) {
  const ConfigValue few = Names({"a.0", "a.1", "a.2"});
  EXPECT_EQ(FoldNames(few), few);
  const ConfigValue braces =
      Names({"a{0}", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"});
  EXPECT_EQ(FoldNames(braces), braces);
  const ConfigValue mixed = ParseJson(
      R"([1,2,3,4,5,6,7,8,{"x":["a","a","a","a","a","a","a","a"]}])", "x");
  EXPECT_EQ(FoldNames(mixed), mixed);
}

TEST(NameFold, FoldsBelow) {
  const ConfigValue value = ParseJson(
      R"({"q":{"ignore":["a.0","a.1","a.2","a.3","a.4","a.5","a.6","a.7"]}})",
      "x");
  EXPECT_EQ(FoldNames(value).ToJson(),
            R"({"q":{"ignore":{"#fold":["a.{0-7}"]}}})");
  EXPECT_EQ(UnfoldNames(FoldNames(value)), value);
}

TEST(NameFold, RefusesWhatDoesNotUnfold) {
  EXPECT_FALSE(Unfolded(R"({"#fold":[]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":1})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":[1]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":["a{1"]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":["a{2-1}"]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":["a{1-x}"]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":["a{-1-2}"]})"));
  EXPECT_FALSE(Unfolded(R"({"#fold":[["a{0-1}"]]})"));
  EXPECT_FALSE(Unfolded(R"({"a":{"#fold":["{0-99999999999}"]}})"));
  EXPECT_FALSE(
      Unfolded(R"({"#fold":["{0-999}{0-999}{0-999}{0-999}{0-999}{0-999}"]})"));
}

TEST(NameFold, TellsWhatItCannotHold) {
  EXPECT_TRUE(CanFold(ParseJson(R"({"a":[{"fold":1}]})", "x")));
  EXPECT_FALSE(CanFold(ParseJson(R"({"a":[{"#fold":1}]})", "x")));
}

}  // namespace
}  // namespace foretell
