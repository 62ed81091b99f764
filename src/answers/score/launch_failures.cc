// The set `launch_failures`: refused launches that people reported.
//
// A row gives its launch as a command, or as facts in words ("tensor parallel
// size 8"), from which the flags that the version has are read. The class of
// the first refusal is compared on rows that can be decided; of other engines
// nothing is told yet. Where no version is stated, the newest one that was out
// on the report's date is taken. Facts in words name what matters and not every
// permission: remote code counts as allowed there.
//
// Every row is of a launch that was refused. Where neither validation nor the
// start nor memory refuses it, the likeliest class of what is left is told, and
// says so; by rules alone that is "cannot tell", held in a group of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/serving_fit.h"
#include "engines/vllm/launch.h"

namespace foretell {
namespace {

constexpr char kTold[] = "class";
constexpr char kByRule[] = "class by a rule";

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

// The arguments behind what starts the engine in a command; empty where none
// does.
std::vector<std::string> ArgumentsOf(const std::string& command) {
  std::vector<std::string> words(1);
  for (const char c : command) {
    if (c == '(' && words.back().empty()) break;  // a remark follows
    if (c != ' ') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase(words, "");
  for (size_t i = 0; i < words.size(); ++i) {
    const bool starts =
        words[i] == "vllm.entrypoints.openai.api_server" ||
        words[i].find("vllm-openai") != std::string::npos ||
        (words[i] == "serve" && i > 0 && words[i - 1].ends_with("vllm"));
    if (!starts) continue;
    words.erase(words.begin(),
                words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return words;
  }
  return {};
}

bool Mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The class of the report that a refusal belongs to.
std::string ClassOf(const VllmRefusal& refusal) {
  const std::string& kind = refusal.kind;
  if (kind == "flags" || kind == "other") {
    const bool parses = Mentions(refusal.what, "parser") ||
                        Mentions(refusal.what, "--enable-auto-tool-choice");
    return parses ? "parser" : "other";
  }
  if (kind == "memory-settings") return "memory-runtime";
  if (kind == "parallel-unsupported") return "other";
  for (const char* same :
       {"parallel-divisibility", "context-length", "architecture", "dtype",
        "quantization", "hardware", "lora"}) {
    if (kind == same) return kind;
  }
  return "other";
}

// What a launch that passes validation meets at its start, by best values;
// nothing where its memory suffices or is not known.
std::optional<Predicted> OfMemory(const Launch& launch,
                                  const VllmLaunch& answer,
                                  const ServingCard& card) {
  const ServingFit fit =
      FitServing(answer.model, answer.settings, card, IsLengthFitted(launch));
  const auto bytes = [](const Bytes& figure) {
    return figure.any().is_unknown() ? 0.0 : figure.any().value().value_or(0);
  };
  const double weights = bytes(fit.memory.weights);
  const double most = bytes(fit.total);
  // Loading fails where the card itself is too small; the engine's share of it
  // is first looked at when the cache is planned.
  if (most > 0 && weights > most) {
    return Predicted{kTold, std::string("memory-weights"),
                     "one rank's weights are larger than the card"};
  }
  if (most > 0 && weights + bytes(fit.memory.activation) > most) {
    return Predicted{kTold, std::string("memory-runtime"),
                     "weights and the profile run are larger than the card"};
  }
  const bool is_refused = !fit.fit.reason.empty() ||
                          (!fit.plans.empty() &&
                           fit.plans[1].verdict != vllm::KvVerdict::kAccepted);
  if (!is_refused) return std::nullopt;
  return Predicted{
      kTold, std::string("memory-kv"),
      "by the likely amount that is left, the KV cache does not fit"};
}

// Nothing that can be told refuses it: what may, of which the launch says
// nothing.
std::string Guess(const Launch& launch) {
  // A share of the card that is set is set for what else uses it, or near its
  // edge; other processes' memory is not in the launch.
  if (launch.Find("gpu_memory_utilization") != nullptr) return "memory-kv";
  // The class is inspected in a process of its own, which a broken
  // installation or another platform ends.
  return "architecture";
}

Predicted Tell(const ScoreInput& input, const Launch& launch,
               const VllmLaunch& answer, const std::string& text) {
  for (const auto* list : {&answer.refusals, &answer.at_start}) {
    if (list->empty()) continue;
    return {kTold, ClassOf(list->front()), list->front().what};
  }
  if (Mentions(text, "second server") || Mentions(text, "two servers")) {
    // What the first one holds is first asked for since 0.9.1; a pool that
    // servers share leaves too little of it for one request.
    const bool asks = launch.version >= EngineVersion{0, 9, 1} &&
                      input.settings.Text("engine") == "vLLM";
    return {kTold, std::string(asks ? "memory-runtime" : "memory-kv"),
            "another server holds a share of the same cards"};
  }
  const auto card =
      input.serving->Card(input.settings.Text("gpu").value_or(""));
  // A card that is not named is no smaller than most data centres'.
  const auto taken = card ? card : input.serving->Card("h100");
  if (taken) {
    if (auto memory = OfMemory(launch, answer, *taken)) return *memory;
  }
  return {kTold, std::string("cannot tell"),
          "the settings pass and the memory suffices"};
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
  const std::string command = input.settings.Text("launch").value_or("");
  const std::string text =
      command + " " + input.settings.Text("launch_facts").value_or("");
  std::vector<std::string> words = ArgumentsOf(command);
  const bool is_command = !words.empty();
  if (!is_command) {
    words = FlagsOf(facts, text);
    words.insert(words.begin(), input.settings.Text("model").value_or("model"));
  }
  Launch launch =
      input.serving->Read(facts, LineOfArguments(ServingEngine::kVllm, words));
  if (!is_command) {
    launch.settings.push_back(
        {"trust_remote_code", "", ConfigValue::Bool(true), {}});
  }
  // Names of flags are only held against a version that is stated.
  if (!stated || !is_command) {
    std::erase_if(launch.faults, [](const LaunchFault& fault) {
      return fault.kind == LaunchFault::Kind::kUnknown ||
             fault.kind == LaunchFault::Kind::kRemoved ||
             fault.kind == LaunchFault::Kind::kNotYet ||
             fault.kind == LaunchFault::Kind::kAmbiguous;
    });
  }
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
  Predicted told = Tell(input, launch, answer, text);
  Predicted by_rule = told;
  by_rule.quantity = kByRule;
  // The record says that the launch was refused: where no rule refuses it, the
  // likeliest class of what is left is told, and held apart from the rules'.
  const auto* class_told = std::get_if<std::string>(&told.value);
  if (class_told != nullptr && *class_told == "cannot tell") {
    told.value = Guess(launch);
    told.note = "no rule refuses it: the likeliest class of a refusal";
  }
  return std::vector<Predicted>{told, by_rule};
}

std::vector<Measured> MeasureLaunchFailure(const ConfigValue& row) {
  const ConfigValue* decidable = row.Find("decidable");
  const ConfigValue* kind = row.Find("class");
  if (decidable == nullptr || decidable->AsBool() != true || kind == nullptr) {
    return {};
  }
  const std::string name(kind->AsString().value_or(""));
  return {MeasuredText(kTold, name, {"told"}),
          MeasuredText(kByRule, name, {"told_by_rule"})};
}

}  // namespace foretell
