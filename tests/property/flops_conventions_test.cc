// Every multiplication of a step is explained: 6 N D, less what is looked up,
// more what attention does, is what the operations of a decoder add up to.
#include "analysis/flops_conventions.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "answers/compile_step.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

// Every weight of these meets every token, or a share of its experts does.
constexpr std::array<std::string_view, 10> kDecoders = {
    "openai-community/gpt2",     "meta-llama/Llama-3.1-8B-Instruct",
    "mistralai/Mistral-7B-v0.3", "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "Qwen/Qwen2.5-7B-Instruct",  "Qwen/Qwen3-8B",
    "Qwen/Qwen3-30B-A3B",        "openai/gpt-oss-20b",
    "google/gemma-2b",           "microsoft/Phi-3-mini-4k-instruct"};

struct Step {
  ProductFlops products;
  ParameterAnalysis parameters;
};

std::optional<Step> Compile(std::string_view id, StepCase step) {
  const auto config = FromCatalogue(id);
  EXPECT_TRUE(config.has_value()) << id;
  if (!config) return std::nullopt;
  BuildOptions options;
  options.most_layers = 2;
  options.dtype = step.dtype;
  step.batch = 2;
  step.sequence = 32;
  const auto compiled =
      CompileStep(*config, options, step, StopAfter::kBackward);
  const auto* done = std::get_if<CompiledStep>(&compiled);
  EXPECT_NE(done, nullptr) << id;
  if (done == nullptr) return std::nullopt;
  const auto products = MeasureProducts(
      done->graph(), done->model.built.builder->tape().recomputed);
  EXPECT_TRUE(products.has_value()) << id;
  if (!products) return std::nullopt;
  return Step{*products, AnalyzeParameters(done->graph())};
}

constexpr int64_t kTokens = 64;

TEST(FlopsConventions, ExplainWhatDecodersMultiply) {
  for (const std::string_view id : kDecoders) {
    for (const std::string attention : {"eager", "sdpa"}) {
      for (const bool checkpoint : {false, true}) {
        StepCase step;
        step.attention = attention;
        step.checkpoint = checkpoint;
        if (attention == "sdpa") step.dtype = DType::kBFloat16;
        const auto compiled = Compile(id, step);
        if (!compiled) continue;
        int64_t sum = 0;
        for (const FlopsTerm& term : ReconcileFlops(
                 compiled->products, compiled->parameters, kTokens)) {
          EXPECT_NE(term.what, "other")
              << id << " " << attention << " " << term.flops;
          sum += term.flops;
        }
        EXPECT_EQ(sum, compiled->products.Executed()) << id;
        EXPECT_EQ(compiled->products.recomputed > 0, checkpoint) << id;
      }
    }
  }
}

// What checkpointing runs again changes no other convention.
TEST(FlopsConventions, CheckpointingChangesWhatIsExecutedOnly) {
  for (const std::string_view id : kDecoders) {
    StepCase plain;
    plain.attention = "eager";
    StepCase again = plain;
    again.checkpoint = true;
    const auto one = Compile(id, plain);
    const auto other = Compile(id, again);
    if (!one || !other) continue;
    EXPECT_EQ(one->products.Model(), other->products.Model()) << id;
    EXPECT_GT(other->products.Executed(), one->products.Executed()) << id;
    EXPECT_LE(other->products.recomputed, other->products.forward) << id;
  }
}

}  // namespace
}  // namespace foretell
