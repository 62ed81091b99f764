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
  in.sizes.vocabulary = 128256;
  in.sizes.hidden = 4096;
  in.sizes.intermediate = 14336;
  in.sizes.layers = 32;
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

TEST(MemoryAccountTest, ExpertsStayFromTheirWorkspaceOn) {
  MemoryInput in = Llama8B();
  in.sizes.experts_per_token = 8;
  in.sizes.expert_intermediate = 768;
  in.sizes.expert_hidden = 4096;
  in.sizes.intermediate = 0;
  const auto peak = [&](EngineVersion version) {
    return *AccountMemory(in, Hopper(version)).activation.any().value();
  };
  // Qwen3-30B-A3B: 0.5 GiB more at 0.19, nothing at 0.10.2.
  EXPECT_NEAR((peak({0, 19, 0}) - 1.89 * kGib) / kGib, 0.6, 0.2);
  in.sizes.are_experts_fused = true;
  EXPECT_NEAR(peak({0, 19, 0}) / kGib, 1.89, 0.02);
}

TEST(MemoryAccountTest, ATowerMayDecideThePeak) {
  MemoryInput in = Llama8B();
  ServingSettings settings = Hopper(EngineVersion{0, 19, 0});
  settings.max_num_seqs = 16;
  const double text = *AccountMemory(in, settings).activation.any().value();
  in.sizes.has_towers = true;
  in.sizes.patches_per_token = 16;
  in.sizes.tower_hidden = 1152;
  in.sizes.tower_intermediate = 4304;
  EXPECT_GT(*AccountMemory(in, settings).activation.any().value(), 2 * text);
  settings.limit_mm_per_prompt = {{"image", 0}};
  EXPECT_EQ(*AccountMemory(in, settings).activation.any().value(), text);
}

TEST(MemoryAccountTest, LatentAttentionProjectsTheLongestContextUp) {
  MemoryInput in = Llama8B();
  in.sizes.latent_heads = 128;
  in.sizes.latent_width = 256;
  ServingSettings settings = Hopper(EngineVersion{0, 11, 2});
  settings.max_num_seqs = 16;
  settings.max_model_len = 163840;
  const auto peak = [&] {
    return *AccountMemory(in, settings).activation.any().value();
  };
  const double whole = 65536.0 * 128 * 256 * 2;
  EXPECT_GT(peak(), whole);
  settings.tensor_parallel = 8;
  EXPECT_LT(peak(), whole);
}

TEST(MemoryAccountTest, UnifiedMemoryCountsTheProcess) {
  MemoryInput in = Llama8B();
  const ServingSettings settings = Hopper(EngineVersion{0, 25, 0});
  const double apart = *AccountMemory(in, settings).non_torch.any().value();
  in.is_unified = true;
  const MemoryAccount got = AccountMemory(in, settings);
  EXPECT_GT(*got.non_torch.any().value(), apart + kGib);
  EXPECT_GT(*got.non_torch.any().high(), *got.non_torch.any().low() + kGib);
}

}  // namespace
}  // namespace foretell::vllm
