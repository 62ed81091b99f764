// What each way of training must do to a job's memory, whatever the figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <variant>

#include "answers/train.h"
#include "answers/train_memory.h"
#include "answers/train_stages.h"
#include "input/catalogue.h"
#include "input/device_catalogue.h"

namespace foretell {
namespace {

constexpr char kModel[] = "Qwen/Qwen3-0.6B";

const ModelConfig& Config() {
  static const ModelConfig config = FromCatalogue(kModel).value();
  return config;
}

TrainingJob Small() {
  TrainingJob job;
  job.step.batch = 4;
  job.step.sequence = 512;
  job.step.dtype = DType::kBFloat16;
  job.step.optimizer = "adamw_fused";
  job.step.holds_output = false;
  return job;
}

TrainingJob WithAdapters() {
  TrainingJob job = Small();
  job.step.lora = LoraSettings{.targets = {"all-linear"}};
  return job;
}

TrainMemory Memory(const TrainingJob& job) {
  auto result = TrainMemoryOf(Config(), {}, job);
  auto* memory = std::get_if<TrainMemory>(&result);
  EXPECT_NE(memory, nullptr);
  return memory == nullptr ? TrainMemory() : std::move(*memory);
}

int64_t Term(const TrainMemory& memory, std::string_view name) {
  for (const MemoryTerm& term : memory.terms) {
    if (term.name == name) return term.bytes;
  }
  return 0;
}

TEST(TrainMethods, RecomputationGoesFromNoneToAll) {
  TrainingJob job = Small();
  const TrainMemory none = Memory(job);
  job.step.checkpoint = true;
  const TrainMemory full = Memory(job);
  job.step.checkpoint_every = 2;
  const TrainMemory half = Memory(job);
  job.step.checkpoint_every = 1;
  job.step.checkpoint_kind = CheckpointKind::kByOperator;
  const TrainMemory chosen = Memory(job);
  EXPECT_LT(full.tensors, half.tensors);
  EXPECT_LT(half.tensors, none.tensors);
  EXPECT_LT(full.tensors, chosen.tensors);
  EXPECT_LT(chosen.tensors, none.tensors);
  EXPECT_LT(none.flops, half.flops);
  EXPECT_LT(half.flops, full.flops);
  EXPECT_LT(none.flops, chosen.flops);
  EXPECT_LT(chosen.flops, full.flops);
  // Half of the blocks are run again.
  EXPECT_EQ(full.flops - half.flops, half.flops - none.flops);
  EXPECT_TRUE(none.not_exact.empty());
  EXPECT_TRUE(half.not_exact.empty());
  EXPECT_FALSE(chosen.not_exact.empty());
}

TEST(TrainMethods, AttentionsScoresAloneMatterWhereTheyAreKept) {
  TrainingJob job = Small();
  job.step.attention = "eager";
  const TrainMemory none = Memory(job);
  job.step.checkpoint = true;
  job.step.checkpoint_kind = CheckpointKind::kOnlyAttention;
  EXPECT_LT(Memory(job).tensors, none.tensors);
  job.step.attention = "sdpa";
  const int64_t scores = Memory(job).tensors;
  EXPECT_EQ(scores, Memory(Small()).tensors);
}

TEST(TrainMethods, ActivationsOnTheHostAreNotOnTheCard) {
  TrainingJob job = Small();
  const TrainMemory here = Memory(job);
  job.offload = Offload::kActivations;
  const TrainMemory there = Memory(job);
  EXPECT_LT(there.tensors, here.tensors);
  EXPECT_GT(there.to_host, Term(here, "kept activations") / 2);
  EXPECT_EQ(there.flops, here.flops);
  int64_t sum = 0;
  for (const MemoryTerm& term : there.terms) {
    EXPECT_GT(term.bytes, 0) << term.name;
    sum += term.bytes;
  }
  EXPECT_EQ(sum, there.tensors);
}

TEST(TrainMethods, FusedKernelsKeepLess) {
  TrainingJob job = Small();
  const int64_t library = Memory(job).tensors;
  job.kernels = FusedKernels::kLiger;
  const int64_t liger = Memory(job).tensors;
  job.kernels = FusedKernels::kUnsloth;
  const int64_t unsloth = Memory(job).tensors;
  EXPECT_LT(liger, library);
  EXPECT_LT(unsloth, liger);
  job.kernels = FusedKernels::kNone;
  job.compiled = true;
  const TrainMemory compiled = Memory(job);
  EXPECT_LT(compiled.tensors, library);
  const AnyFigure& figure = compiled.allocated.any();
  EXPECT_LT(*figure.low(), *figure.value() * 0.8);
}

TEST(TrainMethods, Fp8ByTheRecipesOwnRule) {
  const TrainMemory plain = Memory(Small());
  TrainingJob job = Small();
  job.fp8 = Fp8::kTorchao;
  const TrainMemory torchao = Memory(job);
  EXPECT_GE(torchao.tensors, plain.tensors);
  EXPECT_EQ(Term(torchao, "kept activations"), Term(plain, "kept activations"));
  job.fp8 = Fp8::kTransformerEngine;
  EXPECT_LT(Term(Memory(job), "kept activations"),
            Term(plain, "kept activations"));
}

TEST(TrainMethods, AnOptimizerInTheBackwardHoldsNoGradients) {
  TrainingJob job = Small();
  const TrainMemory before = Memory(job);
  job.optimizer_in_backward = true;
  const TrainMemory after = Memory(job);
  EXPECT_LT(after.gradients, before.gradients / 10);
  EXPECT_LE(after.tensors, before.tensors);
}

TEST(TrainMethods, AReferenceIsAnotherModelUnlessItIsNot) {
  TrainingJob job = WithAdapters();
  TrainingJob doubled = job;
  doubled.step.batch *= 2;
  doubled.loss = LossKind::kChunked;
  job.preference = Preference::kDpo;
  job.loss = LossKind::kChunked;
  job.reference = Reference::kPrecomputed;
  const TrainMemory before = Memory(job);
  EXPECT_EQ(before.tensors, Memory(doubled).tensors);
  job.reference = Reference::kAdapterOff;
  const TrainMemory off = Memory(job);
  job.reference = Reference::kModel;
  const TrainMemory model = Memory(job);
  EXPECT_GE(off.tensors, before.tensors);
  EXPECT_GE(model.tensors, off.tensors + Term(before, "weights") * 9 / 10);
  EXPECT_GT(Term(model, "reference model"), 0);
  // No pairs, no reference.
  job.preference = Preference::kOrpo;
  EXPECT_EQ(Term(Memory(job), "reference model"), 0);
}

TEST(TrainMethods, DoraAndSavedModulesTakeMore) {
  const TrainMemory lora = Memory(WithAdapters());
  TrainingJob job = WithAdapters();
  job.step.lora->dora = true;
  const TrainMemory dora = Memory(job);
  EXPECT_GT(dora.trained, lora.trained);
  EXPECT_GT(dora.tensors, lora.tensors);
  job.step.lora->dora = false;
  job.step.lora->rank_stabilized = true;
  EXPECT_EQ(Memory(job).tensors, lora.tensors);
  job.step.lora->rank_stabilized = false;
  job.step.lora->saved = {"norm"};
  const TrainMemory saved = Memory(job);
  EXPECT_GT(saved.trained, lora.trained);
  job.step.lora->saved = {"lm_hed"};
  const auto refused = TrainMemoryOf(Config(), {}, job);
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_THAT(std::get<Refusal>(refused).errors.front().cure,
              testing::HasSubstr("lm_head"));
}

TEST(TrainMethods, ARowWithoutPaddingTakesItsTokens) {
  TrainingJob job = Small();
  job.step.attention = "flash2";
  const TrainMemory padded = Memory(job);
  job.padding_free = true;
  job.mean_sequence = job.step.sequence;
  EXPECT_LT(std::abs(static_cast<double>(Memory(job).tensors) /
                         static_cast<double>(padded.tensors) -
                     1),
            0.01);
  job.mean_sequence /= 2;
  EXPECT_LT(Memory(job).tensors, padded.tensors);
}

std::vector<TrainStage> Stages(const TrainingJob& job, size_t points = 0) {
  TrainModel model(Config(), {});
  const auto memory = model.MemoryOf(job);
  auto stages = StagesOf(model, job, std::get<TrainMemory>(memory), points);
  return std::get<std::vector<TrainStage>>(std::move(stages));
}

const TrainStage& Named(const std::vector<TrainStage>& stages,
                        std::string_view name) {
  for (const TrainStage& stage : stages) {
    if (stage.name == name) return stage;
  }
  ADD_FAILURE() << "no stage " << name;
  return stages.front();
}

TEST(TrainStages, TheFirstStepIsALaterOneWithoutStates) {
  const TrainingJob job = Small();
  const auto stages = Stages(job);
  TrainingJob first = job;
  first.step.first_step = true;
  const TrainMemory compiled = Memory(first);
  EXPECT_EQ(Named(stages, "first step").peak, compiled.tensors);
  EXPECT_LT(Named(stages, "first step").peak, Named(stages, "later step").peak);
  EXPECT_EQ(Named(stages, "later step").peak, Memory(job).tensors);
}

TEST(TrainStages, MicroStepsBeginWithoutGradients) {
  TrainingJob job = Small();
  job.accumulate = 4;
  const auto stages = Stages(job);
  EXPECT_LT(Named(stages, "first micro-step").peak,
            Named(stages, "last micro-step and optimizer").peak);
}

TEST(TrainStages, LogitsThatAreKeptAddUp) {
  TrainingJob job = Small();
  int64_t before = Named(Stages(job), "evaluation").peak;
  for (const int64_t batches : {4, 8, 16}) {
    job.eval_batches = batches;
    const int64_t now = Named(Stages(job), "evaluation").peak;
    EXPECT_GT(now, before);
    before = now;
  }
  // The joined tensor beside what goes into it.
  constexpr int64_t kVocabulary = 151936;
  constexpr int64_t kLogits = int64_t{4} * 512 * kVocabulary * 2;
  EXPECT_EQ(before, Named(Stages(job), "evaluation").stays + 31 * kLogits);
}

TEST(TrainStages, EachHasATimelineWhoseHighestIsItsPeak) {
  TrainingJob job = Small();
  job.accumulate = 2;
  for (const TrainStage& stage : Stages(job, 100'000)) {
    ASSERT_FALSE(stage.timeline.empty()) << stage.name;
    int64_t highest = 0;
    for (const MemoryPoint& point : stage.timeline) {
      highest = std::max(highest, SumOf(point.bytes));
    }
    EXPECT_EQ(highest, stage.peak) << stage.name;
  }
}

TEST(AnswerTrain, TellsWhatAnEvaluationAndTheHostLack) {
  TrainRequest request;
  request.config = Config();
  request.job = Small();
  request.job.eval_batches = 1000;
  request.build.dtype = DType::kBFloat16;
  request.device = FindDevice("h100");
  request.host_gib = 1;
  const auto result = AnswerTrain(request);
  const auto* answer = std::get_if<TrainAnswer>(&result);
  ASSERT_NE(answer, nullptr);
  std::vector<std::string> rules;
  for (const Finding& finding : answer->findings) rules.push_back(finding.rule);
  EXPECT_THAT(rules, testing::IsSupersetOf({"train/evaluation", "train/host"}));
}

}  // namespace
}  // namespace foretell
