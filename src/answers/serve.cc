#include "answers/serve.h"

#include <fmt/format.h>

#include <algorithm>

#include "answers/serving_memory.h"
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

double LowOf(const Bytes& bytes) { return bytes.any().low().value_or(0); }

// The cache under the least, the likely and the most that may be left for it.
struct CachePlans {
  std::vector<vllm::KvPlan> plans;
  bool Agree() const {
    return std::ranges::all_of(plans, [&](const vllm::KvPlan& plan) {
      return plan.verdict == plans.front().verdict &&
             plan.printed_tokens == plans.front().printed_tokens;
    });
  }
};

std::string RangeOf(int64_t low, int64_t high) {
  if (low == high) return WithSeparators(low);
  return fmt::format("{} to {}", WithSeparators(low), WithSeparators(high));
}

void Cache(const ServeRequest& request, const Judged& judged,
           const vllm::MemoryAccount& memory, ServeAnswer& answer,
           ServeRuleInput& input) {
  const ServingSettings& settings = judged.outcome.settings;
  if (settings.is_attention_free && settings.is_pooling) return;
  const vllm::KvAccount account =
      vllm::AccountKvCache(judged.outcome.model, settings, request.card);
  if (!account.fault.empty()) {
    answer.assumed.push_back("not known: the KV cache, " + account.fault);
    return;
  }
  for (const vllm::KvGroup& group : account.input.grouping.groups) {
    answer.groups.push_back({std::string(vllm::NameOf(group.spec.kind)),
                             static_cast<int64_t>(group.layers.size()),
                             group.spec.block_size,
                             Bytes::Exact(vllm::PageBytes(group.spec))});
  }
  const AnyFigure left = memory.cache.any();
  if (left.is_unknown() || !left.low() || !left.high()) return;
  const LaunchSetting* length = judged.launch.Find("max_model_len");
  const bool fitted = length != nullptr && length->value.AsInteger() == -1;
  CachePlans cache;
  for (const double bytes :
       {*left.low(), left.value().value_or(0), *left.high()}) {
    cache.plans.push_back(vllm::PlanKvCache(
        account, static_cast<int64_t>(std::max(0.0, bytes)), fitted));
  }
  const auto accepted = [](const vllm::KvPlan& plan) {
    return plan.verdict == vllm::KvVerdict::kAccepted;
  };
  const vllm::KvPlan& low = cache.plans.front();
  const vllm::KvPlan& high = cache.plans.back();
  ServeCacheFit fit;
  fit.needed_bytes = std::max(low.needed_bytes, high.needed_bytes);
  fit.left_low = static_cast<int64_t>(*left.low());
  fit.left_high = static_cast<int64_t>(*left.high());
  fit.length = settings.max_model_len;
  fit.estimated_length = cache.plans[1].estimated_length;
  fit.fits = accepted(low) && accepted(high);
  fit.fails = !accepted(low) && !accepted(high);
  input.cache = fit;
  if (!accepted(low) || !accepted(high)) return;
  answer.printed.push_back(
      fmt::format("GPU KV cache size: {} tokens",
                  RangeOf(low.printed_tokens, high.printed_tokens)));
  answer.printed.push_back(
      fmt::format("Maximum concurrency for {} tokens per request: {}",
                  WithSeparators(low.length),
                  low.concurrency == high.concurrency
                      ? fmt::format("{:.2f}x", low.concurrency)
                      : fmt::format("{:.2f}x to {:.2f}x", low.concurrency,
                                    high.concurrency)));
  if (request.request_tokens) {
    const auto at = [&](const vllm::KvPlan& plan) {
      return vllm::RequestsOfLength(plan, account.input.request,
                                    *request.request_tokens);
    };
    answer.understood.emplace_back(
        "requests at once",
        fmt::format("{:.1f} to {:.1f} of {} tokens", at(low), at(high),
                    WithSeparators(*request.request_tokens)));
  }
  answer.understood.emplace_back(
      "cache blocks", fmt::format("{} of {} tokens, {} for one full request",
                                  RangeOf(low.blocks, high.blocks),
                                  low.least_block, low.request_blocks));
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
  const vllm::MemoryAccount account =
      ServingMemory(judged.outcome.model, settings, seen,
                    {.is_v1 = judged.facts->version >= EngineVersion{0, 8, 0},
                     .is_nvidia = card.vendor == "nvidia"});
  answer.memory.push_back({"card, as the runtime sees it", seen});
  answer.memory.push_back(
      {fmt::format("engine's share ({:.2f} GiB x {})", total / kGib,
                   settings.gpu_memory_utilization),
       account.requested});
  answer.memory.push_back({"weights of one rank", account.weights});
  answer.memory.push_back(
      {"activations of the profile run", account.activation});
  answer.memory.push_back({"outside PyTorch", account.non_torch});
  answer.memory.push_back(
      {"set aside for CUDA graphs", account.graph_estimate});
  answer.memory.push_back({"left for the KV cache", account.cache});
  answer.memory.push_back(
      {"CUDA graphs, as they are captured", account.graphs});
  for (const std::string& one : account.assumptions) {
    answer.assumed.push_back(one);
  }
  input.budget_bytes =
      static_cast<int64_t>(account.requested.any().high().value_or(0));
  if (!account.weights.is_unknown()) {
    input.weights_bytes = static_cast<int64_t>(LowOf(account.weights));
  }
  if (answer.accepted) Cache(request, judged, account, answer, input);
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
  if (input.was_resolved) Memory(request, judged, answer, input);
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
