// Relations between training jobs that hold whatever their figures are, and a
// few measured runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "answers/compile_step.h"
#include "answers/step_figures.h"
#include "answers/train.h"
#include "answers/train_memory.h"
#include "input/catalogue.h"
#include "input/device_catalogue.h"

namespace foretell {
namespace {

constexpr char kModel[] = "Qwen/Qwen3-0.6B";

ModelConfig Config(std::string_view model) {
  auto config = FromCatalogue(std::string(model));
  EXPECT_TRUE(config.has_value()) << model;
  return config ? *std::move(config) : ModelConfig();
}

TrainingJob Small() {
  TrainingJob job;
  job.step.batch = 2;
  job.step.sequence = 256;
  job.step.dtype = DType::kBFloat16;
  job.step.optimizer = "adamw_fused";
  job.step.holds_output = false;
  return job;
}

TrainMemory Memory(const TrainingJob& job, std::string_view model = kModel) {
  auto result = TrainMemoryOf(Config(model), {}, job);
  EXPECT_TRUE(std::holds_alternative<TrainMemory>(result));
  auto* memory = std::get_if<TrainMemory>(&result);
  return memory == nullptr ? TrainMemory() : std::move(*memory);
}

TrainingJob WithAdapters(TrainingJob job) {
  job.step.lora = LoraSettings{.targets = {"all-linear"}};
  return job;
}

int64_t Sum(const TrainMemory& memory) {
  int64_t out = 0;
  for (const MemoryTerm& term : memory.terms) out += term.bytes;
  return out;
}

TEST(TrainMemory, IsTheStepsPeakButForTheAllocatorsRounding) {
  const TrainingJob job = Small();
  BuildOptions build;
  build.dtype = job.step.dtype;
  const auto compiled = CompileStep(Config(kModel), build, job.step);
  ASSERT_TRUE(std::holds_alternative<CompiledStep>(compiled));
  const auto figures = FiguresOf(std::get<CompiledStep>(compiled));
  ASSERT_TRUE(figures.has_value());
  int64_t peak = 0;
  for (const PhaseMemory& phase : figures->memory.phases) {
    peak = std::max(peak, phase.peak);
  }
  const TrainMemory memory = Memory(job);
  EXPECT_TRUE(memory.not_exact.empty());
  EXPECT_GE(memory.tensors, peak);
  EXPECT_LT(memory.tensors, peak + peak / 1000);
  EXPECT_EQ(Sum(memory), memory.tensors);
}

TEST(TrainMemory, MoreWorkNeverTakesLess) {
  const TrainingJob job = Small();
  TrainingJob wider = job;
  wider.step.batch = 3;
  TrainingJob longer = job;
  longer.step.sequence = 320;
  TrainingJob accumulated = job;
  accumulated.accumulate = 4;
  TrainingJob held = job;
  held.step.holds_output = true;
  TrainingJob mastered = job;
  mastered.master_weights = true;
  TrainingJob older = job;
  older.step.transformers = "4.48.1";
  const int64_t base = Memory(job).tensors;
  for (const TrainingJob& more :
       {wider, longer, accumulated, held, mastered, older}) {
    EXPECT_GE(Memory(more).tensors, base);
  }
}

TEST(TrainMemory, EachLeverTakesLess) {
  const TrainingJob job = Small();
  const int64_t base = Memory(job).tensors;
  TrainingJob checkpointed = job;
  checkpointed.step.checkpoint = true;
  TrainingJob chunked = job;
  chunked.loss = LossKind::kChunked;
  TrainingJob fused = job;
  fused.loss = LossKind::kFused;
  TrainingJob packed_moments = job;
  packed_moments.step.optimizer = "none";
  packed_moments.optimizer = "adamw_8bit";
  TrainingJob paged = packed_moments;
  paged.optimizer = "paged_adamw_8bit";
  for (const TrainingJob& less :
       {checkpointed, chunked, fused, packed_moments, paged}) {
    EXPECT_LT(Memory(less).tensors, base);
  }
  EXPECT_LT(Memory(paged).tensors, Memory(packed_moments).tensors);
  EXPECT_GT(Memory(paged).managed, 0);
  const TrainMemory lora = Memory(WithAdapters(job));
  TrainingJob packed = WithAdapters(job);
  packed.weights = WeightFormat::kNf4;
  EXPECT_LT(lora.tensors, base);
  EXPECT_LT(Memory(packed).tensors, lora.tensors);
}

TEST(TrainMemory, MoreCardsTakeLessEach) {
  for (const Sharding sharding : {Sharding::kZero1, Sharding::kZero2,
                                  Sharding::kZero3, Sharding::kFsdp2}) {
    int64_t before = 0;
    for (const int64_t gpus : {2, 4, 16}) {
      TrainingJob job = Small();
      job.sharding = sharding;
      job.gpus = gpus;
      const TrainMemory memory = Memory(job);
      // FSDP is followed operation by operation; ZeRO's buffers are estimates.
      EXPECT_EQ(memory.not_exact.empty(), sharding == Sharding::kFsdp2);
      if (before > 0) {
        EXPECT_LE(memory.tensors, before);
      }
      before = memory.tensors;
    }
  }
}

TEST(TrainMemory, OneRankOfADivisionByOneIsTheWhole) {
  TrainingJob job = Small();
  job.sharding = Sharding::kFsdp2;
  job.gpus = 1;
  EXPECT_EQ(Memory(job).tensors, Memory(Small()).tensors);
}

struct MeasuredRun {
  const char* what;
  double gib;  // torch.cuda.max_memory_allocated
  bool adapters;
  int64_t batch;
};

class MeasuredRuns : public testing::TestWithParam<MeasuredRun> {};

// Mistral-7B in pure bfloat16 on an A100, 4,096 tokens, every block
// checkpointed, AdamW by lists of tensors, flash-attention 2, torch 2.4.1 and
// transformers 4.48.1. Source: foundation-model-stack/fms-acceleration,
// scripts/benchmarks/refs/a100_80gb.csv, 2025-02-07.
TEST_P(MeasuredRuns, AreToldWithinOneAndAHalfPercent) {
  TrainingJob job = Small();
  job.step.batch = GetParam().batch;
  job.step.sequence = 4096;
  job.step.checkpoint = true;
  job.step.attention = "flash2";
  job.step.capability = 80;
  job.step.optimizer = "adamw_foreach";
  job.step.transformers = "4.48.1";
  if (GetParam().adapters) {
    job.step.lora =
        LoraSettings{.rank = 16,
                     .alpha = 16,
                     .targets = {"q_proj", "k_proj", "v_proj", "o_proj"},
                     .float32 = false};
  }
  const TrainMemory memory = Memory(job, "mistralai/Mistral-7B-v0.1");
  constexpr double kGib = 1073741824.0;
  const double told = memory.allocated.any().value().value_or(0) / kGib;
  EXPECT_LT(std::abs(told / GetParam().gib - 1), 0.015) << told;
}

INSTANTIATE_TEST_SUITE_P(Mistral7B, MeasuredRuns,
                         testing::Values(MeasuredRun{"full", 67.46, false, 4},
                                         MeasuredRun{"full", 67.461, false, 8},
                                         MeasuredRun{"LoRA", 24.871, true, 4},
                                         MeasuredRun{"LoRA", 36.082, true, 8}));

TEST(AnswerTrain, FindsTheLargestBatchAndKeepsTheGlobalOne) {
  TrainRequest request;
  request.config = Config(kModel);
  request.job = Small();
  request.job.step.batch = 64;
  request.job.step.sequence = 2048;
  request.build.dtype = DType::kBFloat16;
  request.device = FindDevice("rtx-4090");
  const auto result = AnswerTrain(request);
  const auto* answer = std::get_if<TrainAnswer>(&result);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->verdict.fit, Fit::kDoesNotFit);
  ASSERT_TRUE(answer->largest_batch.has_value());
  ASSERT_TRUE(answer->accumulate.has_value());
  EXPECT_EQ(answer->fitting_batch * *answer->accumulate, 64);
  EXPECT_LE(answer->fitting_batch, *answer->largest_batch);
  // The largest that is likely to fit: the next one is not.
  for (const int64_t more : {0, 1}) {
    TrainingJob job = request.job;
    job.step.batch = *answer->largest_batch + more;
    EXPECT_EQ(JudgeFit(Memory(job), request.device).likely, more == 0);
  }
}

TEST(AnswerTrain, CannotTellOfACardOfUnknownMemory) {
  Device device;
  device.total = Bytes::Unknown("the card's memory");
  EXPECT_EQ(JudgeFit(Memory(Small()), device).fit, Fit::kCannotTell);
}

}  // namespace
}  // namespace foretell
