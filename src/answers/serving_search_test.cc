#include "answers/serving_search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "answers/serving_explain.h"
#include "spec/config_value.h"

namespace foretell {
namespace {

// Qwen3-8B's own sizes.
ModelConfig Qwen3() {
  ModelConfig out;
  out.name = "Qwen3-8B";
  out.source = "test";
  out.root = ConfigValue::Object();
  out.root.Set("architectures",
               ConfigValue::Array({ConfigValue::String("Qwen3ForCausalLM")}));
  out.root.Set("model_type", ConfigValue::String("qwen3"));
  const std::vector<std::pair<std::string, std::string>> numbers = {
      {"hidden_size", "4096"},      {"intermediate_size", "12288"},
      {"num_hidden_layers", "36"},  {"num_attention_heads", "32"},
      {"num_key_value_heads", "8"}, {"head_dim", "128"},
      {"vocab_size", "151936"},     {"max_position_embeddings", "40960"},
  };
  for (const auto& [key, number] : numbers) {
    out.root.Set(key, ConfigValue::Number(number));
  }
  out.root.Set("tie_word_embeddings", ConfigValue::Bool(false));
  return out;
}

ServingCard Card(double gib) {
  ServingCard out;
  out.name = "test";
  out.vendor = "nvidia";
  out.capability = 90;
  out.runtime_bytes = static_cast<int64_t>(gib * 1024 * 1024 * 1024);
  out.runtime_low = out.runtime_bytes;
  out.runtime_high = out.runtime_bytes;
  return out;
}

// An engine with two cards that knows four flags.
ServingTry Resolve(const std::vector<std::string>& words) {
  ServingTry out;
  out.model = Qwen3();
  ServingSettings& s = out.settings;
  s.version = EngineVersion{0, 19, 0};
  s.architecture = "Qwen3ForCausalLM";
  s.dtype = "bfloat16";
  s.max_model_len = 8192;
  s.derived_max_model_len = 40960;
  s.max_num_batched_tokens = 2048;
  s.max_num_seqs = 128;
  s.gpu_memory_utilization = 0.9;
  s.cudagraph_mode = "FULL_AND_PIECEWISE";
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& flag = words[i];
    if (flag == "--enforce-eager") {
      s.enforce_eager = true;
      continue;
    }
    const std::string& value = words.at(++i);
    if (flag == "--max-model-len") {
      s.max_model_len = std::stoll(value);
    } else if (flag == "--max-num-seqs") {
      s.max_num_seqs = std::stoll(value);
    } else if (flag == "--tensor-parallel-size") {
      s.tensor_parallel = std::stoll(value);
    } else if (flag == "--gpu-memory-utilization") {
      s.gpu_memory_utilization = std::stod(value);
    } else if (flag == "--kv-cache-dtype") {
      s.cache_dtype = value;
    }
  }
  if (s.max_model_len > s.derived_max_model_len) out.refusal = "too long";
  if (s.tensor_parallel > 2) out.refusal = "two cards";
  return out;
}

const ServingPoint* Find(const std::vector<ServingPoint>& points,
                         std::string_view change) {
  for (const ServingPoint& point : points) {
    if (point.change == change) return &point;
  }
  return nullptr;
}

TEST(ServingSensitivity, MovesOneFlagAtATime) {
  const auto points = ServingSensitivity(Resolve, Card(80), 0);
  ASSERT_GE(points.size(), 6U);
  const ServingPoint& base = points.front();
  EXPECT_EQ(base.change, "");
  ASSERT_TRUE(base.blocks && base.printed_tokens && base.concurrency);
  EXPECT_EQ(*base.printed_tokens, *base.blocks * 16);
  EXPECT_FALSE(base.requests);
  const ServingPoint* half = Find(points, "--max-model-len 4096");
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->blocks, base.blocks);
  EXPECT_DOUBLE_EQ(*half->concurrency, *base.concurrency * 2);
  const ServingPoint* bytes = Find(points, "--kv-cache-dtype fp8");
  ASSERT_NE(bytes, nullptr);
  EXPECT_GE(*bytes->blocks, *base.blocks * 2);
  const ServingPoint* more = Find(points, "--gpu-memory-utilization 0.95");
  ASSERT_NE(more, nullptr);
  EXPECT_GT(*more->blocks, *base.blocks);
}

