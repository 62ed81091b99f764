// How long the judgement of a launch takes once a version's facts are read: the
// flags alone, and the whole configuration.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/vllm/launch.h"
#include "input/serving_source.h"

namespace foretell {
namespace {

const std::vector<std::string>& Words() {
  static const auto& words =
      *new std::vector<std::string>{"Qwen/Qwen3-8B",
                                    "--tensor-parallel-size",
                                    "4",
                                    "--max-model-len",
                                    "40960",
                                    "--max-num-seqs",
                                    "256",
                                    "--kv-cache-dtype",
                                    "fp8"};
  return words;
}

const ServingSource& Source() {
  static const ServingSource& source = *MakeServingSource().release();
  return source;
}

void BM_ReadFacts(benchmark::State& state) {
  for (auto _ : state) {
    const auto source = MakeServingSource();
    benchmark::DoNotOptimize(
        source->Facts(ServingEngine::kVllm, {0, 33, 0}).flags.size());
  }
}
BENCHMARK(BM_ReadFacts);

void BM_ReadLaunch(benchmark::State& state) {
  const EngineFacts& facts = Source().Facts(ServingEngine::kVllm, {0, 33, 0});
  const LaunchLine line = LineOfArguments(ServingEngine::kVllm, Words());
  for (auto _ : state) {
    benchmark::DoNotOptimize(Source().Read(facts, line).settings.size());
  }
}
BENCHMARK(BM_ReadLaunch);

// A launch read and judged; the bar is 10,000 a second.
void BM_JudgeLaunch(benchmark::State& state) {
  const EngineFacts& facts = Source().Facts(ServingEngine::kVllm, {0, 33, 0});
  const LaunchLine line = LineOfArguments(ServingEngine::kVllm, Words());
  const ServingCard card = *Source().Card("h100");
  const auto model = Source().Model("Qwen/Qwen3-8B");
  for (auto _ : state) {
    const Launch launch = Source().Read(facts, line);
    VllmRequest request;
    request.launch = &launch;
    request.facts = &facts;
    request.model = model.get();
    request.card = &card;
    request.cards = 8;
    benchmark::DoNotOptimize(ResolveVllm(request).refusals.size());
  }
}
BENCHMARK(BM_JudgeLaunch);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
