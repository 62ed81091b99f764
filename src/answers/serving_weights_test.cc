// Names of quantization, and what a small model's weights take.
#include "answers/serving_weights.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(ServingWeights, FormatsByWords) {
  EXPECT_EQ(FormatOfName(""), "");
  EXPECT_EQ(FormatOfName("compressed-tensors x/y-quantized.w4a16"), "int4");
  EXPECT_EQ(FormatOfName("fp8 (block)"), "fp8");
  EXPECT_EQ(FormatOfName("modelopt_fp4"), "nvfp4");
  EXPECT_EQ(FormatOfName("bitsandbytes"), "nf4");
  EXPECT_EQ(FormatOfName("gptq_marlin"), "int4");
  EXPECT_EQ(FormatOfName("mxfp4"), "mxfp4");
}

TEST(ServingWeights, FormatsOfConfigurations) {
  ModelConfig config;
  config.root = ConfigValue::Object();
  EXPECT_EQ(QuantizationFormat(config), "");
  config.root.Set(
      "quantization_config",
      ConfigValue::Object({{"quant_method", ConfigValue::String("fp8")}}));
  EXPECT_EQ(QuantizationFormat(config), "fp8");
  config.root.Set("quantization_config",
                  ConfigValue::Object(
                      {{"quantization",
                        ConfigValue::Object(
                            {{"quant_algo", ConfigValue::String("NVFP4")}})}}));
  EXPECT_EQ(QuantizationFormat(config), "nvfp4");
}

ModelConfig SmallQwen() {
  ModelConfig config;
  const auto number = [](const char* text) {
    return ConfigValue::Number(text);
  };
  config.root = ConfigValue::Object(
      {{"model_type", ConfigValue::String("qwen3")},
       {"architectures",
        ConfigValue::Array({ConfigValue::String("Qwen3ForCausalLM")})},
       {"hidden_size", number("1024")},
       {"intermediate_size", number("3072")},
       {"num_hidden_layers", number("4")},
       {"num_attention_heads", number("16")},
       {"num_key_value_heads", number("8")},
       {"head_dim", number("128")},
       {"max_position_embeddings", number("40960")},
       {"vocab_size", number("151936")},
       {"tie_word_embeddings", ConfigValue::Bool(true)}});
  return config;
}

double Taken(const ServingSettings& settings, const WeightsCard& card) {
  const ModelConfig config = SmallQwen();
  return *ServedWeights(config, vllm::ServedConfig(config), settings, card)
              .any()
              .value();
}

TEST(ServingWeights, LinearLayersArePackedAsStated) {
  ServingSettings settings;
  settings.dtype = "bfloat16";
  const double plain = Taken(settings, {90, true, false});
  settings.quantization = "fp8";
  const double packed = Taken(settings, {90, true, false});
  const double linear =
      4.0 * (1024 * 2048 + 2 * 1024 * 1024 + 2048 * 1024 + 3 * 1024 * 3072);
  EXPECT_NEAR(plain - packed, linear, linear * 0.01);
  settings.quantization = "fp8-block";
  // Before 8.9 Marlin holds a scale for 128 elements of a row.
  EXPECT_NEAR(
      Taken(settings, {80, true, false}) - Taken(settings, {90, true, false}),
      linear / 64, linear * 0.001);
}

TEST(ServingWeights, RocmCountsWhatLibrariesHold) {
  ServingSettings settings;
  settings.dtype = "bfloat16";
  EXPECT_GT(Taken(settings, {0, false, true}),
            Taken(settings, {90, true, false}) + 1e8);
}

}  // namespace
}  // namespace foretell
