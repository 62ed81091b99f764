#include "answers/serving_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "answers/serving_memory.h"
#include "engines/vllm/kv_account.h"

namespace foretell {
namespace {

ServingPoint PointOf(const ModelConfig& config, const ServingSettings& settings,
                     const ServingCard& card, const Bytes& total,
                     int64_t tokens, std::string change) {
  ServingPoint out;
  out.change = std::move(change);
  out.cache = ServingMemory(config, settings, total).cache;
  const auto free = out.cache.any().value();
  if (!free || out.cache.any().is_unknown()) {
    out.refusal = "what is left for the cache is not known";
    return out;
  }
  const vllm::KvAccount account = vllm::AccountKvCache(config, settings, card);
  if (!account.fault.empty()) {
    out.refusal = account.fault;
    return out;
  }
  const vllm::KvPlan plan =
      PlanKvCache(account, static_cast<int64_t>(*free), false);
  if (plan.verdict != vllm::KvVerdict::kAccepted) {
    out.refusal =
        plan.verdict == vllm::KvVerdict::kTooLong
            ? fmt::format("one request of {} tokens does not fit; {} would",
                          settings.max_model_len, plan.estimated_length)
            : "nothing is left for the cache";
    return out;
  }
  out.blocks = plan.blocks;
  if (plan.groups.empty()) return out;
  out.concurrency = plan.concurrency;
  if (tokens > 0) {
    out.requests = RequestsOfLength(plan, account.input.request, tokens);
  }
  return out;
}

struct Change {
  std::string words;
  ServingSettings settings;
};

// One flag at a time, the cheapest to try first.
std::vector<Change> Changes(const ServingSettings& settings) {
  std::vector<Change> out;
  const auto add = [&](std::string words, auto&& apply) {
    ServingSettings changed = settings;
    apply(changed);
    out.push_back({std::move(words), std::move(changed)});
  };
  // Past this a start has met cards whose own use leaves too little.
  constexpr double kMostOfACard = 0.95;
  if (settings.gpu_memory_utilization < kMostOfACard) {
    add(fmt::format("--gpu-memory-utilization {}", kMostOfACard),
        [&](ServingSettings& s) { s.gpu_memory_utilization = kMostOfACard; });
  }
  if (settings.max_num_seqs > 1) {
    const int64_t half = settings.max_num_seqs / 2;
    add(fmt::format("--max-num-seqs {}", half),
        [&](ServingSettings& s) { s.max_num_seqs = half; });
  }
  if (settings.max_num_batched_tokens > 2048) {
    const int64_t half = settings.max_num_batched_tokens / 2;
    add(fmt::format("--max-num-batched-tokens {}", half),
        [&](ServingSettings& s) { s.max_num_batched_tokens = half; });
  }
  if (settings.max_model_len > 2048) {
    const int64_t half = settings.max_model_len / 2;
    add(fmt::format("--max-model-len {}", half),
        [&](ServingSettings& s) { s.max_model_len = half; });
  }
  if (settings.cache_dtype == "auto") {
    add("--kv-cache-dtype fp8",
        [](ServingSettings& s) { s.cache_dtype = "fp8"; });
  }
  if (!settings.enforce_eager) {
    add("--enforce-eager", [](ServingSettings& s) { s.enforce_eager = true; });
  }
  constexpr int64_t kMostRanks = 64;
  if (settings.tensor_parallel < kMostRanks) {
    const int64_t more = settings.tensor_parallel * 2;
    add(fmt::format("--tensor-parallel-size {}", more),
        [&](ServingSettings& s) { s.tensor_parallel = more; });
  }
  return out;
}

}  // namespace

std::vector<ServingPoint> ServingSensitivity(const ModelConfig& config,
                                             const ServingSettings& settings,
                                             const ServingCard& card,
                                             const Bytes& total,
                                             int64_t tokens) {
  std::vector<ServingPoint> out;
  out.push_back(PointOf(config, settings, card, total, tokens, ""));
  for (Change& change : Changes(settings)) {
    out.push_back(PointOf(config, change.settings, card, total, tokens,
                          std::move(change.words)));
  }
  return out;
}

std::optional<ServingPoint> ServingFor(const ModelConfig& config,
                                       const ServingSettings& settings,
                                       const ServingCard& card,
                                       const Bytes& total, int64_t requests,
                                       int64_t tokens) {
  const auto serves = [&](const ServingPoint& point) {
    return point.requests && *point.requests >= static_cast<double>(requests);
  };
  ServingSettings asked = settings;
  std::string words;
  // A served length below the request's would refuse it.
  if (asked.max_model_len < tokens) {
    asked.max_model_len = tokens;
    words = fmt::format("--max-model-len {}", tokens);
  }
  std::vector<Change> tried = {{words, asked}};
  for (Change& change : Changes(asked)) {
    if (change.settings.max_model_len < tokens) continue;
    if (!words.empty()) change.words = words + " " + change.words;
    tried.push_back(std::move(change));
  }
  for (int64_t ranks = asked.tensor_parallel * 2; ranks <= 16; ranks *= 2) {
    ServingSettings more = asked;
    more.tensor_parallel = ranks;
    tried.push_back({fmt::format("{}{}--tensor-parallel-size {}", words,
                                 words.empty() ? "" : " ", ranks),
                     more});
  }
  for (const Change& change : tried) {
    ServingPoint point =
        PointOf(config, change.settings, card, total, tokens, change.words);
    if (serves(point)) return point;
  }
  return std::nullopt;
}

}  // namespace foretell
