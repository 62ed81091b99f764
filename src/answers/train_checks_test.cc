#include "answers/train_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Device Card(int capability) {
  Device out;
  out.name = "card";
  out.capability = capability;
  return out;
}

std::vector<std::string> RulesOf(const TrainingJob& job, const Device& device) {
  std::vector<std::string> out;
  for (const Finding& finding : CheckJob(job, device)) {
    EXPECT_FALSE(finding.what.empty());
    EXPECT_FALSE(finding.why.empty());
    EXPECT_FALSE(finding.fix.empty());
    out.push_back(finding.rule);
  }
  return out;
}

TrainingJob Plain() {
  TrainingJob job;
  job.step.dtype = DType::kBFloat16;
  return job;
}

TEST(CheckJob, IsQuietAboutAPlainJob) {
  EXPECT_THAT(RulesOf(Plain(), Card(90)), IsEmpty());
  TrainingJob job = Plain();
  job.step.attention = "flash2";
  EXPECT_THAT(RulesOf(job, Card(80)), IsEmpty());
  // Of a card that names no capability nothing is told.
  EXPECT_THAT(RulesOf(job, Card(0)), IsEmpty());
}

TEST(CheckJob, FlashAttentionNeedsItsCardAndItsDType) {
  TrainingJob job = Plain();
  job.step.attention = "flash3";
  EXPECT_THAT(RulesOf(job, Card(80)), ElementsAre("train/flash-card"));
  EXPECT_THAT(RulesOf(job, Card(90)), IsEmpty());
  EXPECT_THAT(RulesOf(job, Card(100)), ElementsAre("train/flash-card"));
  job.step.attention = "flash2";
  EXPECT_THAT(RulesOf(job, Card(75)),
              ElementsAre("train/flash-card", "train/bfloat16-card"));
  job.step.dtype = DType::kFloat32;
  EXPECT_THAT(RulesOf(job, Card(90)), ElementsAre("train/flash-dtype"));
  job.step.autocast = DType::kBFloat16;
  EXPECT_THAT(RulesOf(job, Card(90)), IsEmpty());
}

TEST(CheckJob, Float16WeightsDoNotTrainThemselves) {
  TrainingJob job = Plain();
  job.step.dtype = DType::kFloat16;
  EXPECT_THAT(RulesOf(job, Card(90)), ElementsAre("train/float16"));
  job.step.lora = LoraSettings();
  EXPECT_THAT(RulesOf(job, Card(90)), IsEmpty());
}

TEST(CheckJob, MixturesThatTheirLibrariesRefuse) {
  TrainingJob job = Plain();
  job.preference = Preference::kKto;
  EXPECT_THAT(RulesOf(job, Card(90)), ElementsAre("train/kto-batch"));
  job.step.batch = 2;
  EXPECT_THAT(RulesOf(job, Card(90)), IsEmpty());
  job.offload = Offload::kOptimizer;
  job.optimizer = "paged_adamw_8bit";
  EXPECT_THAT(RulesOf(job, Card(90)), ElementsAre("train/paged-offload"));
  job = Plain();
  job.kernels = FusedKernels::kUnsloth;
  job.gpus = 8;
  job.sharding = Sharding::kFsdp2;
  EXPECT_THAT(RulesOf(job, Card(90)), ElementsAre("train/unsloth-cards"));
}

TEST(CheckJob, NamesEachOfItsRulesOnce) {
  EXPECT_THAT(RulesOfJobs(), testing::SizeIs(7));
}

}  // namespace
}  // namespace foretell
