#include "answers/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "answers/llama_speed.h"
#include "answers/serving_memory.h"
#include "answers/speed_parts.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;

std::string_view WordsOf(std::string_view engine) {
  const EngineConstants* found = FindServedEngine(engine);
  return found == nullptr ? engine : found->what;
}

ServedRequest RequestOf(const SpeedRequest& in) {
  ServedRequest out;
  out.config = &in.config;
  out.device = &in.device;
  out.engine = in.engine;
  out.precision = in.precision;
  out.cache = in.cache;
  out.tensor = in.tensor;
  out.pipeline = in.pipeline;
  out.data = in.data;
  out.expert_ranks = in.expert_parallel ? in.tensor * in.data : 1;
  return out;
}

// What vLLM's own account leaves for the cache on one card; nothing where the
// model's weights are not derived.
std::optional<Bytes> RoomByAccount(const SpeedRequest& in) {
  ServingSettings settings;
  settings.version = {0, 33, 0};
  settings.tensor_parallel = in.tensor;
  settings.pipeline_parallel = in.pipeline;
  settings.data_parallel = in.data;
  settings.expert_parallel = in.expert_parallel;
  settings.dtype = "bfloat16";
  settings.quantization = in.precision;
  settings.max_model_len = in.isl + in.osl;
  settings.derived_max_model_len = settings.max_model_len;
  // Defaults of the release on a card of 70 GB and more.
  settings.max_num_batched_tokens = 8192;
  settings.max_num_seqs = 1024;
  settings.gpu_memory_utilization = 0.92;
  settings.cpu_offload_gib = in.offload_gib;
  const vllm::MemoryAccount account =
      ServingMemory(in.config, settings, in.device.total,
                    {.is_nvidia = in.device.vendor == "nvidia"});
  if (account.cache.is_unknown()) return std::nullopt;
  return account.cache;
}

struct Change {
  const char* resource;
  void (*apply)(ServedJob& job);
};

constexpr Change kChanges[] = {
    {"memory bandwidth", [](ServedJob& job) { job.bandwidth *= 2; }},
    {"arithmetic",
     [](ServedJob& job) {
       job.peak16 *= 2;
       job.attention.peak *= 2;
       job.mlp.peak *= 2;
       job.experts.peak *= 2;
     }},
    {"links between cards", [](ServedJob& job) { job.link *= 2; }},
    {"launches (half the gaps)",
     [](ServedJob& job) {
       job.engine.layer /= 2;
       job.engine.expert_layer /= 2;
       job.engine.expert /= 2;
       job.engine.step /= 2;
       job.engine.request /= 2;
     }},
    {"memory for the cache", [](ServedJob& job) { job.cache_room *= 2; }}};

// Tokens that a step of so many drafts gives, where each is accepted with the
// same chance and the first refused one ends the run.
double TokensOfStep(int64_t drafts, double acceptance) {
  double tokens = 1;
  double all = 1;
  for (int64_t i = 0; i < drafts; ++i) {
    all *= acceptance;
    tokens += all;
  }
  return tokens;
}

Refusal Missing(const SpeedRequest& in, const std::string& what) {
  Place place;
  place.source = in.config.source;
  return {{InputError{std::move(place), "the speed cannot be told: " + what,
                      "name a card and an engine that are known, and a model "
                      "whose class is derived"}}};
}

std::string LayoutOf(const SpeedRequest& in) {
  std::string out = fmt::format("tensor {}", in.tensor);
  if (in.pipeline > 1) out += fmt::format(", pipeline {}", in.pipeline);
  if (in.data > 1) out += fmt::format(", data {}", in.data);
  if (in.expert_parallel) out += ", experts spread over all";
  return out;
}

// The room for the cache, and how many requests of the load it holds.
void TellCapacity(const SpeedRequest& in, const ServedLoad& load,
                  ServedSetting& setting, SpeedAnswer& answer) {
  const auto room = RoomByAccount(in);
  const auto value = room ? room->any().value() : std::nullopt;
  if (value && *value > 0) {
    setting.job.cache_room = *value;
    answer.assumed.push_back(
        fmt::format("{:.1f} GiB of each card for the cache, by vLLM's account "
                    "of a launch with its defaults",
                    *value / kGib));
  } else if (value) {
    answer.assumed.emplace_back(
        "by vLLM's account nothing is left for the cache: times hold for a "
        "card of the same speed with more memory");
    setting.job.cache_room = 1;
  } else {
    answer.assumed.emplace_back(
        "the cache has nine tenths of the card, less the weights and 2.5 GB");
  }
  const double capacity = CacheCapacity(setting.job, load);
  answer.capacity =
      capacity < 1
          ? "none: weights and one request do not fit"
          : fmt::format("about {:.0f} requests of this load",
                        std::floor(capacity * static_cast<double>(in.data)));
}

