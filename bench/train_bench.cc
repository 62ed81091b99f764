// How long it takes to tell what training jobs take: 64 micro-batches of a
// model of 70 billion parameters, and one answer with all of its levers.
//
//   build/release/train_bench --benchmark_min_time=1
#include <benchmark/benchmark.h>

#include <variant>

#include "answers/train.h"
#include "answers/train_memory.h"
#include "input/catalogue.h"
#include "input/device_catalogue.h"

namespace foretell {
namespace {

constexpr char kModel[] = "meta-llama/Meta-Llama-3.1-70B";

TrainingJob Job() {
  TrainingJob job;
  job.step.sequence = 4096;
  job.step.dtype = DType::kBFloat16;
  job.step.checkpoint = true;
  job.step.holds_output = false;
  job.sharding = Sharding::kFsdp2;
  job.gpus = 32;
  return job;
}

void BM_Candidates(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kModel);
  for (auto _ : state) {
    TrainModel model(config, {});
    TrainingJob job = Job();
    for (job.step.batch = 1; job.step.batch <= 64; ++job.step.batch) {
      benchmark::DoNotOptimize(model.MemoryOf(job));
    }
  }
}
BENCHMARK(BM_Candidates)->Unit(benchmark::kMillisecond);

void BM_Answer(benchmark::State& state) {
  TrainRequest request;
  request.config = *FromCatalogue(kModel);
  request.build.dtype = DType::kBFloat16;
  request.job = Job();
  request.device = FindDevice("h100");
  for (auto _ : state) benchmark::DoNotOptimize(AnswerTrain(request));
}
BENCHMARK(BM_Answer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell
