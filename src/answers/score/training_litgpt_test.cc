#include "answers/score/training_litgpt.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;

using Sizes = std::vector<std::pair<std::string, std::string>>;

ConfigValue ConfigOf(std::string_view type, const Sizes& sizes) {
  std::vector<ConfigValue::Member> members = {
      {"model_type", ConfigValue::String(std::string(type))}};
  for (const auto& [key, value] : sizes) {
    members.emplace_back(key, ConfigValue::Number(value));
  }
  return ConfigValue::Object(std::move(members));
}

ConfigValue Mistral() {
  return ConfigOf("mistral", {{"hidden_size", "4096"},
                              {"num_hidden_layers", "32"},
                              {"num_attention_heads", "32"},
                              {"num_key_value_heads", "8"},
                              {"intermediate_size", "14336"},
                              {"vocab_size", "32000"},
                              {"rms_norm_eps", "1e-5"}});
}

ConfigValue Gemma2() {
  return ConfigOf("gemma2", {{"hidden_size", "2304"},
                             {"num_hidden_layers", "26"},
                             {"num_attention_heads", "8"},
                             {"num_key_value_heads", "4"},
                             {"head_dim", "256"},
                             {"intermediate_size", "9216"},
                             {"vocab_size", "256000"},
                             {"rms_norm_eps", "1e-6"},
                             {"attn_logit_softcapping", "50.0"}});
}

ConfigValue Phi2() {
  return ConfigOf("phi", {{"hidden_size", "2560"},
                          {"num_hidden_layers", "32"},
                          {"num_attention_heads", "32"},
                          {"intermediate_size", "10240"},
                          {"vocab_size", "51200"}});
}

TrainingJob JobOf(int64_t batch, int64_t sequence,
                  const std::vector<std::string>& targets) {
  TrainingJob job;
  job.step.batch = batch;
  job.step.sequence = sequence;
  LoraSettings lora;
  lora.targets = targets;
  job.step.lora = lora;
  return job;
}

double MadeAnewGib(const ConfigValue& config, const TrainingJob& job) {
  return LitgptMadeAnew(config, job, LitgptMethod::kLora,
                        /*longest_first=*/false) /
         kGib;
}

// Recorded by tools/pytorch/litgpt_step.py ("other" at the peak), which counts
// the adapters' narrow products too.
TEST(LitgptMadeAnew, IsWhatItsBlocksHold) {
  const std::vector<std::string> all = {"q_proj",    "k_proj", "v_proj",
                                        "o_proj",    "dense",  "up_proj",
                                        "gate_proj", "fc1",    "fc2"};
  EXPECT_NEAR(MadeAnewGib(Mistral(), JobOf(2, 512, {"q_proj", "v_proj"})),
              5.640, 0.03);
  EXPECT_NEAR(MadeAnewGib(Gemma2(), JobOf(2, 512, all)), 7.204, 0.05);
  EXPECT_NEAR(MadeAnewGib(Phi2(), JobOf(4, 512, all)), 7.714, 0.05);
}

TEST(LitgptMadeAnew, HoldsPackedInputsOfTheStepBefore) {
  TrainingJob job = JobOf(2, 512, {"q_proj", "v_proj"});
  job.weights = WeightFormat::kNf4;
  const ConfigValue config = Mistral();
  const double later =
      LitgptMadeAnew(config, job, LitgptMethod::kLora, false) / kGib;
  const double first =
      LitgptMadeAnew(config, job, LitgptMethod::kLora, true) / kGib;
  // 32 blocks, 1,024 tokens, inputs of 3 times 4,096 and 14,336 halves.
  EXPECT_NEAR(later - first, 1.625, 0.001);
}

TEST(LitgptWeightsBeside, HasAHeadOfItsOwn) {
  const ConfigValue tied = Gemma2();
  TrainingJob job;
  EXPECT_DOUBLE_EQ(LitgptWeightsBeside(tied, job), 256000.0 * 2304 * 2);
  job.weights = WeightFormat::kNf4;
  job.double_quant = false;
  EXPECT_DOUBLE_EQ(LitgptWeightsBeside(tied, job), 256000.0 * 2304 * 0.5625);
  const ConfigValue own = Mistral();
  EXPECT_DOUBLE_EQ(LitgptWeightsBeside(own, job),
                   32000.0 * 4096 * (0.5625 - 2));
}

TEST(LitgptMethodOf, ReadsTheTask) {
  EXPECT_EQ(LitgptMethodOf("peft:adapter_v2"), LitgptMethod::kAdapterV2);
  EXPECT_EQ(LitgptMethodOf("peft:llama-adapter"), LitgptMethod::kAdapter);
  EXPECT_EQ(LitgptMethodOf("qlora"), LitgptMethod::kLora);
}

}  // namespace
}  // namespace foretell
