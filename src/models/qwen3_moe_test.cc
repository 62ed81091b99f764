// Experts one after another cost what the grouped products cost, however the
// tokens divide; which layers have experts.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/operation_row.h"
#include "models/family_test_config.h"

namespace foretell {
namespace {

const TestKeys kSmall = {
    {"model_type", "qwen3_moe"}, {"hidden_size", "64"},
    {"num_hidden_layers", "3"},  {"num_attention_heads", "4"},
    {"head_dim", "16"},          {"num_key_value_heads", "2"},
    {"intermediate_size", "96"}, {"moe_intermediate_size", "32"},
    {"num_experts", "6"},        {"num_experts_per_tok", "2"},
    {"vocab_size", "128"},
};

int64_t FlopsOf(const Graph& graph) {
  int64_t sum = 0;
  for (const Operation& operation : graph.operations) {
    if (operation.row->flops == nullptr) continue;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
    for (const ValueId id : graph.InputsOf(operation)) {
      inputs.push_back(graph[id]);
    }
    for (const ValueId id : graph.OutputsOf(operation)) {
      outputs.push_back(graph[id]);
    }
    sum += operation.row->flops(inputs, outputs).value_or(0);
  }
  return sum;
}

// Runs a step over `tokens` tokens.
BuildResult Forward(const TestKeys& keys, std::string_view experts,
                    int64_t tokens) {
  BuildResult result = BuildFrom(keys);
  ForwardInputs inputs;
  inputs.input_ids = result.built->builder->Input({1, tokens}, DType::kInt64);
  inputs.labels = result.built->builder->Input({1, tokens}, DType::kInt64);
  inputs.experts = std::string(experts);
  result.built->model->Forward(inputs);
  EXPECT_EQ(result.built->builder->failure(), "");
  return result;
}

TEST(Qwen3Moe, TheLoopCostsWhatGroupsCost) {
  TestKeys gpt_oss = With(kSmall, "model_type", "gpt_oss");
  gpt_oss = With(gpt_oss, "num_local_experts", "6");
  gpt_oss.erase(gpt_oss.begin() + 8);  // num_experts, the other name
  // More pairs of tokens and experts than experts, evenly or not, and fewer.
  for (const int64_t tokens : {9, 7, 1}) {
    for (const TestKeys& keys : {kSmall, gpt_oss}) {
      const BuildResult grouped = Forward(keys, "grouped_mm", tokens);
      const BuildResult loop = Forward(keys, "eager", tokens);
      EXPECT_EQ(FlopsOf(*loop.built->graph), FlopsOf(*grouped.built->graph))
          << tokens;
      EXPECT_TRUE(grouped.built->graph->assumptions.empty());
      EXPECT_EQ(loop.built->graph->assumptions,
                std::vector<std::string>{
                    "tokens spread evenly over 6 experts, 2 to each token"});
    }
  }
}

TEST(Qwen3Moe, SomeLayersHaveExperts) {
  const auto is_sparse = [](const BuildResult& result, int layer) {
    return HasParameter(
        *result.built->graph,
        "model.layers." + std::to_string(layer) + ".mlp.experts.down_proj");
  };
  const BuildResult stepped =
      BuildFrom(With(kSmall, "decoder_sparse_step", "2"));
  EXPECT_FALSE(is_sparse(stepped, 0));
  EXPECT_TRUE(is_sparse(stepped, 1));
  EXPECT_FALSE(is_sparse(stepped, 2));
  const BuildResult none = BuildFrom(With(kSmall, "num_experts", "0"));
  EXPECT_FALSE(is_sparse(none, 1));
  EXPECT_TRUE(IsRefused(BuildFrom(With(kSmall, "decoder_sparse_step", "0"))));
}

TEST(Qwen3Moe, AllLayersHaveTheWindowThatIsSwitchedOn) {
  const TestKeys stated = With(kSmall, "sliding_window", "16");
  const BuildResult off = BuildFrom(stated);
  EXPECT_EQ(off.built->model->states[2].kind, LayerState::Kind::kFull);
  const BuildResult on = BuildFrom(With(stated, "use_sliding_window", "true"));
  for (const LayerState& state : on.built->model->states) {
    EXPECT_EQ(state.kind, LayerState::Kind::kSliding);
    EXPECT_EQ(state.window, 16);
  }
}

TEST(GptOss, WindowsAlternateAndMustBeStated) {
  TestKeys keys = With(kSmall, "model_type", "gpt_oss");
  const BuildResult result = BuildFrom(keys);
  const auto& states = result.built->model->states;
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[0].window, 128);
  EXPECT_EQ(states[1].kind, LayerState::Kind::kFull);
  EXPECT_EQ(states[2].window, 128);
  EXPECT_EQ(result.built->model->context_length.where,
            "max_position_embeddings (rope yarn, factor 32, from 4096)");
  EXPECT_TRUE(IsRefused(BuildFrom(With(keys, "sliding_window", "null"))));
}

}  // namespace
}  // namespace foretell
