// The elements that the hub counts in published quantized checkpoints: scales
// are elements too, packed words count as what they hold.
//
// Source of the totals: the hub's own record of each repository's safetensors
// headers (2026-05); of the configurations: ../shared/configs. Skipped where
// that folder is absent, since the catalogue holds no quantization settings.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>

#include "analysis/checkpoint_surplus.h"
#include "answers/quantized_model.h"
#include "answers/read_model.h"
#include "input/model_config_source.h"

namespace foretell {
namespace {

struct Published {
  const char* label;
  int64_t elements;
};

constexpr Published kCheckpoints[] = {
    {"deepseek-ai--DeepSeek-R1", 684'531'386'000},
    {"deepseek-ai--DeepSeek-V3.1", 684'531'386'000},
    {"MiniMaxAI--MiniMax-M2.7", 228'703'644'928},
    {"openai--gpt-oss-120b", 120'412'337'472},
    {"openai--gpt-oss-20b", 21'511'953'984},
};

TEST(QuantizedTotals, AreThePublishedOnes) {
  const std::string folder =
      std::string(FORETELL_SOURCE_DIR) + "/../shared/configs";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is absent";
  }
  for (const Published& one : kCheckpoints) {
    const ModelConfig config =
        LoadModelConfig(folder + "/" + one.label + ".json");
    const auto read = ReadModelOf(config, {});
    const auto* model = std::get_if<ReadModel>(&read);
    ASSERT_NE(model, nullptr) << one.label;
    std::vector<TensorGroup> surplus;
    for (const SurplusItem& item : CheckpointSurplus(
             config, model->built.class_name, model->parameters)) {
      if (item.left_out || item.presence == SurplusPresence::kSometimes) {
        continue;
      }
      surplus.insert(surplus.end(), item.tensors.begin(), item.tensors.end());
    }
    const auto weights = QuantizedAsConfigured(config, *model, surplus);
    ASSERT_TRUE(weights) << one.label;
    EXPECT_EQ(weights->stored.ToString(), Count::Exact(one.elements).ToString())
        << one.label;
  }
}

}  // namespace
}  // namespace foretell
