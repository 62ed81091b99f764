// What one rank holds, by the sizes of published models.
#include "engines/vllm/memory_weights.h"

#include <gtest/gtest.h>

namespace foretell::vllm {
namespace {

TensorGroup Matrix(const std::string& name, int64_t rows, int64_t columns,
                   int64_t count = 1) {
  TensorGroup out;
  out.name = name;
  out.shape = Shape({rows, columns});
  out.count = count;
  return out;
}

WeightsInput Of(std::vector<TensorGroup> tensors) {
  WeightsInput in;
  for (const TensorGroup& one : tensors) {
    in.bytes.push_back(static_cast<double>(*one.Elements()) * 2);
  }
  in.tensors = std::move(tensors);
  in.layers = 4;
  in.capability = 90;
  return in;
}

double Value(const WeightsInput& in, const ServingSettings& settings) {
  return *WeightsOfRank(in, settings).any().value();
}

TEST(MemoryWeights, TowersSplitWhereTheirHeadsDivide) {
  WeightsInput in = Of(
      {Matrix("model.visual.blocks.#.attn.qkv.weight", 3840, 1280, 32),
       Matrix("model.visual.blocks.#.mlp.gate_proj.weight", 3420, 1280, 32)});
  ServingSettings settings;
  const double whole = Value(in, settings);
  settings.tensor_parallel = 2;
  in.tower_heads = 16;
  EXPECT_DOUBLE_EQ(Value(in, settings), whole / 2);
  in.tower_heads = 25;  // InternViT-6B
  EXPECT_DOUBLE_EQ(Value(in, settings), in.bytes[0] + in.bytes[1] / 2);
}

TEST(MemoryWeights, AdaptersTakeSlotsBesideEveryLinearLayer) {
  const WeightsInput in =
      Of({Matrix("model.layers.#.self_attn.q_proj.weight", 4096, 4096, 4)});
  ServingSettings settings;
  const double plain = Value(in, settings);
  settings.lora = AdapterSettings{};
  settings.lora->max_rank = 32;
  EXPECT_DOUBLE_EQ(Value(in, settings) - plain, 4 * (4096 + 4096) * 32 * 2);
}

TEST(MemoryWeights, OnlyLayersAreOffloaded) {
  const WeightsInput in =
      Of({Matrix("model.embed_tokens.weight", 102400, 2048),
          Matrix("model.layers.#.mlp.up_proj.weight", 10944, 2048, 4)});
  ServingSettings settings;
  settings.cpu_offload_gib = 30;
  EXPECT_DOUBLE_EQ(Value(in, settings), in.bytes[0]);
}

TEST(MemoryWeights, ExpertsInFourBitsArePaddedByKernel) {
  TensorGroup experts;
  experts.name = "model.layers.#.mlp.experts.down_proj";
  experts.shape = Shape({32, 2880, 2880});
  experts.experts = 32;
  WeightsInput in = Of({experts});
  in.are_experts_padded = true;
  ServingSettings settings;
  settings.version = {0, 19, 0};
  const double marlin = Value(in, settings) / in.bytes[0];
  EXPECT_DOUBLE_EQ(marlin, 3072.0 * 2944 / (2880.0 * 2880));
  settings.version = {0, 14, 1};
  EXPECT_LT(Value(in, settings) / in.bytes[0], marlin);
  in.is_nvidia = false;
  EXPECT_DOUBLE_EQ(Value(in, settings), in.bytes[0]);
}

ServedConfig Config(ModelConfig& keep, std::vector<ConfigValue::Member> more) {
  std::vector<ConfigValue::Member> members = {
      {"model_type", ConfigValue::String("llama")},
      {"hidden_size", ConfigValue::Number("4096")},
      {"num_attention_heads", ConfigValue::Number("32")},
      {"head_dim", ConfigValue::Number("128")},
      {"max_position_embeddings", ConfigValue::Number("131072")}};
  for (auto& one : more) members.push_back(std::move(one));
  keep.root = ConfigValue::Object(std::move(members));
  return ServedConfig(keep);
}

TEST(MemoryWeights, TablesOfPositionsFollowTheirScaling) {
  constexpr double kRow = 128 * 2;
  ModelConfig keep;
  EXPECT_DOUBLE_EQ(RotaryTables(Config(keep, {}), DType::kBFloat16),
                   131072 * kRow);
  const auto scaled = [&](const char* type, const char* factor,
                          const char* original) {
    ConfigValue scaling = ConfigValue::Object(
        {{"rope_type", ConfigValue::String(type)},
         {"factor", ConfigValue::Number(factor)},
         {"original_max_position_embeddings", ConfigValue::Number(original)}});
    return RotaryTables(Config(keep, {{"rope_scaling", std::move(scaling)}}),
                        DType::kBFloat16);
  };
  EXPECT_DOUBLE_EQ(scaled("linear", "8", "0"), 8 * 131072 * kRow);
  EXPECT_DOUBLE_EQ(scaled("yarn", "4", "32768"), 4 * 32768 * kRow);
  EXPECT_DOUBLE_EQ(scaled("llama3", "8", "8192"), 131072 * kRow);
}

}  // namespace
}  // namespace foretell::vllm
