// Headers of checkpoints: a 10 GB file in under 5 ms, an index of 2,000 files
// in under 50 ms.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "input/checkpoint.h"
#include "input/checkpoint_index.h"
#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

// A header like that of an 8B model: 291 tensors, names as Llama's, in a sparse
// file of ten gigabytes.
void BM_TenGigabyteHeader(benchmark::State& state) {
  const ScratchFolder folder;
  constexpr int64_t kBytes = 10'000'000'000;
  constexpr int64_t kTensors = 291;
  constexpr int64_t kEach = kBytes / kTensors;
  std::string header = "{";
  for (int64_t i = 0; i < kTensors; ++i) {
    header += fmt::format(
        "{}\"model.layers.{}.self_attn.q_proj.weight\":{{\"dtype\":\"U8\","
        "\"shape\":[{}],\"data_offsets\":[{},{}]}}",
        i == 0 ? "" : ",", i, kEach, i * kEach, (i + 1) * kEach);
  }
  header += "}";
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  const std::string path = folder.Write("model.safetensors", bytes + header);
  std::filesystem::resize_file(
      path, 8 + header.size() + static_cast<uintmax_t>(kTensors * kEach));
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadCheckpointAt(path));
  }
}
BENCHMARK(BM_TenGigabyteHeader)->Unit(benchmark::kMillisecond);

// 2,000 files with 60 tensors each, experts' names as Qwen3-MoE's.
void BM_IndexOfTwoThousandFiles(benchmark::State& state) {
  std::string text = "{\"metadata\":{\"total_size\":1},\"weight_map\":{";
  for (int file = 0; file < 2000; ++file) {
    for (int i = 0; i < 60; ++i) {
      text += fmt::format(
          "{}\"model.layers.{}.mlp.experts.{}.down_proj.weight\":"
          "\"model-{:05}-of-02000.safetensors\"",
          file + i == 0 ? "" : ",", file, i, file + 1);
    }
  }
  text += "}}";
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseCheckpointIndex(text, "bench"));
  }
}
BENCHMARK(BM_IndexOfTwoThousandFiles)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell
BENCHMARK_MAIN();
