// Lines that published starts printed, and the arithmetic between them.
#include "engines/vllm/memory_account.h"

#include <gtest/gtest.h>

#include "engines/vllm/memory_weights.h"

namespace foretell::vllm {
namespace {

constexpr double kGib = 1073741824.0;

ServingSettings Hopper(EngineVersion version) {
  ServingSettings out;
  out.version = version;
  out.max_num_seqs = 1024;
  out.max_num_batched_tokens = 8192;
  out.gpu_memory_utilization = 0.95;
  return out;
}

MemoryInput Llama8B() {
  MemoryInput in;
  in.total = Bytes::Estimated(79.19 * kGib, 79.19 * kGib, 79.19 * kGib, "");
  in.weights = Bytes::Estimated(14.99 * kGib, 14.99 * kGib, 14.99 * kGib, "");
  in.sizes = {128256, 4096, 14336, 32, 0, 0, false, false};
  return in;
}

// 0.19.0 on an H100: activation 1.89, KV 58.11 GiB.
TEST(MemoryAccountTest, RepeatsAPublishedStart) {
  const MemoryAccount got =
      AccountMemory(Llama8B(), Hopper(EngineVersion{0, 19, 0}));
  EXPECT_NEAR(*got.activation.any().value() / kGib, 1.89, 0.02);
  EXPECT_NEAR(*got.cache.any().value() / kGib, 58.11, 0.3);
  EXPECT_LE(*got.cache.any().low(), 58.11 * kGib);
  EXPECT_GE(*got.cache.any().high(), 58.11 * kGib);
  EXPECT_TRUE(got.graph_estimate.is_exact());
}

TEST(MemoryAccountTest, OlderSamplersTakeMore) {
  const MemoryAccount got =
      AccountMemory(Llama8B(), Hopper(EngineVersion{0, 11, 0}));
  EXPECT_NEAR(*got.activation.any().value() / kGib, 4.76, 0.05);
}

TEST(MemoryAccountTest, NewerReleasesSetGraphsAside) {
  ServingSettings settings = Hopper(EngineVersion{0, 24, 0});
  EXPECT_GT(*AccountMemory(Llama8B(), settings).graph_estimate.any().value(),
            0.5 * kGib);
  settings.environment.emplace_back("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS",
                                    "0");
  EXPECT_TRUE(AccountMemory(Llama8B(), settings).graph_estimate.is_exact());
}

TEST(MemoryAccountTest, AGivenPoolIsExact) {
  ServingSettings settings = Hopper(EngineVersion{0, 24, 0});
  settings.kv_cache_memory_bytes = 12345;
  EXPECT_EQ(AccountMemory(Llama8B(), settings).cache.exact(), 12345);
}

TEST(MemoryAccountTest, PackedWeightsLeaveADoubt) {
  MemoryInput in = Llama8B();
  const ServingSettings settings = Hopper(EngineVersion{0, 19, 0});
  const MemoryAccount plain = AccountMemory(in, settings);
  EXPECT_EQ(plain.doubt, 0);
  const auto past =
      static_cast<int64_t>(plain.cache.any().high().value_or(0)) + 1000;
  EXPECT_EQ(FitOf(plain, past), FitVerdict::kDoesNotFit);
  in.is_packed = true;
  EXPECT_EQ(FitOf(AccountMemory(in, settings), past), FitVerdict::kCannotTell);
}

TEST(MemoryAccountTest, UnknownWeightsLeaveTheRestUnknown) {
  MemoryInput in = Llama8B();
  in.weights = Bytes::Unknown("the class");
  const MemoryAccount got = AccountMemory(in, Hopper(EngineVersion{0, 19, 0}));
  EXPECT_TRUE(got.cache.any().is_unknown());
  EXPECT_EQ(FitOf(got, 1), FitVerdict::kCannotTell);
}

TEST(MemoryAccountTest, NamesOfQuantization) {
  EXPECT_EQ(FormatOf("", 0).bytes, 0);
  EXPECT_EQ(FormatOf("fp8", 0).bytes, 1.0);
  EXPECT_LT(FormatOf("gptq_marlin", 4).bytes, 0.6);
  EXPECT_TRUE(FormatOf("mxfp4", 0).is_experts_only);
}

}  // namespace
}  // namespace foretell::vllm
