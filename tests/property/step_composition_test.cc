// A step that is composed of few blocks equals the one compiled in full, in
// every figure.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "answers/step_memo.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

struct Way {
  std::string name;
  std::string model;
  StepCase step;
};

StepCase Case(bool checkpoint, std::string optimizer, DType dtype,
              std::string attention = "sdpa") {
  StepCase step;
  step.batch = 2;
  step.sequence = 96;
  step.checkpoint = checkpoint;
  step.optimizer = std::move(optimizer);
  step.dtype = dtype;
  step.attention = std::move(attention);
  return step;
}

class StepComposition : public testing::TestWithParam<Way> {};

TEST_P(StepComposition, EqualsTheStepCompiledInFull) {
  const auto config = FromCatalogue(GetParam().model);
  ASSERT_TRUE(config.has_value());
  const StepCase& step = GetParam().step;
  BuildOptions build;
  build.dtype = step.dtype;
  StepMemo memo(*config, build);
  EXPECT_TRUE(memo.Composes(step));
  const auto composed = memo.FiguresOf(step);
  const auto compiled = CompileStep(*config, build, step);
  ASSERT_TRUE(std::holds_alternative<StepFigures>(composed));
  ASSERT_TRUE(std::holds_alternative<CompiledStep>(compiled));
  const auto whole = FiguresOf(std::get<CompiledStep>(compiled));
  ASSERT_TRUE(whole.has_value());
  const auto& few = std::get<StepFigures>(composed);
  EXPECT_EQ(few.figures, whole->figures);
  EXPECT_EQ(few.flops_forward, whole->flops_forward);
  EXPECT_EQ(few.flops_backward, whole->flops_backward);
}

INSTANTIATE_TEST_SUITE_P(
    Models, StepComposition,
    testing::Values(Way{"Llama", "meta-llama/Meta-Llama-3.1-405B",
                        Case(false, "adamw_fused", DType::kBFloat16)},
                    Way{"LlamaCheckpoint", "meta-llama/Meta-Llama-3.1-405B",
                        Case(true, "adamw_fused", DType::kBFloat16)},
                    Way{"LlamaEagerSgd", "meta-llama/Llama-3.2-1B",
                        Case(false, "sgd", DType::kFloat32, "eager")},
                    Way{"Gemma2", "google/gemma-2-2b",
                        Case(true, "adamw_loop", DType::kBFloat16)},
                    Way{"Gpt2", "openai-community/gpt2",
                        Case(true, "none", DType::kFloat16)},
                    Way{"Bert", "google-bert/bert-base-uncased",
                        Case(false, "none", DType::kFloat32)},
                    Way{"T5", "google-t5/t5-base",
                        Case(true, "adamw_fused", DType::kBFloat16)},
                    Way{"Mixtral", "mistralai/Mixtral-8x7B-v0.1",
                        Case(false, "adamw_fused", DType::kBFloat16)}),
    [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace foretell
