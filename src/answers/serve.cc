#include "answers/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "answers/read_model.h"
#include "base/dtype.h"
#include "engines/vllm/kv_account.h"
#include "rules/serve_rules.h"

namespace foretell {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// A launch under one version.
struct Judged {
  const EngineFacts* facts = nullptr;
  Launch launch;
  std::shared_ptr<const ModelConfig> model;
  VllmLaunch outcome;
  int64_t cards = 1;
};

int64_t RanksOf(const Launch& launch) {
  int64_t ranks = 1;
  for (const std::string_view name :
       {"tensor_parallel_size", "pipeline_parallel_size"}) {
    const LaunchSetting* setting = launch.Find(name);
    const auto size =
        setting == nullptr ? std::nullopt : setting->value.AsInteger();
    // Past any machine, and far from overflow.
    if (size && *size > 1) ranks *= std::min<int64_t>(*size, 1 << 20);
  }
  return ranks;
}

Judged Judge(const ServeRequest& request, const EngineVersion& version) {
  Judged out;
  out.facts = &request.source->Facts(ServingEngine::kVllm, version);
  out.launch = request.source->Read(*out.facts, request.line);
  if (request.model) {
    out.model = std::make_shared<ModelConfig>(*request.model);
    if (out.launch.model.empty()) out.launch.model = request.model->name;
  } else if (!out.launch.model.empty()) {
    out.model = request.source->Model(out.launch.model);
  }
  VllmRequest engine;
  engine.launch = &out.launch;
  engine.facts = out.facts;
  engine.model = out.model.get();
  engine.card = &request.card;
  out.cards = request.cards > 0 ? request.cards : RanksOf(out.launch);
  engine.cards = out.cards;
  engine.find = [&](std::string_view name) {
    return request.source->Model(name);
  };
  out.outcome = ResolveVllm(engine);
  return out;
}

std::string Text(const ConfigValue& value) {
  if (value.is_null()) return "none";
  if (const auto text = value.AsString()) return std::string(*text);
  std::string json = value.ToJson();
  constexpr size_t kMost = 60;
  if (json.size() > kMost) json = json.substr(0, kMost) + "…";
  return json;
}

void EachSetting(const ConfigValue& resolved, const auto& each) {
  for (const auto& [section, value] : resolved.members()) {
    if (!value.is_object()) {
      each(section, value);
      continue;
    }
    for (const auto& [key, inner] : value.members()) {
      each(fmt::format("{}.{}", section, key), inner);
    }
  }
}

// Bytes of the heaviest rank's weights, where the family's parameters are
// known and the checkpoint is not quantized. Tensor parallelism divides the
// matrices almost evenly; what it does not divide is at most a few per cent,
// which the interval holds.
Bytes WeightsOfRank(const Judged& judged) {
  const ServingSettings& settings = judged.outcome.settings;
  if (!settings.quantization.empty()) {
    return Bytes::Unknown("how vLLM holds a checkpoint of " +
                          settings.quantization);
  }
  const auto dtype = ParseDType(settings.dtype);
  if (!dtype) return Bytes::Unknown("the precision " + settings.dtype);
  const auto read = ReadModelOf(judged.outcome.model, {});
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return Bytes::Unknown(refusal->errors.front().what);
  }
  const AnyFigure total = std::get<ReadModel>(read).parameters.total.any();
  if (!total.is_exact()) return Bytes::Unknown("the number of parameters");
  const auto bytes =
      static_cast<double>(total.exact()) * static_cast<double>(BytesOf(*dtype));
  const int64_t ranks = settings.tensor_parallel * settings.pipeline_parallel;
  if (ranks == 1) {
    return Bytes::Estimated(bytes, bytes, bytes * 1.01,
                            "the parameters at the served precision");
  }
  const double share = bytes / static_cast<double>(ranks);
  return Bytes::Estimated(share, share, share * 1.12,
                          "the parameters divided by the ranks");
}

