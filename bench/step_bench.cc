// How long a whole training step of the largest dense model takes to compile
// and to analyse: in full, composed of few blocks, and 500 variants of it; and
// how the cost grows with operators.
//
//   build/release/step_bench --benchmark_min_time=1
//
// bench/beside_recorder runs PyTorch's own recording of such a step beside it.
#include <benchmark/benchmark.h>

#include <variant>

#include "answers/compile_step.h"
#include "answers/step_figures.h"
#include "answers/step_memo.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

constexpr char kLargest[] = "meta-llama/Meta-Llama-3.1-405B";

StepCase LargestStep() {
  StepCase step;
  step.sequence = 4096;
  step.dtype = DType::kBFloat16;
  return step;
}

BuildOptions InBFloat16() {
  BuildOptions build;
  build.dtype = DType::kBFloat16;
  return build;
}

// Nothing is known of the model yet: patterns, the check and the step.
void BM_FirstStep(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kLargest);
  for (auto _ : state) {
    StepMemo memo(config, InBFloat16());
    benchmark::DoNotOptimize(memo.FiguresOf(LargestStep()));
  }
}
BENCHMARK(BM_FirstStep)->Unit(benchmark::kMillisecond);

void BM_StepInFull(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kLargest);
  for (auto _ : state) {
    const auto result = CompileStep(config, InBFloat16(), LargestStep());
    benchmark::DoNotOptimize(FiguresOf(std::get<CompiledStep>(result)));
  }
}
BENCHMARK(BM_StepInFull)->Unit(benchmark::kMillisecond);

// Sizes and recomputation vary.
void BM_Variants(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kLargest);
  for (auto _ : state) {
    StepMemo memo(config, InBFloat16());
    for (int64_t i = 0; i < 500; ++i) {
      StepCase step = LargestStep();
      step.batch = 1 + i % 5;
      step.sequence = 512 * (1 + i / 10);
      step.checkpoint = i % 2 == 1;
      benchmark::DoNotOptimize(memo.FiguresOf(step));
    }
  }
}
BENCHMARK(BM_Variants)->Unit(benchmark::kMillisecond);

// One argument: layers. The cost should grow in proportion.
void BM_Layers(benchmark::State& state) {
  const ModelConfig config = *FromCatalogue(kLargest);
  BuildOptions build = InBFloat16();
  build.most_layers = state.range(0);
  for (auto _ : state) {
    const auto result = CompileStep(config, build, LargestStep());
    benchmark::DoNotOptimize(FiguresOf(std::get<CompiledStep>(result)));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Layers)->RangeMultiplier(2)->Range(4, 64)->Complexity()->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
