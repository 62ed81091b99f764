#include "answers/serving_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "answers/serving_fit.h"

namespace foretell {
namespace {

using Words = std::vector<std::string>;

std::string Joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::string WhyNot(const vllm::KvPlan& plan, int64_t length) {
  if (plan.verdict != vllm::KvVerdict::kTooLong) {
    return "nothing is left for the cache";
  }
  std::string out = fmt::format("one request of {} tokens does not fit",
                                WithSeparators(length));
  if (plan.estimated_length > 0) {
    out += fmt::format("; {} would", WithSeparators(plan.estimated_length));
  }
  return out;
}

ServingPoint PointOf(const ServingResolve& resolve, const ServingCard& card,
                     int64_t tokens, const Words& words) {
  ServingPoint out;
  out.change = Joined(words);
  const ServingTry found = resolve(words);
  if (!found.refusal.empty()) {
    out.refusal = "refused: " + found.refusal;
    out.is_refused = true;
    return out;
  }
  const ServingFit fit =
      FitServing(found.model, found.settings, card, found.is_length_fitted);
  out.cache = fit.memory.cache;
  if (!fit.fit.missing.empty() || !fit.fit.reason.empty()) {
    out.refusal = fit.fit.missing.empty() ? fit.fit.reason
                                          : "not known: " + fit.fit.missing;
    return out;
  }
  if (fit.plans.empty()) {
    out.refusal = "such a model keeps nothing in a cache";
    return out;
  }
  const vllm::KvPlan& plan = fit.plans[1];
  if (plan.verdict != vllm::KvVerdict::kAccepted) {
    out.refusal = WhyNot(plan, found.settings.max_model_len);
    return out;
  }
  out.blocks = plan.blocks;
  if (plan.groups.empty()) return out;
  out.printed_tokens = plan.printed_tokens;
  out.concurrency = plan.concurrency;
  if (tokens <= 0) return out;
  const auto requests = [&](const vllm::KvPlan& one) {
    if (one.verdict != vllm::KvVerdict::kAccepted) return 0.0;
    return RequestsOfLength(one, fit.cache.input.request, tokens);
  };
  out.requests_low = requests(fit.plans.front());
  out.requests = requests(plan);
  out.requests_high = requests(fit.plans.back());
  return out;
}

// Past this a start has met cards whose own use leaves too little.
constexpr char kMostOfACard[] = "0.95";
constexpr double kMostShare = 0.95;
constexpr int64_t kMostRanks = 64;

// One flag at a time, the cheapest to try first.
std::vector<Words> Changes(const ServingSettings& settings) {
  std::vector<Words> out;
  if (settings.gpu_memory_utilization < kMostShare) {
    out.push_back({"--gpu-memory-utilization", kMostOfACard});
  }
  const auto move = [&](const char* flag, int64_t value) {
    out.push_back({flag, std::to_string(value)});
  };
  if (settings.max_num_seqs > 1) {
    move("--max-num-seqs", settings.max_num_seqs / 2);
  }
  // Smaller batches of tokens than these no release takes by itself.
  constexpr int64_t kLeast = 2048;
  if (settings.max_num_batched_tokens > kLeast) {
    move("--max-num-batched-tokens", settings.max_num_batched_tokens / 2);
  }
  if (settings.max_model_len > kLeast) {
    move("--max-model-len", settings.max_model_len / 2);
  }
  if (settings.cache_dtype == "auto") {
    out.push_back({"--kv-cache-dtype", "fp8"});
  }
  if (!settings.enforce_eager) out.push_back({"--enforce-eager"});
  if (settings.tensor_parallel < kMostRanks) {
    move("--tensor-parallel-size", settings.tensor_parallel * 2);
  }
  return out;
}

Words Plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// What the goal itself asks of the launch's limits.
Words LimitsOf(const ServingSettings& settings, const ServingGoal& goal) {
  Words out;
  if (settings.max_model_len < goal.tokens) {
    out = {"--max-model-len", std::to_string(goal.tokens)};
  }
  if (settings.max_num_seqs < goal.requests) {
    out = Plus(out, {"--max-num-seqs", std::to_string(goal.requests)});
  }
  return out;
}

}  // namespace

std::vector<ServingPoint> ServingSensitivity(const ServingResolve& resolve,
                                             const ServingCard& card,
                                             int64_t tokens) {
  std::vector<ServingPoint> out;
  out.push_back(PointOf(resolve, card, tokens, {}));
  for (const Words& words : Changes(resolve({}).settings)) {
    out.push_back(PointOf(resolve, card, tokens, words));
  }
  return out;
}

ServingFound ServingFor(const ServingResolve& resolve, const ServingCard& card,
                        const ServingGoal& goal) {
  const ServingSettings settings = resolve({}).settings;
  const Words limits = LimitsOf(settings, goal);
  ServingFound out;
  const auto asked = static_cast<double>(goal.requests);
  // Whether to go on.
  const auto attempt = [&](const Words& words) {
    out.tried.push_back(
        PointOf(resolve, card, goal.tokens, Plus(limits, words)));
    const ServingPoint& point = out.tried.back();
    if (point.requests_low && *point.requests_low >= asked) {
      out.point = point;
      out.is_sure = true;
    } else if (!out.point && point.requests && *point.requests >= asked) {
      out.point = point;
    }
    return !out.is_sure;
  };
  // Where the goal's own limits are refused, nothing below mends that.
  if (!attempt({}) || out.tried.back().is_refused) return out;
  const Words share = {"--gpu-memory-utilization", kMostOfACard};
  const Words half = {"--kv-cache-dtype", "fp8"};
  const bool has_half = settings.cache_dtype == "auto";
  std::vector<Words> single;
  if (settings.gpu_memory_utilization < kMostShare) single.push_back(share);
  if (!settings.enforce_eager) single.push_back({"--enforce-eager"});
  if (has_half) {
    single.push_back(half);
    single.push_back(Plus(half, share));
  }
  for (const Words& words : single) {
    if (!attempt(words)) return out;
  }
  for (int64_t ranks = settings.tensor_parallel * 2; ranks <= kMostRanks;
       ranks *= 2) {
    const Words split = {"--tensor-parallel-size", std::to_string(ranks)};
    if (!attempt(split)) return out;
    // More ranks are refused for the same reason.
    if (out.tried.back().is_refused) break;
    if (has_half && !attempt(Plus(split, half))) return out;
  }
  return out;
}

}  // namespace foretell