void Memory(const ServeRequest& request, const Judged& judged,
            ServeAnswer& answer, ServeRuleInput& input) {
  const ServingSettings& settings = judged.outcome.settings;
  const ServingCard& card = request.card;
  if (card.runtime_bytes <= 0) return;
  const auto total = static_cast<double>(card.runtime_bytes);
  const Bytes seen = Bytes::Measured(
      total, static_cast<double>(card.runtime_low),
      static_cast<double>(card.runtime_high), "the catalogue of accelerators");
  answer.memory.push_back({"card, as the runtime sees it", seen});
  const double share = settings.gpu_memory_utilization;
  const double budget = total * share;
  answer.memory.push_back(
      {fmt::format("engine's share ({:.2f} GiB x {})", total / kGib, share),
       Bytes::Estimated(budget, static_cast<double>(card.runtime_low) * share,
                        static_cast<double>(card.runtime_high) * share,
                        "the card times --gpu-memory-utilization")});
  const Bytes weights = WeightsOfRank(judged);
  answer.memory.push_back({"weights of the heaviest rank", weights});
  input.budget_bytes = static_cast<int64_t>(budget);
  if (!weights.is_unknown()) {
    input.weights_bytes = static_cast<int64_t>(weights.any().low().value_or(0));
  }
}

// The cache's plan where the launch itself says how many bytes it gets.
void Cache(const ServeRequest& request, const Judged& judged,
           ServeAnswer& answer) {
  const ServingSettings& settings = judged.outcome.settings;
  if (settings.is_attention_free && settings.is_pooling) return;
  const vllm::KvAccount account =
      vllm::AccountKvCache(judged.outcome.model, settings, request.card);
  if (!account.fault.empty()) {
    answer.assumed.push_back("not known: the KV cache, " + account.fault);
    return;
  }
  const bool fitted = settings.max_model_len == -1;
  if (!settings.kv_cache_memory_bytes) return;
  const vllm::KvPlan plan =
      vllm::PlanKvCache(account, *settings.kv_cache_memory_bytes, fitted);
  if (plan.verdict == vllm::KvVerdict::kAccepted) {
    answer.memory.push_back(
        {fmt::format("KV cache: {} blocks of {} tokens",
                     WithSeparators(plan.blocks), plan.least_block),
         Bytes::Exact(plan.blocks * plan.block_bytes)});
    answer.printed.push_back(fmt::format("GPU KV cache size: {} tokens",
                                         WithSeparators(plan.printed_tokens)));
    answer.printed.push_back(
        fmt::format("Maximum concurrency for {} tokens per request: {:.2f}x",
                    WithSeparators(plan.length), plan.concurrency));
  }
}

void Understood(const Judged& judged, ServeAnswer& answer) {
  const ServingSettings& s = judged.outcome.settings;
  const auto add = [&](std::string name, std::string value) {
    answer.understood.emplace_back(std::move(name), std::move(value));
  };
  add("ranks",
      fmt::format("{} tensor x {} pipeline x {} data on {} {}",
                  s.tensor_parallel, s.pipeline_parallel, s.data_parallel,
                  judged.cards, judged.cards == 1 ? "card" : "cards"));
  if (s.expert_parallel) add("experts", "spread over the ranks");
  add("precision", s.dtype.empty() ? "unknown" : s.dtype);
  add("quantization", s.quantization.empty() ? "none" : s.quantization);
  add("KV cache", s.cache_dtype);
  if (s.max_model_len > 0) {
    std::string own = s.derived_max_model_len > 0
                          ? fmt::format("the model's own {}",
                                        WithSeparators(s.derived_max_model_len))
                          : std::string("the model states none");
    add("served length",
        fmt::format("{} ({})", WithSeparators(s.max_model_len), own));
    add("batch", fmt::format("{} tokens, {} sequences",
                             WithSeparators(s.max_num_batched_tokens),
                             WithSeparators(s.max_num_seqs)));
    add("chunked prefill", s.enable_chunked_prefill ? "on" : "off");
    add("prefix caching", s.enable_prefix_caching ? "on" : "off");
    add("CUDA graphs",
        s.cudagraph_sizes.empty()
            ? s.cudagraph_mode
            : fmt::format("{}, {} sizes up to {}", s.cudagraph_mode,
                          s.cudagraph_sizes.size(), s.cudagraph_sizes.back()));
  }
  if (s.speculative) {
    add("speculative decoding",
        fmt::format("{}, {} tokens, {}", s.speculative->method,
                    s.speculative->tokens, s.speculative->model));
  }
  if (s.lora) {
    add("adapters",
        fmt::format("{} of rank {}", s.lora->max_loras, s.lora->max_rank));
  }
}