SpeedPoint PointOf(const SpeedRequest& in, const ServedSetting& setting,
                   const ServedPoint& found, int64_t concurrency) {
  SpeedPoint out;
  out.concurrency = concurrency;
  const auto figure = [&](Unit unit, double value, ServedQuantity quantity) {
    return SpeedFigure(unit, value, quantity, setting.reach);
  };
  const bool alone = concurrency == 1;
  out.first_token = Seconds(
      figure(Unit::kSeconds, found.first_token,
             alone ? ServedQuantity::kRequest : ServedQuantity::kFirstToken));
  out.token = Seconds(
      figure(Unit::kSeconds, found.token,
             alone ? ServedQuantity::kRequest : ServedQuantity::kToken));
  const double rate = found.requests_a_second * static_cast<double>(in.osl);
  out.output_rate =
      Tokens(figure(Unit::kTokens, rate, ServedQuantity::kThroughput));
  out.user_rate = 1 / found.token;
  out.requests_a_second = found.requests_a_second;
  out.limit = LimitOf(found.decode, found.interference);
  if (in.price) {
    out.cost = figure(Unit::kCount, CostOfMillion(in, rate),
                      ServedQuantity::kThroughput);
  }
  out.room = RoomWords(found.capacity, static_cast<double>(in.data),
                       static_cast<double>(concurrency));
  return out;
}

}  // namespace

std::variant<SpeedAnswer, Refusal> AnswerSpeed(const SpeedRequest& request) {
  if (request.engine == kLlamaEngine) return AnswerLlamaSpeed(request);
  auto found = SettingOf(RequestOf(request));
  if (const auto* missing = std::get_if<std::string>(&found)) {
    return Missing(request, *missing);
  }
  ServedSetting& setting = std::get<ServedSetting>(found);
  SpeedAnswer answer;
  answer.model = request.config.name;
  answer.card = request.device.name;
  answer.engine = std::string(WordsOf(setting.job.engine.name));
  answer.storage = setting.storage;
  answer.layout = LayoutOf(request);
  answer.cards = request.tensor * request.pipeline * request.data;
  answer.reach = std::string(NameOf(setting.reach));
  answer.assumed = setting.assumed;
  ServedLoad load;
  load.isl = static_cast<double>(request.isl);
  load.osl = static_cast<double>(request.osl);
  load.cached = static_cast<double>(request.cached);
  answer.load = LoadWords(request);
  if (request.drafts > 0) {
    setting.job.drafts = static_cast<double>(request.drafts);
    setting.job.draft_share = request.draft_share;
    setting.job.tokens_a_step =
        TokensOfStep(request.drafts, request.acceptance.value_or(0));
    answer.assumed.push_back(fmt::format(
        "{} drafted tokens a step, each accepted with chance {:.2f}: {:.2f} "
        "tokens a step",
        request.drafts, request.acceptance.value_or(0),
        setting.job.tokens_a_step));
  }
  setting.job.offloaded_bytes = request.offload_gib * kGib;
  // As the public benchmarks of serving draw them.
  constexpr double kShortest = 0.8;
  load.shortest = kShortest;
  answer.assumed.push_back(fmt::format(
      "ten requests of each client, one after another, the first of all at "
      "once; lengths from {:.2f} to {:.2f} of those asked for",
      2 * kShortest / (1 + kShortest), 2 / (1 + kShortest)));
  TellCapacity(request, load, setting, answer);
  for (const int64_t concurrency : request.concurrency) {
    load.concurrency = static_cast<double>(concurrency);
    answer.points.push_back(PointOf(
        request, setting, ServedSteadily(setting.job, load), concurrency));
  }
  // The last is explained: the largest load is what people tune.
  answer.explained = request.concurrency.back();
  const ServedPoint last = ServedSteadily(setting.job, load);
  const auto figure = [&setting](double seconds) {
    return SpeedFigure(Unit::kSeconds, seconds, ServedQuantity::kToken,
                       setting.reach);
  };
  AddSpeedParts(last.decode, 1 / setting.job.tokens_a_step, last.interference,
                figure, answer.token);
  AddSpeedParts(last.prefill, 1, 0, figure, answer.prompt);
  constexpr double kMilli = 1e3;
  answer.gains.push_back(
      {"as it is", last.first_token * kMilli, last.token * kMilli});
  for (const Change& change : kChanges) {
    ServedJob job = setting.job;
    change.apply(job);
    const ServedPoint point = ServedSteadily(job, load);
    answer.gains.push_back({std::string("twice the ") + change.resource,
                            point.first_token * kMilli, point.token * kMilli});
  }
  return answer;
}

}  // namespace foretell
