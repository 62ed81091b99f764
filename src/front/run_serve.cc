#include "front/run_serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "answers/serve.h"
#include "base/input_error.h"
#include "input/device_catalogue.h"
#include "input/launch_line.h"
#include "input/model_config_source.h"
#include "input/serving_source.h"
#include "report/present_serve.h"

namespace foretell {
namespace {

// The version of an option, or the error that it is none.
std::optional<EngineVersion> VersionOf(const Invocation& invocation,
                                       std::string_view option) {
  const auto text = invocation.Text(option);
  if (!text) return std::nullopt;
  const auto version = ParseEngineVersion(*text);
  if (!version) {
    throw InputErrors(InputError{invocation.PlaceOf(option),
                                 fmt::format("{} is no version", *text),
                                 "write 0.33 or 0.19.1"});
  }
  // "0.11" is the last of its patches.
  if (std::ranges::count(*text, '.') == 1) {
    EngineVersion last = *version;
    last.patch = std::numeric_limits<int>::max();
    return last;
  }
  return version;
}

// Whether the first word is a program or a flag, and no model of its own.
bool StartsLaunch(const std::string& word) {
  return word == "vllm" || word == "docker" || word == "podman" ||
         word.starts_with("python") || word.starts_with("-") ||
         word.find('=') != std::string::npos ||
         word.find(' ') != std::string::npos;
}

LaunchLine LineOf(const Invocation& invocation, size_t first,
                  const std::vector<std::string>& words) {
  if (first + 1 == words.size() &&
      words[first].find(' ') != std::string::npos) {
    // One quoted text: a shell's line of its own.
    return ReadLaunchText(words[first], "launch");
  }
  std::vector<LaunchWord> out;
  for (size_t i = first; i < words.size(); ++i) {
    out.push_back({words[i], invocation.PlaceOf("LAUNCH", i)});
  }
  return ReadLaunchLine(out);
}

void ReadCard(const Invocation& invocation, ServeRequest& request) {
  const std::string name = invocation.Text("gpu").value_or("h100");
  request.card = CardOf(FindDevice(name, invocation.PlaceOf("gpu")));
  request.card_source = invocation.Has("gpu") ? "--gpu" : "assumed; say --gpu";
  const auto memory = invocation.Text("gpu-mem");
  if (!memory) return;
  char* end = nullptr;
  const double gib = std::strtod(memory->c_str(), &end);
  if (end == memory->c_str() || *end != '\0' || !(gib > 0 && gib < 1e6)) {
    throw InputErrors(InputError{invocation.PlaceOf("gpu-mem"),
                                 fmt::format("{} is no size in GiB", *memory),
                                 "--gpu-mem 23.5"});
  }
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  request.card.runtime_bytes = static_cast<int64_t>(gib * kGib);
  request.card.runtime_low = request.card.runtime_bytes;
  request.card.runtime_high = request.card.runtime_bytes;
  request.card_source += fmt::format(", {} GiB by --gpu-mem", *memory);
}

}  // namespace

Outcome RunServe(const Invocation& invocation) {
  const std::vector<std::string> words = invocation.Arguments("LAUNCH");
  if (words.empty()) {
    throw InputErrors(
        InputError{invocation.PlaceOf("LAUNCH"), "no launch is given",
                   "foretell serve --gpu l4 -- vllm serve Qwen/Qwen3-8B"});
  }
  ServeRequest request;
  size_t first = 0;
  if (words.size() > 1 && !StartsLaunch(words[0]) && StartsLaunch(words[1])) {
    request.model = LoadModelConfig(words[0]);
    first = 1;
  }
  request.line = LineOf(invocation, first, words);
  ReadCard(invocation, request);
  if (const auto cards = invocation.Integer("gpus");
      invocation.Has("gpus") && cards) {
    request.cards = *cards;
    request.cards_source = "--gpus";
  } else if (request.line.cards) {
    request.cards = *request.line.cards;
    request.cards_source = "the launch";
  } else {
    request.cards = 0;
    request.cards_source = "as many as the launch asks for; say --gpus";
  }
  request.version = VersionOf(invocation, "engine-version");
  request.version_source = "--engine-version";
  request.against = VersionOf(invocation, "against");
  const auto source = MakeServingSource(invocation.Text("configs"));
  request.source = source.get();
  const ServeAnswer answer = AnswerServe(request);
  return {.document =
              PresentServe(answer, {.settings = invocation.Has("settings")})};
}

}  // namespace foretell
