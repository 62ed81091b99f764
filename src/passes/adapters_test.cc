// What adapters and freezing do to a registered model, on a small one.
#include "passes/adapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// block.q [6, 4] and block.gate.weight [3, 4] beside a head [5, 4].
class Adapters : public testing::Test {
 protected:
  Adapters() : builder_(graph_, DType::kBFloat16) {
    const RegionId block =
        builder_.AddRegion(builder_.root(), "block", RegionKind::kBlock);
    AddLinear(block, "q_proj", {6, 4});
    const RegionId gate =
        builder_.AddRegion(block, "gate", RegionKind::kRouter);
    builder_.AddParameter(gate, "weight", {3, 4});
    const RegionId experts =
        builder_.AddRegion(block, "experts", RegionKind::kExperts);
    builder_.AddParameter(experts, "gate_up_proj", {3, 10, 4});
    builder_.AddParameter(experts, "down_proj", {3, 4, 5});
    graph_.output_embeddings = AddLinear(builder_.root(), "lm_head", {5, 4});
  }

  RegionId AddLinear(RegionId parent, std::string_view name,
                     const Shape& shape) {
    const RegionId region =
        builder_.AddRegion(parent, name, RegionKind::kLinear);
    const ParameterId weight = builder_.AddParameter(region, "weight", shape);
    graph_.linears.push_back({region, weight});
    return region;
  }

  std::string Refusal(const LoraSettings& settings,
                      std::string_view type = "llama") {
    const auto refusal = AddAdapters(builder_, type, settings);
    return refusal ? refusal->what + "; " + refusal->cure : "";
  }

  // "name [shape]" of what trains, in order.
  std::vector<std::string> Trained() const {
    std::vector<std::string> out;
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      EXPECT_EQ(parameter.trainable, value.requires_grad);
      if (!parameter.trainable) continue;
      out.push_back(graph_.NameOf(parameter) + " " + value.shape.ToString() +
                    " " + std::string(ShortNameOf(value.dtype)));
    }
    return out;
  }

  Graph graph_;
  Builder builder_;
};

TEST_F(Adapters, LieBesideEveryLinearLayerButTheHead) {
  EXPECT_EQ(Refusal({.rank = 2, .targets = {"all-linear"}}), "");
  EXPECT_THAT(
      Trained(),
      ElementsAre("base_model.model.block.q_proj.lora_A.default.weight [2, 4] "
                  "f32",
                  "base_model.model.block.q_proj.lora_B.default.weight [6, 2] "
                  "f32"));
  EXPECT_EQ(graph_.NameOf(graph_.parameters[0]),
            "base_model.model.block.q_proj.base_layer.weight");
  ASSERT_EQ(graph_.adapters.size(), 1);
  EXPECT_EQ(graph_.adapters[0].scaling, 8);
  EXPECT_EQ(graph_.AdapterOf(graph_.adapters[0].region), &graph_.adapters[0]);
}

TEST_F(Adapters, KeepTheModelsDTypeWhereAsked) {
  EXPECT_EQ(Refusal({.rank = 1, .targets = {"lm_head"}, .float32 = false}), "");
  EXPECT_THAT(Trained(),
              ElementsAre("base_model.model.lm_head.lora_A.default.weight "
                          "[1, 4] bf16",
                          "base_model.model.lm_head.lora_B.default.weight "
                          "[5, 1] bf16"));
}

TEST_F(Adapters, OfDoraHaveAMagnitudeOfEachOutput) {
  EXPECT_EQ(Refusal({.rank = 2, .targets = {"q_proj"}, .dora = true}), "");
  EXPECT_THAT(Trained(),
              ElementsAre(HasSubstr("lora_A"), HasSubstr("lora_B"),
                          "base_model.model.block.q_proj.lora_magnitude_vector."
                          "default.weight [6] f32"));
}

