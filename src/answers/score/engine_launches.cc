// The set `engine_launches`: what vLLM's own configuration code said to a
// launch, run without a card.
//
// The verdict is compared for every launch, the class of the refusal where it
// was refused, and every value of the configuration where it was accepted.
// Nothing of the answer is read but the launch, the version, the card and the
// model's published configuration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "answers/score/score_sets.h"
#include "engines/vllm/launch.h"

namespace foretell {
namespace {

constexpr char kVerdict[] = "verdict";
constexpr char kClass[] = "class";
constexpr char kDefaults[] = "defaults";
constexpr char kAccepted[] = "accepted";
constexpr char kRefused[] = "refused";

// The recorder's names of cards (its NVML names and sizes) in the catalogue.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCards =
    {{{"A100", "a100-sxm-80gb"},
      {"A100-40", "a100-sxm-40gb"},
      {"V100", "v100-sxm2-32gb"}}};

std::string_view CatalogueName(std::string_view card) {
  for (const auto& [name, id] : kCards) {
    if (name == card) return id;
  }
  return card;
}

// Sections hold values, some nested once more.
void AddFields(const ConfigValue& resolved, const auto& add) {
  for (const auto& [section, value] : resolved.members()) {
    if (!value.is_object()) {
      add(section, value);
      continue;
    }
    for (const auto& [key, field] : value.members()) {
      add(fmt::format("{}.{}", section, key), field);
    }
  }
}

std::string TextOf(const ConfigValue& value) {
  // 0.9 and 0.90, 5 and 5.0 are one number.
  if (value.is_number()) return fmt::format("{}", value.AsReal().value_or(0));
  return value.ToJson();
}

}  // namespace

Prediction PredictEngineLaunch(const ScoreInput& input) {
  const auto version =
      ParseEngineVersion(input.settings.Text("version").value_or(""));
  const ConfigValue* argv = input.settings.Get("argv");
  if (input.serving == nullptr || !version || argv == nullptr) {
    return LeftOut{"no version or no arguments"};
  }
  const auto card = input.serving->Card(
      CatalogueName(input.settings.Text("card").value_or("")));
  if (!card) return LeftOut{"a card that the catalogue lacks"};
  std::vector<std::string> words;
  for (const ConfigValue& word : argv->items()) {
    words.emplace_back(word.AsString().value_or(""));
  }
  const EngineFacts& facts =
      input.serving->Facts(ServingEngine::kVllm, *version);
  const Launch launch =
      input.serving->Read(facts, LineOfArguments(ServingEngine::kVllm, words));
  // With what stands beside config.json (hf_quant_config.json).
  const auto whole =
      input.serving->Model(input.settings.Text("model").value_or(""));
  VllmRequest request;
  request.launch = &launch;
  request.facts = &facts;
  request.model = whole != nullptr ? whole.get() : input.config;
  request.card = &*card;
  request.cards = input.settings.Integer("gpus").value_or(1);
  request.find = [&](std::string_view name) {
    return input.serving->Model(name);
  };
  const VllmLaunch answer = ResolveVllm(request);
  if (input.config == nullptr && answer.refusals.empty()) {
    return LeftOut{input.no_config};
  }
  std::vector<Predicted> out;
  const bool refused = !answer.refusals.empty();
  out.push_back({kVerdict, std::string(refused ? kRefused : kAccepted),
                 refused ? answer.refusals.front().what : ""});
  out.push_back({kClass,
                 refused ? answer.refusals.front().kind : std::string("none"),
                 refused ? answer.refusals.front().what : ""});
  AddFields(answer.resolved,
            [&](const std::string& name, const ConfigValue& value) {
              out.push_back({name, TextOf(value)});
            });
  return out;
}

std::vector<Measured> MeasureEngineLaunch(const ConfigValue& row) {
  std::vector<Measured> out;
  const ConfigValue* accepted = row.Find("accepted");
  if (accepted == nullptr || !accepted->AsBool()) return out;
  out.push_back(MeasuredText(
      kVerdict, *accepted->AsBool() ? kAccepted : kRefused, {kVerdict}));
  if (!*accepted->AsBool()) {
    const ConfigValue* kind = row.Find("class");
    const std::string name(
        kind == nullptr ? "other" : kind->AsString().value_or("other"));
    if (name != "other") out.push_back(MeasuredText(kClass, name, {kClass}));
    return out;
  }
  if (const ConfigValue* resolved = row.Find("resolved")) {
    AddFields(*resolved,
              [&](const std::string& name, const ConfigValue& value) {
                out.push_back(MeasuredText(name, TextOf(value), {kDefaults}));
              });
  }
  return out;
}

void FinishEngineLaunches(const std::vector<Score>& scores,
                          ScoreGroups& groups) {
  groups["accepted_blocked"]["n"] =
      static_cast<double>(std::ranges::count_if(scores, [](const Score& one) {
        return one.quantity == kVerdict && one.measured == kAccepted &&
               one.predicted == kRefused;
      }));
}

}  // namespace foretell
