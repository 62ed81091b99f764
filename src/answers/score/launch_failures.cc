// The set `launch_failures`: refused launches that people reported.
//
// A row gives its launch as a command, or as facts in words ("tensor parallel
// size 8"), from which the flags that the version has are read. The class of
// the first refusal is compared on rows that can be decided; of other engines
// nothing is told yet. Where no version is stated, the newest one that was out
// on the report's date is taken.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "answers/score/score_sets.h"
#include "answers/serving_fit.h"
#include "engines/vllm/launch.h"

namespace foretell {
namespace {

constexpr char kTold[] = "class";

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '.';
}

// Words of letters, digits and underscores; dashes count as underscores.
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == '-') c = '_';
    if (IsWordCharacter(c)) {
      out.back() += c;
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  for (std::string& word : out) {
    while (word.starts_with('_')) word.erase(0, 1);
    while (word.ends_with('.')) word.pop_back();
  }
  std::erase(out, "");
  return out;
}

// The flags that the words name, each with the word behind it.
std::vector<std::string> FlagsOf(const EngineFacts& facts,
                                 const std::string& text) {
  const std::vector<std::string> words = WordsOf(text);
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); ++i) {
    // "tensor_parallel_size", or its parts as words of their own.
    std::string name;
    for (size_t n = 1; n <= 4 && i + n <= words.size(); ++n) {
      name += (n > 1 ? "_" : "") + words[i + n - 1];
      const EngineFlag* flag = facts.FindSetting(name);
      if (flag == nullptr || name.find('_') == std::string::npos) continue;
      if (flag->type == "bool" || flag->type == "true") {
        out.push_back(flag->flag);
      } else if (i + n < words.size() &&
                 (flag->type == "int" || flag->type.starts_with("size") ||
                  flag->type == "float")) {
        if (std::isdigit(static_cast<unsigned char>(words[i + n][0])) == 0) {
          continue;
        }
        out.push_back(flag->flag);
        out.push_back(words[i + n]);
      }
      i += n - 1;
      break;
    }
  }
  return out;
}

EngineVersion VersionAt(const ServingSource& source, const std::string& date) {
  const auto versions = source.Versions(ServingEngine::kVllm);
  if (versions.empty()) return {};
  EngineVersion out = date.empty() ? versions.back() : versions.front();
  if (date.empty()) return out;
  for (const EngineVersion& one : versions) {
    if (source.Facts(ServingEngine::kVllm, one).date <= date) out = one;
  }
  return out;
}

// The class of the report that a refusal belongs to.
std::string ClassOf(const std::string& kind) {
  if (kind == "flags") return "parser";
  for (const char* same :
       {"parallel-divisibility", "context-length", "architecture", "dtype",
        "quantization", "hardware", "lora"}) {
    if (kind == same) return kind;
  }
  return "other";
}

// What a launch that passes validation meets at its start, by best values.
Predicted AtStart(const Launch& launch, const VllmLaunch& answer,
                  const ServingCard& card) {
  const ServingFit fit =
      FitServing(answer.model, answer.settings, card, IsLengthFitted(launch));
  const AnyFigure& weights = fit.memory.weights.any();
  const double most = fit.total.any().value().value_or(0);
  // Loading fails where the card itself is too small; the engine's share of it
  // is first looked at when the cache is planned.
  if (!weights.is_unknown() && most > 0 && weights.value().value_or(0) > most) {
    return {kTold, std::string("memory-weights"),
            "one rank's weights are larger than the card"};
  }
  const bool is_refused = !fit.fit.reason.empty() ||
                          (!fit.plans.empty() &&
                           fit.plans[1].verdict != vllm::KvVerdict::kAccepted);
  if (is_refused) {
    return {kTold, std::string("memory-kv"),
            "by the likely amount that is left, the KV cache does not fit"};
  }
  return {kTold, std::string("none"),
          fit.fit.missing.empty() ? "the settings pass, and the cache fits"
                                  : fit.fit.missing};
}

}  // namespace

Prediction PredictLaunchFailure(const ScoreInput& input) {
  const std::string engine = input.settings.Text("engine").value_or("");
  if (!engine.starts_with("vLLM")) {
    return LeftOut{"an engine that is not judged yet"};
  }
  if (input.config == nullptr) return LeftOut{input.no_config};
  if (input.serving == nullptr) return LeftOut{"no data of engines"};
  const std::string said = input.settings.Text("version").value_or("");
  const auto stated = ParseEngineVersion(said);
  const EngineVersion version =
      stated ? *stated
             : VersionAt(*input.serving,
                         input.settings.Text("source.date").value_or(""));
  const EngineFacts& facts =
      input.serving->Facts(ServingEngine::kVllm, version);
  std::string text = input.settings.Text("launch").value_or("");
  text += " " + input.settings.Text("launch_facts").value_or("");
  std::vector<std::string> words = FlagsOf(facts, text);
  words.insert(words.begin(), input.settings.Text("model").value_or("model"));
  const Launch launch =
      input.serving->Read(facts, LineOfArguments(ServingEngine::kVllm, words));
  const auto card =
      input.serving->Card(input.settings.Text("gpu").value_or(""));
  const ServingCard taken =
      card ? *card : input.serving->Card("h100").value_or(ServingCard());
  VllmRequest request;
  request.launch = &launch;
  request.facts = &facts;
  request.model = input.config;
  request.card = &taken;
  // A report that says no number of cards has as many as its ranks.
  request.cards = input.settings.Integer("gpu_count").value_or(1 << 20);
  const VllmLaunch answer = ResolveVllm(request);
  if (answer.refusals.empty()) {
    if (!card) {
      return std::vector<Predicted>{
          {kTold, std::string("none"),
           "the settings pass validation; the card is not known"}};
    }
    return std::vector<Predicted>{AtStart(launch, answer, *card)};
  }
  return std::vector<Predicted>{{kTold, ClassOf(answer.refusals.front().kind),
                                 answer.refusals.front().what}};
}

std::vector<Measured> MeasureLaunchFailure(const ConfigValue& row) {
  const ConfigValue* decidable = row.Find("decidable");
  const ConfigValue* kind = row.Find("class");
  if (decidable == nullptr || decidable->AsBool() != true || kind == nullptr) {
    return {};
  }
  return {MeasuredText(kTold, std::string(kind->AsString().value_or("")),
                       {"told"})};
}

}  // namespace foretell
