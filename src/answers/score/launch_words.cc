#include "answers/score/launch_words.h"

#include <array>
#include <utility>

#include "engines/vllm/launch.h"

namespace foretell {
namespace {

// The recorder's names of cards in the catalogue.
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

}  // namespace

std::optional<RecordedLaunch> ReadRecordedLaunch(
    const ScoreInput& input, const std::vector<std::string>& argv,
    const std::string& card, EngineVersion version, int64_t cards,
    const ModelConfig* model) {
  if (input.serving == nullptr) return std::nullopt;
  const auto known = input.serving->Card(CatalogueName(card));
  if (!known) return std::nullopt;
  const EngineFacts& facts =
      input.serving->Facts(ServingEngine::kVllm, version);
  const Launch launch =
      input.serving->Read(facts, LineOfArguments(ServingEngine::kVllm, argv));
  // With what stands beside config.json (hf_quant_config.json).
  const auto whole =
      argv.empty() ? nullptr : input.serving->Model(argv.front());
  VllmRequest request;
  request.launch = &launch;
  request.facts = &facts;
  request.model = model != nullptr   ? model
                  : whole != nullptr ? whole.get()
                                     : input.config;
  request.card = &*known;
  request.cards = cards;
  request.find = [&](std::string_view name) {
    return input.serving->Model(name);
  };
  VllmLaunch resolved = ResolveVllm(request);
  RecordedLaunch out{std::move(resolved.settings), *known,
                     std::move(resolved.model), false};
  if (const LaunchSetting* length = launch.Find("max_model_len")) {
    out.is_length_fitted = length->value.AsInteger().value_or(0) == -1 ||
                           length->value.AsString().value_or("") == "auto";
  }
  return out;
}

}  // namespace foretell
