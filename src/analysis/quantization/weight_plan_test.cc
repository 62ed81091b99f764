#include "analysis/quantization/weight_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace foretell {
namespace {

TensorGroup Group(std::string name, std::string indices, int64_t count,
                  std::initializer_list<int64_t> dims,
                  RegionKind part = RegionKind::kMlp) {
  TensorGroup group;
  group.name = std::move(name);
  group.indices = std::move(indices);
  group.count = count;
  group.shape = Shape(dims);
  group.dtype = DType::kBFloat16;
  group.part = part;
  return group;
}

std::vector<TensorGroup> Tiny() {
  return {Group("model.embed_tokens.weight", "", 1, {1000, 256},
                RegionKind::kEmbedding),
          Group("model.layers.#.mlp.up_proj.weight", "0-3", 4, {512, 256}),
          Group("model.layers.#.mlp.down_proj.weight", "0-3", 4, {256, 512}),
          Group("model.layers.#.input_layernorm.weight", "0-3", 4, {256},
                RegionKind::kNorm),
          Group("lm_head.weight", "", 1, {1000, 256}, RegionKind::kHead)};
}

WeightPlan Plan(Packing packing) {
  WeightPlan plan;
  plan.name = "test";
  plan.class_name = "LlamaForCausalLM";
  plan.rules.push_back({.targets = {}, .packing = std::move(packing)});
  return plan;
}

constexpr int64_t kTables = 2 * 1000 * 256 * 2;  // embedding and head, bf16
constexpr int64_t kNorms = 4 * 256 * 2;

TEST(WeightPlan, PacksLinearWeightsAndKeepsTheRest) {
  const QuantizedWeights weights =
      QuantizeByPlan(Tiny(), Plan({.format = PackedFormat::kAwq}));
  // qweight, qzeros and scales of [512, 256] and of [256, 512], four of each.
  constexpr int64_t kUp = (256 * 64 + 2 * 64) * 4 + 2 * 512 * 2;
  constexpr int64_t kDown = (512 * 32 + 4 * 32) * 4 + 4 * 256 * 2;
  EXPECT_EQ(weights.tensors.exact(), 4 * (kUp + kDown) + kTables + kNorms);
  EXPECT_EQ(weights.memory.exact(), weights.tensors.exact());
  EXPECT_EQ(weights.kept, (std::vector<std::string>{
                              "lm_head.weight", "model.embed_tokens.weight"}));
  EXPECT_EQ(weights.file.provenance(), Provenance::kEstimated);
  EXPECT_GT(*weights.file.any().low(), *weights.tensors.any().value());
}

TEST(WeightPlan, SkipsByNameAndByBlock) {
  WeightPlan plan = Plan({.format = PackedFormat::kFp8});
  plan.skipped.push_back(
      *NamePattern::Parse("model.layers.2", PatternSyntax::kLibrary));
  plan.skipped.push_back(
      *NamePattern::Parse("re:.*down_proj", PatternSyntax::kTargets));
  const QuantizedWeights weights = QuantizeByPlan(Tiny(), plan);
  // Of four up projections three are packed, each with one float32 scale.
  EXPECT_EQ(weights.tensors.exact(), 3 * (512 * 256 + 4) + 512 * 256 * 2 +
                                         4 * 256 * 512 * 2 + kTables + kNorms);
}

TEST(WeightPlan, FusedExpertsArePackedOneByOneOrKept) {
  const std::vector<TensorGroup> experts = {
      Group("model.layers.#.mlp.experts.gate_up_proj", "0-1", 2, {4, 256, 128},
            RegionKind::kExperts),
      Group("model.layers.#.mlp.gate.weight", "0-1", 2, {4, 128},
            RegionKind::kRouter)};
  WeightPlan plan = Plan({.format = PackedFormat::kFp8,
                          .scales = ScaleOf::kBlock,
                          .scale_dtype = DType::kFloat32});
  const QuantizedWeights apart = QuantizeByPlan(experts, plan);
  EXPECT_EQ(apart.tensors.exact(),
            2 * 4 * 2 * (128 * 128 + 4) + 2 * 4 * 128 * 2);
  EXPECT_EQ(apart.stored.exact(), 2 * 4 * 2 * (128 * 128 + 1) + 2 * 4 * 128);
  plan.experts = ExpertWeights::kKept;
  EXPECT_EQ(QuantizeByPlan(experts, plan).tensors.exact(),
            2 * 4 * 256 * 128 * 2 + 2 * 4 * 128 * 2);
}

TEST(WeightPlan, WhatDoesNotDivideStaysAndIsNamed) {
  const std::vector<TensorGroup> odd = {Group(
      "model.layers.#.mlp.shared_expert_gate.weight", "0-1", 2, {1, 256})};
  const QuantizedWeights weights =
      QuantizeByPlan(odd, Plan({.format = PackedFormat::kAwq}));
  EXPECT_EQ(weights.tensors.exact(), 2 * 256 * 2);
  ASSERT_EQ(weights.assumed.size(), 1u);
  EXPECT_EQ(weights.assumed[0],
            "model.layers.#.mlp.shared_expert_gate.weight stays: its sizes do "
            "not divide");
}

}  // namespace
}  // namespace foretell