TEST_F(Adapters, ScaleByTheRootOfTheirRankWhereAsked) {
  EXPECT_EQ(Refusal({.rank = 4,
                     .alpha = 16,
                     .targets = {"q_proj"},
                     .rank_stabilized = true}),
            "");
  ASSERT_EQ(graph_.adapters.size(), 1);
  EXPECT_EQ(graph_.adapters[0].scaling, 8);
}

TEST_F(Adapters, TrainACopyOfASavedModule) {
  EXPECT_EQ(Refusal({.rank = 1,
                     .targets = {"q_proj"},
                     .float32 = false,
                     .saved = {"lm_head"}}),
            "");
  EXPECT_THAT(Trained(),
              ElementsAre("base_model.model.lm_head.modules_to_save.default."
                          "weight [5, 4] bf16",
                          HasSubstr("lora_A"), HasSubstr("lora_B")));
  std::vector<std::string> names;
  for (const Parameter& parameter : graph_.parameters) {
    names.push_back(graph_.NameOf(parameter));
  }
  EXPECT_THAT(names, testing::Contains(
                         "base_model.model.lm_head.original_module.weight"));
  EXPECT_EQ(Refusal({.targets = {"q_proj"}, .saved = {"lm_hed"}}),
            "no module to save is named lm_hed; did you mean lm_head?");
}

TEST_F(Adapters, RefuseWhatKernelsReadThemselves) {
  AddLinear(builder_.root(), "out_proj", {4, 4});
  EXPECT_EQ(Refusal({.targets = {"out_proj"}}, "mamba2"),
            "peft does not adapt out_proj of a model of type mamba2; name "
            "other layers, as in_proj");
}

TEST_F(Adapters, OfFusedParametersWrapTheirModule) {
  EXPECT_EQ(Refusal({.rank = 2, .targets = {"all-linear"}}, "mixtral"), "");
  EXPECT_THAT(
      Trained(),
      ElementsAre(
          HasSubstr("block.q_proj.lora_A"), HasSubstr("block.q_proj.lora_B"),
          "base_model.model.block.gate.lora_A.default.weight [2, 4] f32",
          "base_model.model.block.gate.lora_B.default.weight [3, 2] f32",
          // Two layers in one: twice the rank, for each of three experts.
          "base_model.model.block.experts.base_layer.lora_A.default.weight "
          "[12, 4] f32",
          "base_model.model.block.experts.base_layer.lora_B.default.weight "
          "[10, 12] f32",
          "base_model.model.block.experts.lora_A.default.weight [6, 5] f32",
          "base_model.model.block.experts.lora_B.default.weight [4, 6] f32"));
  EXPECT_EQ(graph_.NameOf(graph_.parameters[2]),
            "base_model.model.block.experts.base_layer.base_layer."
            "gate_up_proj");
}

TEST_F(Adapters, AreRefusedWhereNothingIsMeant) {
  EXPECT_EQ(Refusal({.targets = {"q_pro"}}),
            "no module is named q_pro; did you mean q_proj? The model has "
            "q_proj");
  EXPECT_EQ(Refusal({.targets = {"experts"}}),
            "block.experts is no linear layer; name linear layers, as q_proj");
}

TEST_F(Adapters, AreRefusedForAPartOfAFusedParameter) {
  EXPECT_EQ(Refusal({.targets = {"w1"}}, "mixtral"),
            "w1 alone cannot be adapted: gate_up_proj is fused of it and w3; "
            "name w3 as well");
  EXPECT_EQ(Refusal({.dropout = 0.1, .targets = {"w2"}}, "mixtral"),
            "adapters of down_proj, a parameter, have no dropout; set the "
            "adapters' dropout to 0");
}

TEST_F(Adapters, FrozenAreParametersByTheBeginningOfTheirNames) {
  const std::string prefixes[] = {"block.q", "lm_head"};
  Freeze(graph_, prefixes);
  EXPECT_THAT(Trained(),
              ElementsAre("block.gate.weight [3, 4] bf16",
                          "block.experts.gate_up_proj [3, 10, 4] bf16",
                          "block.experts.down_proj [3, 4, 5] bf16"));
}

}  // namespace
}  // namespace foretell
