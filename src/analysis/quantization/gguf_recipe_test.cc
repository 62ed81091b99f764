#include "analysis/quantization/gguf_recipe.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace foretell {
namespace {

TensorGroup Group(std::string name, std::string indices, int64_t count,
                  std::initializer_list<int64_t> dims) {
  TensorGroup group;
  group.name = std::move(name);
  group.indices = std::move(indices);
  group.count = count;
  group.shape = Shape(dims);
  return group;
}

// A dense model of 16 blocks, 8 query heads to a key's.
std::vector<TensorGroup> Dense(int64_t width = 256) {
  return {
      Group("model.embed_tokens.weight", "", 1, {1000, width}),
      Group("model.layers.#.self_attn.q_proj.weight", "0-15", 16,
            {width, width}),
      Group("model.layers.#.self_attn.k_proj.weight", "0-15", 16, {32, width}),
      Group("model.layers.#.self_attn.v_proj.weight", "0-15", 16, {32, width}),
      Group("model.layers.#.self_attn.o_proj.weight", "0-15", 16,
            {width, width}),
      Group("model.layers.#.mlp.up_proj.weight", "0-15", 16, {512, width}),
      Group("model.layers.#.mlp.gate_proj.weight", "0-15", 16, {512, width}),
      Group("model.layers.#.mlp.down_proj.weight", "0-15", 16, {width, 512}),
      Group("model.layers.#.input_layernorm.weight", "0-15", 16, {width}),
      Group("model.norm.weight", "", 1, {width}),
      Group("lm_head.weight", "", 1, {1000, width})};
}

GgufFacts Facts() {
  GgufFacts facts;
  facts.class_name = "LlamaForCausalLM";
  facts.layers = 16;
  facts.heads = 8;
  facts.kv_heads = 1;
  return facts;
}

std::map<std::string, std::string> Types(
    const std::vector<TensorGroup>& tensors, const GgufFacts& facts,
    std::string_view file_type) {
  const GgufLayout layout = LayOutGguf(tensors, facts);
  EXPECT_TRUE(layout.unplaced.empty());
  const auto types =
      GgufTypesOf(layout, facts, {.file_type = FindGgufFileType(file_type)});
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < types.size(); ++i) {
    out[layout.tensors[i].name] = types[i]->name;
  }
  return out;
}

TEST(GgufRecipe, MediumGivesSomeBlocksMoreBits) {
  const auto types = Types(Dense(), Facts(), "q4_k_m");
  EXPECT_EQ(types.at("output.weight"), "Q6_K");
  EXPECT_EQ(types.at("token_embd.weight"), "Q4_K");
  // An eighth at either end, and every third between.
  std::string values;
  std::string downs;
  for (int block = 0; block < 16; ++block) {
    const std::string at = "blk." + std::to_string(block);
    values += types.at(at + ".attn_v.weight")[1];
    downs += types.at(at + ".ffn_down.weight")[1];
    EXPECT_EQ(types.at(at + ".attn_q.weight"), "Q4_K");
  }
  EXPECT_EQ(values, "6644644644644666");
  EXPECT_EQ(downs, values);
}

TEST(GgufRecipe, ATiedEmbeddingTakesTheOutputsType) {
  std::vector<TensorGroup> tensors = Dense();
  tensors.pop_back();
  EXPECT_EQ(Types(tensors, Facts(), "Q4_K_M").at("token_embd.weight"), "Q6_K");
  EXPECT_EQ(Types(tensors, Facts(), "IQ2_M").at("token_embd.weight"), "Q5_K");
  EXPECT_EQ(Types(tensors, Facts(), "Q8_0").at("token_embd.weight"), "Q8_0");
}

TEST(GgufRecipe, RowsThatDoNotDivideFallBack) {
  // 96 is a multiple of 32 and not of 256.
  const auto types = Types(Dense(96), Facts(), "Q4_K_M");
  EXPECT_EQ(types.at("blk.0.attn_q.weight"), "Q5_0");
  EXPECT_EQ(types.at("blk.0.attn_v.weight"), "Q8_0");
  EXPECT_EQ(types.at("blk.3.ffn_down.weight"), "Q4_K");
  EXPECT_EQ(types.at("output.weight"), "Q8_0");
  EXPECT_EQ(Types(Dense(40), Facts(), "Q5_K_S").at("blk.0.attn_q.weight"),
            "F16");
}

TEST(GgufRecipe, EightExpertsAndSeventyBillionAreSpecial) {
  GgufFacts facts = Facts();
  facts.experts = 8;
  EXPECT_EQ(Types(Dense(), facts, "Q4_K_M").at("blk.9.attn_v.weight"), "Q8_0");
  EXPECT_EQ(Types(Dense(), facts, "Q4_K_M").at("blk.9.attn_k.weight"), "Q8_0");
  EXPECT_EQ(Types(Dense(), facts, "Q4_K_M").at("blk.9.attn_output.weight"),
            "Q5_K");
  facts.experts = 0;
  facts.layers = 80;
  // Of Q4_K_M's values, those that would have four bits have five.
  const auto types = Types(Dense(), facts, "Q4_K_M");
  EXPECT_EQ(types.at("blk.3.attn_v.weight"), "Q5_K");
}

TEST(GgufRecipe, NormsRoutersAndBiasesStayInFloat32) {
  std::vector<TensorGroup> tensors = Dense();
  tensors.push_back(
      Group("model.layers.#.mlp.gate.weight", "0-15", 16, {8, 256}));
  const auto types = Types(tensors, Facts(), "Q4_0");
  EXPECT_EQ(types.at("blk.2.ffn_gate_inp.weight"), "F32");
  int norms = 0;
  for (const auto& [name, type] : types) {
    if (name.find("norm") == std::string::npos) continue;
    ++norms;
    EXPECT_EQ(type, "F32") << name;
  }
  EXPECT_EQ(norms, 17);
}

TEST(GgufRecipe, EveryFileTypeHasItsTypes) {
  for (const std::string_view name : GgufFileTypeNames()) {
    EXPECT_FALSE(Types(Dense(), Facts(), name).empty()) << name;
  }
  EXPECT_EQ(FindGgufFileType("Q4_K_X"), nullptr);
  EXPECT_EQ(FindGgufFileType("iq4_xs")->default_type, "IQ4_XS");
}

}  // namespace
}  // namespace foretell
