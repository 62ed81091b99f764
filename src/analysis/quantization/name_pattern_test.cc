#include "analysis/quantization/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

bool Matches(std::string_view pattern, PatternSyntax syntax,
             std::string_view name) {
  const auto parsed = NamePattern::Parse(pattern, syntax);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->Matches(name);
}

TEST(NamePattern, LibraryMatchesUpToADotOrAsAnEnd) {
  const auto matches = [](std::string_view pattern, std::string_view name) {
    return Matches(pattern, PatternSyntax::kLibrary, name);
  };
  EXPECT_TRUE(matches("lm_head", "lm_head"));
  EXPECT_TRUE(matches("fc1", "model.decoder.layers.23.fc1"));
  EXPECT_TRUE(matches("layer.1", "layer.1.attn"));
  EXPECT_FALSE(matches("layer.1", "layer.11.attn"));
  EXPECT_TRUE(matches("layer.*", "layer.11.attn"));
  EXPECT_TRUE(
      matches("model.layers.*.self_attn", "model.layers.3.self_attn.q"));
  EXPECT_FALSE(matches("mlp.gate", "mlp.gate_proj"));
  EXPECT_TRUE(matches("a|b.c", "b.c.d"));
}

TEST(NamePattern, TargetsAreExpressionsOrWholeNames) {
  const auto matches = [](std::string_view pattern, std::string_view name) {
    return Matches(pattern, PatternSyntax::kTargets, name);
  };
  EXPECT_TRUE(matches("re:.*self_attn.*", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(matches("re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
                      "model.layers.0.mlp.up_proj"));
  EXPECT_FALSE(matches("re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
                       "model.layers.0.mlp.experts.1.up_proj"));
  EXPECT_TRUE(matches("re:.*attn.*(wqa|wq_b)$", "layers.0.attn.wq_b"));
  EXPECT_FALSE(matches("re:.*attn.*(wqa|wq_b)$", "layers.0.attn.wq_bc"));
  EXPECT_TRUE(matches("re:model\\.layers\\.\\d+\\.mlp\\.gate$",
                      "model.layers.12.mlp.gate"));
  EXPECT_TRUE(matches("re:x[0-9a-c]+y?z", "x19bz"));
  EXPECT_TRUE(matches("lm_head", "lm_head"));
  EXPECT_FALSE(matches("lm_head", "model.lm_head"));
}

TEST(NamePattern, GlobsAndPrefixes) {
  EXPECT_TRUE(Matches("language_model.model.layers.0.self_attn*",
                      PatternSyntax::kGlob,
                      "language_model.model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(Matches("*.attn", PatternSyntax::kGlob, "layers.0.attn.wq"));
  EXPECT_TRUE(
      Matches("model.layers", PatternSyntax::kPrefix, "model.layers.0"));
  EXPECT_FALSE(
      Matches("model.layer", PatternSyntax::kPrefix, "model.layers.0"));
}

TEST(NamePattern, RefusesWhatItDoesNotKnow) {
  for (const char* pattern : {"re:(?=x)", "re:a{2}", "re:(a", "re:[a", "re:\\b",
                              "re:(ab)+", "re:*a"}) {
    EXPECT_FALSE(NamePattern::Parse(pattern, PatternSyntax::kTargets))
        << pattern;
  }
  EXPECT_FALSE(NamePattern::Parse("", PatternSyntax::kLibrary));
  EXPECT_FALSE(
      NamePattern::Parse(std::string(5000, 'a'), PatternSyntax::kLibrary));
  // Alternatives that would unfold without end.
  std::string many = "re:";
  for (int i = 0; i < 20; ++i) many += "(a|b)";
  EXPECT_FALSE(NamePattern::Parse(many, PatternSyntax::kTargets));
}

TEST(NamePattern, TimeIsBounded) {
  std::string pattern = "re:";
  for (int i = 0; i < 200; ++i) pattern += ".*a";
  const auto parsed = NamePattern::Parse(pattern, PatternSyntax::kTargets);
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->Matches(std::string(199, 'a') + std::string(800, 'b')));
}

}  // namespace
}  // namespace foretell
