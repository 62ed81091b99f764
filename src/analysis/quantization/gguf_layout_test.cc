#include "analysis/quantization/gguf_layout.h"

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

std::map<std::string, std::string> Layout(
    const std::vector<TensorGroup>& tensors, const GgufFacts& facts) {
  std::map<std::string, std::string> out;
  for (const GgufTensor& tensor : LayOutGguf(tensors, facts).tensors) {
    out[tensor.name] = std::to_string(tensor.columns) + " x " +
                       std::to_string(tensor.rows) + " / " +
                       std::to_string(tensor.depth);
  }
  return out;
}

TEST(FirstIndices, CountTheRest) {
  using Pairs = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(FirstIndices("", 1), (Pairs{{0, 1}}));
  EXPECT_EQ(FirstIndices("0-2,5", 4), (Pairs{{0, 1}, {1, 1}, {2, 1}, {5, 1}}));
  EXPECT_EQ(FirstIndices("3-4 x 0-7", 16), (Pairs{{3, 8}, {4, 8}}));
  EXPECT_EQ(FirstIndices("[[0, 1], [2, 0], [2, 1]]", 3),
            (Pairs{{0, 1}, {2, 2}}));
  EXPECT_TRUE(FirstIndices("x", 1).empty());
  EXPECT_TRUE(FirstIndices("0-99999999", 3).empty());
}

TEST(GgufLayout, ExpertsAreMergedWhetherFusedOrNot) {
  const GgufFacts facts = {
      .class_name = "MixtralForCausalLM", .experts = 4, .rope_tables = {}};
  const auto apart =
      Layout({Group("model.layers.#.block_sparse_moe.experts.#.w1.weight",
                    "0-1 x 0-3", 8, {64, 32}),
              Group("model.layers.#.block_sparse_moe.experts.#.w3.weight",
                    "0-1 x 0-3", 8, {64, 32}),
              Group("model.layers.#.block_sparse_moe.experts.#.w2.weight",
                    "0-1 x 0-3", 8, {32, 64})},
             facts);
  const auto fused = Layout(
      {Group("model.layers.#.mlp.experts.gate_up_proj", "0-1", 2, {4, 128, 32}),
       Group("model.layers.#.mlp.experts.down_proj", "0-1", 2, {4, 32, 64})},
      facts);
  EXPECT_EQ(apart, fused);
  EXPECT_EQ(fused.at("blk.1.ffn_up_exps.weight"), "32 x 256 / 4");
  EXPECT_EQ(fused.at("blk.1.ffn_down_exps.weight"), "64 x 128 / 4");
}

TEST(GgufLayout, RowsAreThoseOfTheProduct) {
  const auto oss = Layout(
      {Group("model.layers.#.mlp.experts.down_proj", "0", 1, {4, 64, 96})},
      {.class_name = "GptOssForCausalLM", .experts = 4, .rope_tables = {}});
  EXPECT_EQ(oss.at("blk.0.ffn_down_exps.weight"), "64 x 384 / 4");
  const auto gpt2 =
      Layout({Group("transformer.h.#.attn.c_attn.weight", "0", 1, {64, 192})},
             {.class_name = "GPT2LMHeadModel", .rope_tables = {}});
  EXPECT_EQ(gpt2.at("blk.0.attn_qkv.weight"), "64 x 192 / 1");
}

TEST(GgufLayout, LatentProjectionsAreSplitByHead) {
  const GgufFacts facts = {.class_name = "DeepseekV3ForCausalLM",
                           .heads = 4,
                           .nope_dims = 16,
                           .value_dims = 8,
                           .rope_tables = {}};
  const auto layout = Layout(
      {Group("model.layers.#.self_attn.kv_b_proj.weight", "0", 1, {96, 32})},
      facts);
  EXPECT_EQ(layout.at("blk.0.attn_k_b.weight"), "16 x 128 / 4");
  EXPECT_EQ(layout.at("blk.0.attn_v_b.weight"), "32 x 32 / 4");
}

TEST(GgufLayout, SaysWhatItHasNoPlaceFor) {
  const GgufLayout layout =
      LayOutGguf({Group("model.layers.#.strange.weight", "0", 1, {4, 4}),
                  Group("model.vision_tower.patch.weight", "", 1, {4, 4}),
                  Group("model.norm.weight", "", 1, {4})},
                 {.class_name = "LlamaForCausalLM", .rope_tables = {32}});
  EXPECT_EQ(layout.unplaced,
            (std::vector<std::string>{"model.layers.#.strange.weight"}));
  EXPECT_EQ(layout.towers,
            (std::vector<std::string>{"model.vision_tower.patch.weight"}));
  ASSERT_EQ(layout.tensors.size(), 2u);
  EXPECT_EQ(layout.tensors[1].name, "rope_freqs.weight");
}

}  // namespace
}  // namespace foretell