TEST(ServingSensitivity, KeepsTheReasonOfWhatIsRefused) {
  const auto small = ServingSensitivity(Resolve, Card(16), 0);
  EXPECT_EQ(small.front().refusal, "nothing is left for the cache");
  EXPECT_FALSE(small.front().blocks);
  EXPECT_FALSE(small.front().is_refused);
  const auto refused = ServingSensitivity(
      [](const std::vector<std::string>& words) {
        ServingTry out = Resolve(words);
        out.refusal = "no";
        return out;
      },
      Card(80), 0);
  for (const ServingPoint& point : refused) {
    EXPECT_EQ(point.refusal, "refused: no");
    EXPECT_TRUE(point.cache.is_unknown());
  }
}

TEST(ServingFor, TakesTheLaunchAsItIsWhereThatServes) {
  const ServingFound found =
      ServingFor(Resolve, Card(80), {.requests = 8, .tokens = 8192});
  ASSERT_TRUE(found.point);
  EXPECT_TRUE(found.is_sure);
  EXPECT_EQ(found.point->change, "");
  EXPECT_GE(*found.point->requests_low, 8);
  EXPECT_EQ(found.tried.size(), 1U);
}

TEST(ServingFor, LiftsTheLimitsThatTheGoalNeeds) {
  const ServingFound found =
      ServingFor(Resolve, Card(80), {.requests = 200, .tokens = 1024});
  ASSERT_TRUE(found.point);
  EXPECT_EQ(found.point->change, "--max-num-seqs 200");
  const ServingFound longer =
      ServingFor(Resolve, Card(80), {.requests = 1, .tokens = 20000});
  ASSERT_TRUE(longer.point);
  EXPECT_EQ(longer.point->change, "--max-model-len 20000");
}

TEST(ServingFor, GoesOnToMoreRanksAndStopsWhereTheyAreRefused) {
  const ServingFound found =
      ServingFor(Resolve, Card(40), {.requests = 60, .tokens = 8192});
  ASSERT_TRUE(found.point);
  EXPECT_NE(found.point->change.find("--tensor-parallel-size 2"),
            std::string::npos);
  const ServingFound none =
      ServingFor(Resolve, Card(40), {.requests = 100000, .tokens = 8192});
  EXPECT_FALSE(none.point);
  EXPECT_TRUE(none.tried.back().is_refused);
  EXPECT_NE(none.tried.back().change.find("--tensor-parallel-size 4"),
            std::string::npos);
}

TEST(ServingFor, EndsWhereTheGoalItselfIsRefused) {
  const ServingFound found =
      ServingFor(Resolve, Card(80), {.requests = 1, .tokens = 50000});
  EXPECT_FALSE(found.point);
  ASSERT_EQ(found.tried.size(), 1U);
  EXPECT_EQ(found.tried.front().refusal, "refused: too long");
}

TEST(FitServing, ToldSurelyOrNotAtAll) {
  const ServingTry as_it_is = Resolve({});
  EXPECT_TRUE(
      FitServing(as_it_is.model, as_it_is.settings, Card(80), false).fit.fits);
  EXPECT_TRUE(
      FitServing(as_it_is.model, as_it_is.settings, Card(16), false).fit.fails);
  const ServeCacheFit unknown =
      FitServing(as_it_is.model, as_it_is.settings, ServingCard(), false).fit;
  EXPECT_FALSE(unknown.fits || unknown.fails);
  EXPECT_FALSE(unknown.missing.empty());
}

TEST(ExplainCache, NamesEveryTerm) {
  const ServingTry as_it_is = Resolve({});
  const auto terms = ExplainCache(
      FitServing(as_it_is.model, as_it_is.settings, Card(80), false),
      as_it_is.settings);
  ASSERT_EQ(terms.size(), 8U);
  EXPECT_EQ(terms[1].value, "65,536 bytes");
  EXPECT_EQ(terms[1].how, "16 tokens x 8 heads x (128 + 128) x 2 bytes");
  EXPECT_EQ(terms[2].value, "512");
  EXPECT_EQ(terms[3].value, "2,359,296 bytes");
}

}  // namespace
}  // namespace foretell