std::string VerdictOf(const VllmLaunch& outcome, bool has_model) {
  if (!outcome.refusals.empty()) {
    return fmt::format("refused ({}): {}", outcome.refusals.front().kind,
                       outcome.refusals.front().what);
  }
  if (!has_model) return "cannot tell: the model's configuration is not known";
  return "accepted";
}

void Rules(const ServeRuleInput& input, ServeAnswer& answer) {
  // In the engine's order: what it would print first comes first.
  for (const ServeRule& rule : ServeRules()) {
    RuleOutcome outcome = rule.run(rule, input);
    if (!outcome.cannot_tell.empty()) {
      answer.rules_not_run.emplace_back(rule.id, outcome.cannot_tell);
    } else {
      answer.rules_ran.emplace_back(rule.id);
    }
    for (Finding& finding : outcome.findings) {
      answer.findings.push_back(std::move(finding));
    }
  }
  std::ranges::stable_sort(answer.findings, {}, &Finding::severity);
}

void Compare(const ServeRequest& request, const Judged& here,
             ServeAnswer& answer) {
  const Judged there = Judge(request, *request.against);
  answer.against = fmt::format("vLLM {} ({})", there.facts->version.ToString(),
                               there.facts->date);
  answer.against_verdict = VerdictOf(there.outcome, there.model != nullptr);
  std::vector<std::pair<std::string, std::string>> other;
  EachSetting(there.outcome.resolved,
              [&](const std::string& name, const ConfigValue& value) {
                other.emplace_back(name, Text(value));
              });
  EachSetting(here.outcome.resolved,
              [&](const std::string& name, const ConfigValue& value) {
                const auto match = std::ranges::find(
                    other, name, &std::pair<std::string, std::string>::first);
                if (match == other.end()) return;
                const std::string text = Text(value);
                if (text != match->second) {
                  answer.differences.push_back({name, text, match->second});
                }
              });
}

}  // namespace

ServeAnswer AnswerServe(const ServeRequest& request) {
  ServeAnswer answer;
  EngineVersion version;
  std::string source = request.version_source;
  if (request.version) {
    version = *request.version;
  } else if (const auto tag = ParseEngineVersion(request.line.version)) {
    version = *tag;
    source = "the image's tag";
  } else {
    const auto versions = request.source->Versions(ServingEngine::kVllm);
    if (!versions.empty()) version = versions.back();
    source = "the newest that is described; say --engine-version for another";
  }
  const Judged judged = Judge(request, version);
  answer.engine = NameOf(ServingEngine::kVllm);
  answer.version = judged.facts->version.ToString();
  answer.version_source = source;
  answer.version_date = judged.facts->date;
  if (judged.facts->version.minor != version.minor) {
    answer.assumed.push_back(
        fmt::format("vLLM {} stands for {}, whose source is not described",
                    judged.facts->version.ToString(),
                    fmt::format("{}.{}", version.major, version.minor)));
  }
  answer.form = request.line.form;
  answer.model = judged.launch.model;
  answer.architecture = judged.outcome.settings.architecture;
  answer.card = request.card.full;
  answer.card_source = request.card_source;
  answer.cards = judged.cards;
  answer.cards_source = request.cards_source;
  answer.accepted = judged.outcome.refusals.empty() && judged.model != nullptr;
  answer.could_tell =
      judged.model != nullptr || !judged.outcome.refusals.empty();
  answer.verdict = VerdictOf(judged.outcome, judged.model != nullptr);
  Understood(judged, answer);
  ServeRuleInput input;
  input.launch = &judged.launch;
  input.outcome = &judged.outcome;
  input.has_model = judged.model != nullptr;
  input.was_resolved = !judged.outcome.resolved.members().empty();
  if (input.was_resolved) {
    Memory(request, judged, answer, input);
    if (answer.accepted) Cache(request, judged, answer);
  }
  Rules(input, answer);
  EachSetting(judged.outcome.resolved,
              [&](const std::string& name, const ConfigValue& value) {
                answer.settings.emplace_back(name, Text(value));
              });
  for (const std::string& one : judged.outcome.cannot_tell) {
    answer.assumed.push_back("not known: " + one);
  }
  if (request.against) Compare(request, judged, answer);
  return answer;
}

}  // namespace foretell
