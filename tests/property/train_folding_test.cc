// A job whose equal blocks are folded says what one of all blocks says.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "answers/rank_figures.h"
#include "answers/train_memory.h"
#include "answers/train_rank.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

constexpr int64_t kMostParameters = 40'000'000'000;

TrainingJob Small() {
  TrainingJob job;
  job.step.batch = 1;
  job.step.sequence = 64;
  job.step.dtype = DType::kBFloat16;
  job.step.optimizer = "adamw_fused";
  job.step.holds_output = false;
  return job;
}

std::string TextOf(const TrainMemory& memory) {
  std::string out = memory.operation + " of " + memory.module;
  for (const TrainPhase& phase : memory.phases) {
    out += " " + std::to_string(phase.peak);
  }
  for (const MemoryTerm& term : memory.terms) {
    out += "\n" + term.name + " " + std::to_string(term.bytes);
  }
  // Layers without rotary embeddings run fewer operations, which keep nothing:
  // how many operations there are is no figure of the answer.
  return out + "\n" + std::to_string(memory.flops) + " " +
         std::to_string(memory.trained) + " " + std::to_string(memory.stays);
}

// Asking for a timeline has all blocks compiled.
void ExpectEqual(const ModelConfig& config, const TrainingJob& job,
                 const std::string& what) {
  TrainModel model(config, {});
  const auto folded = model.MemoryOf(job);
  const auto flat = model.MemoryOf(job, 1);
  ASSERT_EQ(folded.index(), flat.index()) << what;
  const auto* few = std::get_if<TrainMemory>(&folded);
  if (few == nullptr) return;
  EXPECT_EQ(TextOf(*few), TextOf(std::get<TrainMemory>(flat))) << what;
}

// One model of each class, of those that a test has the time for.
TEST(TrainFolding, IsWhatAllBlocksSayForEveryClass) {
  std::set<std::string> seen;
  for (const CatalogueEntry& entry : ListCatalogue()) {
    if (!seen.insert(entry.class_name + entry.model_type).second) continue;
    const auto config = FromCatalogue(entry.id);
    ASSERT_TRUE(config.has_value()) << entry.id;
    TrainModel model(*config, {});
    const auto folded = model.MemoryOf(Small());
    const auto* memory = std::get_if<TrainMemory>(&folded);
    if (memory == nullptr || memory->trained > kMostParameters ||
        memory->operations > 60'000) {
      continue;
    }
    ExpectEqual(*config, Small(), entry.id);
  }
}

