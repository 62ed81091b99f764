#include "answers/serve.h"

#include <fmt/format.h>

#include <algorithm>

#include "answers/serving_fit.h"
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

std::string RangeOf(int64_t low, int64_t high) {
  if (low == high) return WithSeparators(low);
  return fmt::format("{} to {}", WithSeparators(low), WithSeparators(high));
}

std::optional<ServingFit> FitOf(const ServeRequest& request,
                                const Judged& judged) {
  if (judged.outcome.resolved.members().empty()) return std::nullopt;
  return FitServing(judged.outcome.model, judged.outcome.settings, request.card,
                    IsLengthFitted(judged.launch));
}

void Printed(const ServeRequest& request, const ServingFit& fit,
             ServeAnswer& answer) {
  const vllm::KvPlan& low = fit.plans.front();
  const vllm::KvPlan& high = fit.plans.back();
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
      return vllm::RequestsOfLength(plan, fit.cache.input.request,
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
            const ServingFit& fit, ServeAnswer& answer) {
  const ServingSettings& settings = judged.outcome.settings;
  if (fit.total.is_unknown()) return;
  const vllm::MemoryAccount& account = fit.memory;
  answer.memory.push_back({"card, as the runtime sees it", fit.total});
  answer.memory.push_back(
      {fmt::format("engine's share ({:.2f} GiB x {})",
                   static_cast<double>(request.card.runtime_bytes) / kGib,
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
  if (!judged.outcome.refusals.empty()) return;
  if (!fit.cache.fault.empty()) {
    answer.assumed.push_back("not known: the KV cache, " + fit.cache.fault);
    return;
  }
  for (const vllm::KvGroup& group : fit.cache.input.grouping.groups) {
    answer.groups.push_back({std::string(vllm::NameOf(group.spec.kind)),
                             static_cast<int64_t>(group.layers.size()),
                             group.spec.block_size,
                             Bytes::Exact(vllm::PageBytes(group.spec))});
  }
  if (!fit.plans.empty() && fit.fit.fits) Printed(request, fit, answer);
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
  if (!outcome.at_start.empty()) {
    return fmt::format("refused at its start ({}): {}",
                       outcome.at_start.front().kind,
                       outcome.at_start.front().what);
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

bool IsOfMemory(std::string_view rule) {
  return rule == "serve/weights-fit" || rule == "serve/kv-cache-fit";
}

// What passes validation may still find no memory at its start.
void MemoryVerdict(ServeAnswer& answer) {
  for (const Finding& finding : answer.findings) {
    if (finding.severity != Severity::kBlock || !IsOfMemory(finding.rule)) {
      continue;
    }
    answer.accepted = false;
    answer.verdict =
        fmt::format("refused at its start ({}): {}",
                    finding.rule.substr(sizeof("serve/") - 1), finding.what);
    return;
  }
  for (const auto& [rule, reason] : answer.rules_not_run) {
    if (!IsOfMemory(rule)) continue;
    answer.verdict =
        fmt::format("accepted by validation; cannot tell {}", reason);
    return;
  }
}

// The rules and the verdict.
void Conclude(const Judged& judged, const std::optional<ServingFit>& fit,
              std::optional<int64_t> request_tokens, ServeAnswer& answer) {
  const bool has_model = judged.model != nullptr;
  answer.accepted = judged.outcome.refusals.empty() &&
                    judged.outcome.at_start.empty() && has_model;
  answer.verdict = VerdictOf(judged.outcome, has_model);
  ServeRuleInput input;
  input.launch = &judged.launch;
  input.outcome = &judged.outcome;
  input.has_model = has_model;
  input.was_resolved = fit.has_value();
  if (fit) {
    const AnyFigure& budget = fit->memory.requested.any();
    if (!budget.is_unknown() && budget.high()) {
      input.budget_bytes = static_cast<int64_t>(*budget.high());
    }
    const AnyFigure& weights = fit->memory.weights.any();
    if (!weights.is_unknown()) {
      input.weights_bytes = static_cast<int64_t>(weights.low().value_or(0));
    }
    input.cache = fit->fit;
    if (!judged.outcome.refusals.empty()) {
      input.cache->missing =
          "what the KV cache needs: the launch is refused before it is planned";
    }
  }
  if (request_tokens && fit && fit->plans.size() > 1) {
    ServePressure pressure;
    pressure.tokens = *request_tokens;
    pressure.holds_low = vllm::RequestsOfLength(
        fit->plans.front(), fit->cache.input.request, *request_tokens);
    pressure.holds_high = vllm::RequestsOfLength(
        fit->plans.back(), fit->cache.input.request, *request_tokens);
    input.pressure = pressure;
  }
  Rules(input, answer);
  for (const Finding& finding : answer.findings) {
    if (finding.severity != Severity::kBlock || finding.fix.empty()) continue;
    answer.fix = finding.fix;
    break;
  }
  if (answer.accepted) MemoryVerdict(answer);
}

// The launch with words behind its own, for the searches.
ServingResolve ResolverOf(const ServeRequest& request,
                          const EngineVersion& version) {
  return [&request, version](const std::vector<std::string>& words) {
    ServeRequest changed = request;
    Place place;
    place.source = "a change";
    for (const std::string& word : words) {
      changed.line.words.push_back({word, place});
    }
    const Judged judged = Judge(changed, version);
    ServingTry out;
    out.model = judged.outcome.model;
    out.settings = judged.outcome.settings;
    out.is_length_fitted = IsLengthFitted(judged.launch);
    if (!judged.outcome.refusals.empty()) {
      out.refusal = judged.outcome.refusals.front().what;
    } else if (!judged.outcome.at_start.empty()) {
      out.refusal = judged.outcome.at_start.front().what;
    } else if (judged.model == nullptr) {
      out.refusal = "the model's configuration is not known";
    }
    return out;
  };
}

std::string RequestsText(const ServingPoint& point) {
  return fmt::format("{:.1f} requests ({:.1f} to {:.1f})",
                     point.requests.value_or(0), point.requests_low.value_or(0),
                     point.requests_high.value_or(0));
}

// Why no change serves the goal: the nearest of them, else the first's reason.
std::string WhyNone(const ServingFound& found) {
  const ServingPoint* best = nullptr;
  for (const ServingPoint& point : found.tried) {
    if (!point.requests) continue;
    if (best == nullptr || *point.requests > *best->requests) best = &point;
  }
  const ServingPoint& first = found.tried.front();
  if (best == nullptr) {
    return fmt::format(
        "nothing serves it: {}{}",
        first.change.empty() ? "" : "with " + first.change + ", ",
        first.refusal);
  }
  return fmt::format(
      "nothing of {} tries serves it; the nearest holds {} with {}",
      found.tried.size(), RequestsText(*best),
      best->change.empty() ? "the launch as it is" : best->change);
}

void Want(const ServeRequest& request, const ServingResolve& resolve,
          ServeAnswer& answer) {
  const ServingFound found = ServingFor(resolve, request.card, *request.want);
  ServeWant want;
  want.goal = fmt::format("{} requests at once, of {} tokens each",
                          WithSeparators(request.want->requests),
                          WithSeparators(request.want->tokens));
  want.is_served = found.point.has_value();
  want.is_sure = found.is_sure;
  if (!found.point) {
    want.text = WhyNone(found);
  } else {
    want.flags = found.point->change;
    want.text = fmt::format(
        "{}: the cache holds {} of them{}",
        want.flags.empty() ? "the launch as it is"
                           : "the launch with " + want.flags,
        RequestsText(*found.point), found.is_sure ? "" : "; likely, not sure");
  }
  want.tried = found.tried;
  answer.want = std::move(want);
}

void Searches(const ServeRequest& request, const Judged& judged,
              const std::optional<ServingFit>& fit, ServeAnswer& answer) {
  if (request.explains_cache && fit) {
    answer.terms = ExplainCache(*fit, judged.outcome.settings);
  }
  if (!request.has_sensitivity && !request.want) return;
  const ServingResolve resolve = ResolverOf(request, judged.facts->version);
  if (request.has_sensitivity) {
    answer.sensitivity = ServingSensitivity(resolve, request.card,
                                            request.request_tokens.value_or(0));
  }
  if (request.want) Want(request, resolve, answer);
}

void Compare(const ServeRequest& request, const Judged& here,
             ServeAnswer& answer) {
  const Judged there = Judge(request, *request.against);
  answer.against = fmt::format("vLLM {} ({})", there.facts->version.ToString(),
                               there.facts->date);
  ServeAnswer concluded;
  Conclude(there, FitOf(request, there), request.request_tokens, concluded);
  answer.against_verdict = concluded.verdict;
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
  for (const std::string& one : request.assumed) answer.assumed.push_back(one);
  answer.form = request.line.form;
  answer.model = judged.launch.model;
  answer.architecture = judged.outcome.settings.architecture;
  answer.card = request.card.full;
  answer.card_source = request.card_source;
  answer.cards = judged.cards;
  answer.cards_source = request.cards_source;
  Understood(judged, answer);
  const std::optional<ServingFit> fit = FitOf(request, judged);
  if (fit) Memory(request, judged, *fit, answer);
  Conclude(judged, fit, request.request_tokens, answer);
  Searches(request, judged, fit, answer);
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
