#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const TestKeys kTiny = {{"model_type", "mamba"},
                        {"hidden_size", "32"},
                        {"num_hidden_layers", "2"},
                        {"state_size", "4"},
                        {"vocab_size", "16"}};

Shape ShapeOf(const BuildResult& result, std::string_view name) {
  for (const Parameter& parameter : result.built->graph->parameters) {
    if (result.built->graph->NameOf(parameter) == name) {
      return (*result.built->graph)[parameter.value].shape;
    }
  }
  return {};
}

constexpr std::string_view kStep = "backbone.layers.0.mixer.dt_proj.weight";

TEST(MambaTest, ClassIsTheLanguageModelByDefault) {
  const BuildResult result = BuildFrom(kTiny);
  ASSERT_TRUE(result.built);
  EXPECT_EQ(result.built->class_name, "MambaForCausalLM");
  EXPECT_THAT(result.unread, IsEmpty());
  EXPECT_THAT(TiesOf(*result.built->graph),
              ElementsAre("lm_head.weight -> backbone.embeddings.weight"));
}

TEST(MambaTest, WidthGivesChannelsAndRankUnlessTheyAreStated) {
  EXPECT_EQ(ShapeOf(BuildFrom(kTiny), kStep), Shape({64, 2}));
  EXPECT_EQ(ShapeOf(BuildFrom(With(kTiny, "hidden_size", "33")), kStep),
            Shape({66, 3}));
  EXPECT_EQ(ShapeOf(BuildFrom(With(kTiny, "expand", "3")), kStep),
            Shape({96, 2}));
  const TestKeys stated = With(kTiny, "intermediate_size", "40");
  EXPECT_EQ(ShapeOf(BuildFrom(With(stated, "expand", "3")), kStep),
            Shape({40, 2}));
  EXPECT_EQ(ShapeOf(BuildFrom(With(kTiny, "time_step_rank", "7")), kStep),
            Shape({64, 7}));
  EXPECT_EQ(ShapeOf(BuildFrom(With(kTiny, "time_step_rank", "auto")), kStep),
            Shape({64, 2}));
  // A number in quotes, and blanks around it, as int() reads them.
  EXPECT_EQ(ShapeOf(BuildFrom(With(kTiny, "time_step_rank", " +9 ")), kStep),
            Shape({64, 9}));
}

TEST(MambaTest, StatesAndContext) {
  const BuildResult result = BuildFrom(kTiny);
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = 64;
  state.key_dim = 4;
  state.value_dim = 1;
  state.conv_channels = 64;
  state.conv_tokens = 4;
  EXPECT_THAT(result.built->model->states, SizeIs(2));
  EXPECT_THAT(result.built->model->states, Each(state));
  EXPECT_FALSE(result.built->model->context_length.tokens);
}

TEST(MambaTest, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "time_step_rank", "wide"),
                            With(kTiny, "time_step_rank", "null"),
                            With(kTiny, "time_step_rank", "true"),
                            With(kTiny, "time_step_rank", "2.0"),
                            With(kTiny, "num_hidden_layers", "-1"),
                            With(kTiny, "layer_types", "null"),
                            With(kTiny, "expand", "0"),
                            With(kTiny, "expand", "2.0"),
                            With(kTiny, "hidden_size", "0"),
                            With(kTiny, "intermediate_size", "null"),
                            With(kTiny, "time_step_floor", "1"),
                            With(kTiny, "hidden_act", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys)))
        << keys.back().first << " " << keys.back().second;
  }
  EXPECT_FALSE(IsRefused(BuildFrom(With(kTiny, "hidden_act", "gelu"))));
}

TEST(MambaTest, EachTokenAddsTheSameOperations) {
  const auto operations = [](int64_t tokens) {
    const BuildResult result = BuildFrom(kTiny);
    Builder& builder = *result.built->builder;
    ForwardInputs inputs;
    inputs.input_ids = builder.Input({2, tokens}, DType::kInt64);
    result.built->model->Forward(inputs);
    EXPECT_EQ(builder.failure(), "");
    return result.built->graph->operations.size();
  };
  const size_t each = operations(6) - operations(5);
  EXPECT_EQ(operations(32) - operations(5), 27 * each);
}

// Whatever a size is, there is a refusal or a model, and its forward runs or
// says why not.
TEST(MambaTest, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "hidden_size", "state_size", "conv_kernel", "expand",
        "intermediate_size", "time_step_rank", "num_hidden_layers"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "7", "2147483647", "1099511627776", "text", "null",
          "true", "1e9999"}) {
      if (key == "num_hidden_layers" && value == "2147483647") continue;
      for (const std::string_view name : {"MambaForCausalLM", "MambaModel"}) {
        BuildResult result = BuildFrom(With(kTiny, key, value), name);
        if (result.built) ForwardFailure(*result.built, "eager");
      }
    }
  }
}

TEST(MambaTest, ForwardRunsForEveryClassAndFlag) {
  for (const std::string_view name : {"MambaForCausalLM", "MambaModel"}) {
    for (const std::string_view flag :
         {"use_bias", "use_conv_bias", "residual_in_fp32"}) {
      for (const std::string_view value : {"true", "false"}) {
        BuildResult result = BuildFrom(With(kTiny, flag, value), name);
        ASSERT_TRUE(result.built) << flag;
        EXPECT_EQ(ForwardFailure(*result.built, "eager"), "") << flag;
      }
    }
  }
}

}  // namespace
}  // namespace foretell