TEST(TrainFolding, HoldsForEveryWayOfTraining) {
  std::vector<TrainingJob> jobs;
  const auto add = [&](const auto& change) {
    jobs.push_back(Small());
    change(jobs.back());
  };
  add([](TrainingJob& job) { job.step.checkpoint = true; });
  add([](TrainingJob& job) {
    job.step.checkpoint = true;
    job.step.checkpoint_every = 3;
  });
  add([](TrainingJob& job) {
    job.step.checkpoint = true;
    job.step.checkpoint_kind = CheckpointKind::kByOperator;
  });
  add([](TrainingJob& job) {
    job.step.checkpoint = true;
    job.step.attention = "eager";
    job.step.checkpoint_kind = CheckpointKind::kOnlyAttention;
  });
  add([](TrainingJob& job) { job.accumulate = 2; });
  add([](TrainingJob& job) {
    job.step.lora = LoraSettings{.targets = {"all-linear"}};
    job.weights = WeightFormat::kNf4;
  });
  add([](TrainingJob& job) {
    job.step.lora = LoraSettings{.targets = {"q_proj"}, .dora = true};
  });
  add([](TrainingJob& job) { job.loss = LossKind::kChunked; });
  add([](TrainingJob& job) { job.kernels = FusedKernels::kLiger; });
  add([](TrainingJob& job) { job.fp8 = Fp8::kTransformerEngine; });
  add([](TrainingJob& job) { job.fp8 = Fp8::kTorchao; });
  add([](TrainingJob& job) { job.offload = Offload::kActivations; });
  add([](TrainingJob& job) { job.optimizer_in_backward = true; });
  add([](TrainingJob& job) { job.preference = Preference::kDpo; });
  add([](TrainingJob& job) {
    job.step.optimizer = "none";
    job.optimizer = "paged_adamw_8bit";
  });
  for (const Sharding sharding :
       {Sharding::kDdp, Sharding::kZero2, Sharding::kFsdp1, Sharding::kFsdp2}) {
    add([&](TrainingJob& job) {
      job.sharding = sharding;
      job.gpus = 4;
    });
  }
  for (const Sharding sharding : {Sharding::kFsdp1, Sharding::kFsdp2}) {
    add([&](TrainingJob& job) {
      job.sharding = sharding;
      job.gpus = 4;
      job.float32_shares = true;
      job.reduce_dtype = DType::kFloat32;
      job.step.checkpoint = true;
      job.accumulate = 2;
    });
    add([&](TrainingJob& job) {
      job.sharding = sharding;
      job.gpus = 4;
      job.accumulate = 2;
      job.reduces_each = false;
      job.has_end_units = true;
    });
  }
  for (const char* id : {"Qwen/Qwen3-0.6B", "google/gemma-3-1b-it"}) {
    const auto config = FromCatalogue(id);
    ASSERT_TRUE(config.has_value());
    for (size_t i = 0; i < jobs.size(); ++i) {
      ExpectEqual(*config, jobs[i], std::string(id) + std::to_string(i));
    }
  }
}

// The same rank by two ways: `verify` compiles all blocks and leaves sizes as
// they are, `train` folds and rounds each tensor up to 512 bytes.
TEST(TrainFolding, ARankHoldsWhatVerifySays) {
  const auto config = FromCatalogue("Qwen/Qwen3-0.6B");
  ASSERT_TRUE(config.has_value());
  std::vector<TrainingJob> jobs;
  for (const Sharding sharding :
       {Sharding::kDdp, Sharding::kFsdp1, Sharding::kFsdp2}) {
    for (const int64_t accumulate : {1, 2}) {
      for (const bool each : {false, true}) {
        TrainingJob job = Small();
        job.sharding = sharding;
        job.gpus = 8;
        job.accumulate = accumulate;
        job.reduces_each = each;
        if (sharding != Sharding::kDdp) {
          job.float32_shares = true;
          job.reduce_dtype = DType::kFloat32;
        }
        jobs.push_back(job);
      }
    }
  }
  for (const TrainingJob& job : jobs) {
    Recording recording;
    recording.step = job.step;
    recording.step.accumulate = job.accumulate;
    auto rank = RankOf(job, recording.step);
    ASSERT_TRUE(rank.has_value());
    rank->rounding = 1;
    recording.recorded_rank.emplace();
    recording.recorded_rank->rank = *rank;
    const auto derived = DeriveRank(*config, {}, recording);
    ASSERT_TRUE(std::holds_alternative<RankFigures>(derived));
    const auto& figures = std::get<RankFigures>(derived).step.figures;
    const auto memory = TrainMemoryOf(*config, {}, job);
    ASSERT_TRUE(std::holds_alternative<TrainMemory>(memory));
    const std::string what = std::to_string(static_cast<int>(job.sharding)) +
                             " " + std::to_string(job.accumulate) + " " +
                             std::to_string(job.reduces_each);
    for (const TrainPhase& phase : std::get<TrainMemory>(memory).phases) {
      const auto at = figures.find("peak_" + std::string(NameOf(phase.phase)));
      ASSERT_NE(at, figures.end()) << what;
      EXPECT_GE(phase.peak, at->second) << what << at->first;
      constexpr int64_t kMostTensors = 4000;
      EXPECT_LE(phase.peak, at->second + kMostTensors * 511)
          << what << at->first;
    }
  }
}

}  // namespace
}  // namespace foretell
