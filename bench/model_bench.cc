// How long a model's parameters take: the look-up, the build, the analysis,
// and how the cost grows with layers.
#include <benchmark/benchmark.h>

#include <variant>

#include "answers/model.h"
#include "answers/read_model.h"
#include "input/catalogue.h"
#include "input/model_config_source.h"

namespace foretell {
namespace {

constexpr char kLargest[] = "meta-llama/Meta-Llama-3.1-405B";

void BM_LookUp(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(FromCatalogue("Qwen/Qwen3-8B"));
  }
}
BENCHMARK(BM_LookUp);

void BM_ParseConfig(benchmark::State& state) {
  const std::string text = FromCatalogue(kLargest)->root.ToJson();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseModelConfig(text, "bench", "bench"));
  }
}
BENCHMARK(BM_ParseConfig);

// The whole answer, as the command gives it.
void BM_Model(benchmark::State& state) {
  ModelRequest request;
  request.config = *FromCatalogue(kLargest);
  for (auto _ : state) benchmark::DoNotOptimize(AnswerModel(request));
}
BENCHMARK(BM_Model);

// One argument: layers. The cost should grow in proportion.
void BM_Layers(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kLargest);
  BuildOptions options;
  options.most_layers = state.range(0);
  for (auto _ : state) benchmark::DoNotOptimize(ReadModelOf(config, options));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Layers)->RangeMultiplier(2)->Range(4, 64)->Complexity();

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
