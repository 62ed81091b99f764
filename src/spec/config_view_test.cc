#include "spec/config_view.h"

#include <gtest/gtest.h>

#include "spec/ignorable_keys.h"
#include "spec/recording.h"

namespace foretell {
namespace {

ConfigValue Number(const char* spelling) {
  return ConfigValue::Number(spelling);
}

// An object of one member.
ModelConfig With(std::string key, ConfigValue value) {
  ModelConfig config;
  config.source = "test";
  config.root = ConfigValue::Object();
  config.root.Set(key, std::move(value));
  return config;
}

// The first problem that a read of `key` as a size gives, or "".
std::string SizeProblem(ConfigValue value) {
  const ModelConfig config = With("hidden_size", std::move(value));
  ConfigLog log;
  const int64_t size = ConfigView(config, log).Size({"hidden_size"}, 7);
  EXPECT_EQ(size, log.problems.empty() ? 12 : 7);
  return log.problems.empty() ? "" : log.problems.front().what;
}

TEST(ConfigView, ASizeOfAnyWrongKindIsAProblem) {
  EXPECT_EQ(SizeProblem(Number("12")), "");
  EXPECT_EQ(SizeProblem(Number("0")), "is 0, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(Number("-3")),
            "is -3, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(Number("1099511627776")),
            "is 1099511627776, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(Number("99999999999999999999999")),
            "is 99999999999999999999999, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(Number("1.5")),
            "is 1.5, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(Number("NaN")),
            "is NaN, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(ConfigValue::String("12")),
            "is a string, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(ConfigValue::Bool(true)),
            "is true or false, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(ConfigValue::Null()),
            "is null, not a size from 1 to 2147483647");
  EXPECT_EQ(SizeProblem(ConfigValue::Array()),
            "is an array, not a size from 1 to 2147483647");
}

TEST(ConfigView, ADefaultIsNoted) {
  const ModelConfig config = With("other", Number("1"));
  ConfigLog log;
  EXPECT_EQ(ConfigView(config, log).Size({"hidden_size"}, 4096), 4096);
  ASSERT_EQ(log.defaults.size(), 1u);
  EXPECT_EQ(log.defaults[0].key, "hidden_size");
  EXPECT_EQ(log.defaults[0].value, "4096");
}

TEST(ConfigView, OfTwoNamesTheFirstDecidesAndADifferenceIsTold) {
  ModelConfig config = With("n_embd", Number("8"));
  config.root.Set("hidden_size", Number("16"));
  ConfigLog log;
  EXPECT_EQ(ConfigView(config, log).Size({"hidden_size", "n_embd"}, 4), 16);
  ASSERT_EQ(log.findings.size(), 1u);
  EXPECT_EQ(log.findings[0].rule, "config/two-names");
}

TEST(ConfigView, EveryKeyThatNothingReadIsListed) {
  ModelConfig config = With("hidden_size", Number("12"));
  config.root.Set("mystery", Number("1"));
  config.root.Set("do_sample", ConfigValue::Bool(true));
  ConfigValue nested = ConfigValue::Object();
  nested.Set("rope_type", ConfigValue::String("yarn"));
  nested.Set("secret", Number("2"));
  config.root.Set("rope_scaling", nested);
  config.root.Set("vision_config", nested);
  ConfigLog log;
  const ConfigView view(config, log);
  view.Size({"hidden_size"}, 1);
  view.Nested("rope_scaling").Text({"rope_type"}, "default");
  EXPECT_EQ(UnreadKeys(config, log),
            (std::vector<std::string>{"mystery", "rope_scaling.secret",
                                      "vision_config"}));
}

TEST(ConfigView, ANestedValueThatIsNoObjectIsAProblem) {
  const ModelConfig config = With("rope_scaling", Number("3"));
  ConfigLog log;
  ConfigView(config, log).Nested("rope_scaling");
  ASSERT_EQ(log.problems.size(), 1u);
  EXPECT_EQ(log.problems[0].what, "is a number, not an object");
}

TEST(ConfigView, LayersAreBounded) {
  const ModelConfig config = With("num_hidden_layers", Number("1000000"));
  ConfigLog log;
  ConfigView(config, log).Layers({"num_hidden_layers"}, 2);
  EXPECT_EQ(log.problems.size(), 1u);
}

TEST(IgnorableKeys, StandOnceAndSayWhy) {
  std::set<std::string_view> seen;
  for (const IgnorableKeys& group : AllIgnorableKeys()) {
    EXPECT_FALSE(group.why.empty());
    for (const std::string_view key : group.keys) {
      EXPECT_TRUE(seen.insert(key).second) << key;
    }
  }
  EXPECT_TRUE(IsIgnorableKey("text_config.do_sample"));
  EXPECT_FALSE(IsIgnorableKey("hidden_size"));
}

TEST(PlaceAt, CutsLongLinesAroundTheCaret) {
  const std::string text =
      "{\n" + std::string(500, 'a') + "X" + std::string(500, 'b') + "\n}";
  const Place place = PlaceAt(text, 502, "file", "key");
  EXPECT_EQ(place.line, 2);
  EXPECT_EQ(place.column, 501);
  EXPECT_LE(place.excerpt.size(), 80u);
  EXPECT_EQ(place.excerpt[static_cast<size_t>(place.caret)], 'X');
}

TEST(Overrides, SetMakeAndTakeOut) {
  ConfigValue root = ConfigValue::Object();
  root.Set("gone", Number("1"));
  ApplyOverrides({{{"a", "b"}, Number("2"), 0}, {{"gone"}, std::nullopt, 0}},
                 root);
  EXPECT_EQ(root.ToJson(), R"({"a":{"b":2}})");
}

}  // namespace
}  // namespace foretell
