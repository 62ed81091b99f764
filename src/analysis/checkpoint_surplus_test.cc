#include "analysis/checkpoint_surplus.h"

#include <gtest/gtest.h>

#include "analysis/next_token_layers.h"

namespace foretell {
namespace {

TensorGroup Group(std::string name, std::string indices, Shape shape,
                  int64_t count = 1) {
  TensorGroup out;
  out.name = std::move(name);
  out.indices = std::move(indices);
  out.shape = shape;
  out.count = count;
  return out;
}

// Three layers of which the last two have experts, as DeepSeek-V3's have.
ParameterAnalysis ThreeLayers() {
  ParameterAnalysis out;
  out.tensors = {
      Group("model.embed_tokens.weight", "", {10, 4}),
      Group("model.layers.#.self_attn.o_proj.weight", "0-2", {4, 4}, 3),
      Group("model.layers.#.mlp.up_proj.weight", "0", {8, 4}),
      Group("model.layers.#.mlp.experts.#.up_proj.weight", "1-2 x 0-7", {2, 4},
            16),
      Group("model.norm.weight", "", {4}),
      Group("lm_head.weight", "", {10, 4})};
  out.buffers = {Group("model.layers.#.mlp.gate.bias", "1-2", {8}, 2)};
  int64_t total = 0;
  for (const TensorGroup& group : out.tensors) total += *group.Elements();
  out.total = Parameters::Exact(total);
  return out;
}

ModelConfig Stating(std::string_view key, std::string_view number) {
  ModelConfig config;
  config.source = "test";
  config.root = ConfigValue::Object();
  config.root.Set(std::string(key), ConfigValue::Number(std::string(number)));
  return config;
}

const SurplusItem* Find(const std::vector<SurplusItem>& items,
                        std::string_view start) {
  for (const SurplusItem& item : items) {
    if (item.what.starts_with(start)) return &item;
  }
  return nullptr;
}

TEST(CheckpointSurplus, ANextTokenLayerIsOneOfTheLastKind) {
  const ParameterAnalysis parameters = ThreeLayers();
  const auto items = CheckpointSurplus(Stating("num_nextn_predict_layers", "1"),
                                       "DeepseekV3ForCausalLM", parameters);
  const SurplusItem* layer = Find(items, "1 layer that predicts");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->what,
            "1 layer that predicts further tokens, model.layers.3");
  EXPECT_EQ(layer->presence, SurplusPresence::kAlways);
  // o_proj, eight experts, the gate's bias, eh_proj and three norms.
  EXPECT_EQ(layer->Elements(), 16 + 8 * 8 + 8 + 4 * 8 + 3 * 4);
  const SurplusItem* copies = Find(items, "their own copies");
  ASSERT_NE(copies, nullptr);
  EXPECT_EQ(copies->Elements(), 2 * 40);
  EXPECT_EQ(ExpectedElements(parameters, items),
            parameters.total.exact() + 2 * 8 + layer->Elements() + 80);
}

TEST(CheckpointSurplus, NoneWhereTheConfigurationSaysSo) {
  const auto items = CheckpointSurplus(Stating("num_nextn_predict_layers", "0"),
                                       "DeepseekV3ForCausalLM", ThreeLayers());
  EXPECT_EQ(Find(items, "1 layer"), nullptr);
  EXPECT_EQ(Find(items, "0 layer"), nullptr);
}

TEST(CheckpointSurplus, AHostileCountIsBounded) {
  const auto layers =
      NextTokenLayersOf(Stating("num_nextn_predict_layers", "2000000000"),
                        "DeepseekV3ForCausalLM", ThreeLayers());
  EXPECT_LE(layers.count, 64);
}

// Three layers: the last reads the second's keys and values.
TEST(CheckpointSurplus, Gemma4HoldsKeysThatNobodyReads) {
  ParameterAnalysis parameters;
  parameters.tensors = {
      Group("model.layers.#.self_attn.q_norm.weight", "0-2", {4}, 3),
      Group("model.layers.#.self_attn.k_norm.weight", "0-1", {4}, 2),
      Group("model.layers.#.self_attn.k_proj.weight", "0-1", {4, 8}, 2),
      Group("model.layers.#.self_attn.v_proj.weight", "0-1", {4, 8}, 2)};
  parameters.buffers = {
      Group("model.layers.#.layer_scalar", "0-2", {1}, 3),
      Group("model.layers.#.mlp.up_proj.input_min", "0-2", Shape(), 3)};
  ModelConfig config;
  config.root = ConfigValue::Object();
  const auto items = CheckpointSurplus(config, "Gemma4ForCausalLM", parameters);
  const SurplusItem* keys = Find(items, "keys and values");
  ASSERT_NE(keys, nullptr);
  EXPECT_EQ(keys->Elements(), 4 + 32 + 32);
  EXPECT_EQ(keys->presence, SurplusPresence::kUsual);
  EXPECT_EQ(Find(items, "buffers of the class")->Elements(), 3);
  EXPECT_EQ(Find(items, "buffers of one number")->presence,
            SurplusPresence::kSometimes);
  const auto older =
      CheckpointSurplus(config, "Gemma3nForConditionalGeneration", parameters);
  ASSERT_NE(Find(older, "keys and values"), nullptr);
  const auto others = CheckpointSurplus(config, "Qwen3ForCausalLM", parameters);
  EXPECT_EQ(Find(others, "keys and values"), nullptr);
}

TEST(CheckpointSurplus, MasksOfGpt2AreSquaresOfItsPositions) {
  ParameterAnalysis parameters;
  parameters.tensors = {
      Group("transformer.wpe.weight", "", {16, 4}),
      Group("transformer.h.#.attn.c_attn.weight", "0-1", {4, 12}, 2)};
  parameters.total = Parameters::Exact(16 * 4 + 2 * 48);
  const auto items =
      CheckpointSurplus(Stating("n_layer", "2"), "GPT2LMHeadModel", parameters);
  const SurplusItem* masks = Find(items, "masks of an older release");
  ASSERT_NE(masks, nullptr);
  EXPECT_EQ(masks->tensors.front().name, "transformer.h.#.attn.bias");
  EXPECT_EQ(masks->Elements(), 2 * 16 * 16);
}

TEST(ExplainDifference, TakesTheFewestAndSaysWhereNoneFits) {
  std::vector<SurplusItem> items(3);
  items[0].tensors = {Group("always", "", {5})};
  items[0].presence = SurplusPresence::kAlways;
  items[1].tensors = {Group("tie", "", {7})};
  items[2].tensors = {Group("head", "", {2})};
  items[2].left_out = true;
  EXPECT_EQ(ExplainDifference(12, items), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(ExplainDifference(10, items), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(ExplainDifference(5, items), (std::vector<size_t>{0}));
  EXPECT_EQ(ExplainDifference(0, items), std::nullopt);
}

TEST(HasLayer, ReadsRunsAndProducts) {
  const TensorGroup group = Group("a", "0-2,4 x 0-63", {1});
  EXPECT_TRUE(HasLayer(group, 2));
  EXPECT_FALSE(HasLayer(group, 3));
  EXPECT_TRUE(HasLayer(group, 4));
  EXPECT_FALSE(HasLayer(group, 63));
  EXPECT_FALSE(HasLayer(Group("a", "[[0, 1], [2, 0]]", {1}), 0));
}

}  // namespace
}  // namespace foretell
