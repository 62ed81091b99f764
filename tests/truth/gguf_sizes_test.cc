// The bytes of published GGUF files, as llama.cpp prints them on loading
// ("file size = 4.58 GiB": the tensors without the header).
//
// Source of the sizes: start-up logs quoted in repositories and issues of
// llama.cpp and ik_llama.cpp, collected in llamacpp_memory.jsonl; of the
// configurations: the catalogue.
#include <gtest/gtest.h>

#include <string_view>
#include <variant>

#include "answers/quantized_model.h"
#include "answers/read_model.h"
#include "input/model_config_source.h"

namespace foretell {
namespace {

struct Published {
  const char* id;
  const char* file_type;
  double gib;
  double rounding;  // half of the last digit printed
};

constexpr Published kFiles[] = {
    {"meta-llama/Meta-Llama-3-8B-Instruct", "Q4_K_M", 4.58, 0.005},
    {"meta-llama/Llama-2-7b-hf", "Q4_K_M", 3.80, 0.005},
    {"meta-llama/Llama-2-7b-hf", "Q4_0", 3.56, 0.005},
    {"meta-llama/Llama-3.3-70B-Instruct", "Q4_K_M", 39.59, 0.005},
    {"meta-llama/Llama-3.1-405B", "Q4_K_M", 226.37, 0.005},
    {"mistralai/Mistral-7B-v0.1", "Q4_K_M", 4.07, 0.005},
    {"Qwen/Qwen3-30B-A3B", "Q4_K_M", 17.28, 0.005},
    {"Qwen/Qwen3-32B", "Q8_0", 32.42, 0.005},
    {"Qwen/Qwen3-235B-A22B", "Q4_K_M", 132.386, 0.0005},
    {"Qwen/Qwen3-235B-A22B", "Q6_K", 179.754, 0.0005},
    {"Qwen/Qwen3-235B-A22B", "Q8_0", 232.769, 0.0005},
    {"deepseek-ai/DeepSeek-R1", "Q8_0", 664.295, 0.0005},
    {"deepseek-ai/DeepSeek-R1", "Q4_K_M", 376.65, 0.005},
    {"moonshotai/Kimi-K2-Instruct", "Q8_0", 1016.623, 0.0005},
};

TEST(GgufSizes, ArePublishedFilesWithinThreeThousandths) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  for (const Published& file : kFiles) {
    const ModelConfig config = LoadModelConfig(file.id);
    const auto read = ReadModelOf(config, {});
    const auto* model = std::get_if<ReadModel>(&read);
    ASSERT_NE(model, nullptr) << file.id;
    const auto weights = QuantizeModel(config, *model, file.file_type);
    ASSERT_TRUE(weights && weights->tensors.is_exact())
        << file.id << " " << weights->tensors.ToString();
    const double gib = static_cast<double>(weights->tensors.exact()) / kGiB;
    EXPECT_NEAR(gib, file.gib, file.gib * 0.003) << file.id;
    // A file of before latent attention was split differs by that alone.
    const bool latent =
        std::string(file.id).find("Kimi") == 0 ||
        std::string(file.id).find("DeepSeek") != std::string::npos ||
        std::string(file.id).find("Kimi") != std::string::npos;
    if (!latent) {
      EXPECT_NEAR(gib, file.gib, file.rounding) << file.id;
    }
  }
}

}  // namespace
}  // namespace foretell
