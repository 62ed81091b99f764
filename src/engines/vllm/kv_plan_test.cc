// Starts whose printed lines were published: the plan must print the same.
#include "engines/vllm/kv_plan.h"

#include <gtest/gtest.h>

#include "engines/vllm/kv_account.h"
#include "engines/vllm/served_config.h"
#include "spec/config_value.h"

namespace foretell::vllm {
namespace {

std::vector<KvLayer> Repeat(const KvSpec& spec, int64_t count) {
  std::vector<KvLayer> out;
  for (int64_t i = 0; i < count; ++i) {
    out.push_back({"layer." + std::to_string(i), spec, false, 0});
  }
  return out;
}

KvSpec Heads(int64_t heads, int64_t dim, int64_t block) {
  KvSpec out;
  out.block_size = block;
  out.heads = heads;
  out.key_dim = dim;
  out.value_dim = dim;
  return out;
}

// gemma-3-27b on one MI300X, 0.11: 109.86 GiB, 89,994 blocks, 205,696 tokens
// and 50.05x at 4096 tokens, with 10 full layers and 52 windows of 1024.
TEST(KvPlanTest, PrintsAWindowedModelOfAnOldRelease) {
  const KvSpec full = Heads(16, 128, 16);
  KvSpec window = full;
  window.kind = KvKind::kSliding;
  window.window = 1024;
  std::vector<KvLayer> layers = Repeat(full, 10);
  const auto windows = Repeat(window, 52);
  layers.insert(layers.end(), windows.begin(), windows.end());
  const KvRules rules = RulesOf({11, 0});
  KvPlanInput in;
  in.grouping = GroupLayers(layers, rules.grouping);
  ASSERT_EQ(in.grouping.groups.size(), 7U);
  in.request.length = 4096;
  in.request.in_flight_tokens = 8192;
  in.available = {static_cast<int64_t>(89994) * 10 * PageBytes(full)};
  const KvPlan plan = PlanKvCache(in, rules);
  EXPECT_EQ(plan.verdict, KvVerdict::kAccepted);
  EXPECT_EQ(plan.blocks, 89994);
  EXPECT_EQ(plan.request_blocks, 256 + 6 * 257);
  EXPECT_EQ(plan.printed_tokens, 205696);
  EXPECT_NEAR(plan.concurrency, 50.05, 0.005);
}

// Qwen3.6-27B, fp8, three drafted tokens, 426 blocks of 1600 tokens: 164 + 3 x
// 5 blocks a request of 262,144, 623,873 tokens and 2.38x.
TEST(KvPlanTest, PrintsStatesByRequest) {
  KvSpec full = Heads(4, 256, 1600);
  full.element_bytes = 1;
  KvSpec state;
  state.kind = KvKind::kState;
  state.block_size = 1600;
  state.padded_page = PageBytes(full);
  state.states = {{{1, 1}, DType::kBFloat16}};
  state.draft_states = 3;
  std::vector<KvLayer> layers = Repeat(state, 48);
  const auto rest = Repeat(full, 17);
  layers.insert(layers.end(), rest.begin(), rest.end());
  const KvRules rules = RulesOf({24, 0});
  KvPlanInput in;
  in.grouping = GroupLayers(layers, rules.grouping);
  ASSERT_EQ(in.grouping.groups.size(), 4U);
  in.request.length = 262144;
  in.request.are_states_aligned = true;
  in.available = {Times(Times(426, 17), PageBytes(full)) + 5};
  const KvPlan plan = PlanKvCache(in, rules);
  EXPECT_EQ(plan.blocks, 426);
  EXPECT_EQ(plan.request_blocks, 164 + 3 * 5);
  EXPECT_EQ(plan.printed_tokens, 623873);
}

// Llama-3.1-8B in 2 GiB: 16 GiB are needed, 16,368 tokens would fit, one block
// of the pool being held back.
TEST(KvPlanTest, RefusesWithTheLengthThatFits) {
  const KvRules rules = RulesOf({33, 0});
  KvPlanInput in;
  in.grouping = GroupLayers(Repeat(Heads(8, 128, 16), 32), rules.grouping);
  in.request.length = 131072;
  in.available = {int64_t{2} << 30};
  KvPlan plan = PlanKvCache(in, rules);
  EXPECT_EQ(plan.verdict, KvVerdict::kTooLong);
  EXPECT_EQ(plan.needed_bytes, int64_t{16} << 30);
  EXPECT_EQ(plan.estimated_length, 16368);
  in.is_length_fitted = true;
  plan = PlanKvCache(in, rules);
  EXPECT_EQ(plan.verdict, KvVerdict::kAccepted);
  EXPECT_EQ(plan.length, 16368);
  in.available = {0};
  EXPECT_EQ(PlanKvCache(in, rules).verdict, KvVerdict::kCannotFit);
}

TEST(KvPlanTest, HugeSizesSaturate) {
  KvSpec spec = Heads(kMostSize, kMostSize, kMostSize);
  const KvRules rules = RulesOf({33, 0});
  KvPlanInput in;
  in.grouping = GroupLayers(Repeat(spec, 100), rules.grouping);
  in.request.length = 131072;
  in.available = {int64_t{80} << 30};
  EXPECT_EQ(PlanKvCache(in, rules).verdict, KvVerdict::kNoMemory);
}

TEST(KvPlanTest, StagesAreSplitAsVllmDoes) {
  EXPECT_EQ(StageLayers(32, 3), (std::vector<int64_t>{11, 11, 10}));
  EXPECT_EQ(StageLayers(61, 2), (std::vector<int64_t>{31, 30}));
}

}  // namespace
}  // namespace foretell::vllm
