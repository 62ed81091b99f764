#include "front/run_serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "answers/serve.h"
#include "base/input_error.h"
#include "front/hub_options.h"
#include "input/launch_line.h"
#include "input/model_lookup.h"
#include "input/serving_card.h"
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
  ServingCards cards = FindServingCards(name, invocation.PlaceOf("gpu"));
  request.card = std::move(cards.card);
  request.assumed = std::move(cards.assumed);
  if (cards.count > 0) {
    request.cards = cards.count;
    request.cards_source = "--gpu";
  }
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
  request.card.is_estimated = false;
  request.card_source += fmt::format(", {} GiB by --gpu-mem", *memory);
}

InputError NoGoal(const Invocation& invocation, std::string what) {
  return {invocation.PlaceOf("want"), std::move(what),
          "write --want concurrency=64,len=8192"};
}

// The engine's own --revision; empty where there is none.
std::string RevisionOf(const LaunchLine& line) {
  constexpr std::string_view kFlag = "--revision";
  std::string out;
  for (size_t i = 0; i < line.words.size(); ++i) {
    const std::string& word = line.words[i].text;
    if (word == kFlag && i + 1 < line.words.size()) {
      out = line.words[i + 1].text;
    } else if (word.starts_with(kFlag) && word.size() > kFlag.size() &&
               word[kFlag.size()] == '=') {
      out = word.substr(kFlag.size() + 1);
    }
  }
  return out;
}

// "concurrency=64,len=8192", in any order; each once.
ServingGoal GoalOf(const Invocation& invocation, const std::string& text) {
  std::optional<int64_t> requests;
  std::optional<int64_t> tokens;
  // More requests or longer ones than these no release takes.
  constexpr int64_t kMost = int64_t{1} << 30;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    std::optional<int64_t>* value = name == "concurrency" ? &requests
                                    : name == "len"       ? &tokens
                                                          : nullptr;
    if (value == nullptr || equals == std::string::npos) {
      throw InputErrors(NoGoal(
          invocation,
          fmt::format("\"{}\" is neither concurrency=N nor len=N", part)));
    }
    if (*value) {
      throw InputErrors(
          NoGoal(invocation, fmt::format("{} is given twice", name)));
    }
    int64_t number = 0;
    const char* last = part.data() + part.size();
    const auto read = std::from_chars(part.data() + equals + 1, last, number);
    if (read.ec != std::errc() || read.ptr != last || number < 1 ||
        number > kMost) {
      throw InputErrors(
          NoGoal(invocation,
                 fmt::format("{} takes a whole number from 1 to {}, not \"{}\"",
                             name, kMost, part.substr(equals + 1))));
    }
    *value = number;
  }
  if (!requests || !tokens) {
    throw InputErrors(NoGoal(invocation, requests ? "the goal says no len"
                                                  : "the goal says no "
                                                    "concurrency"));
  }
  return {.requests = *requests, .tokens = *tokens};
}

// Finds a launch's models as every command finds one: in the hub's cache, in
// the catalogue, at the hub.
class HubServingSource : public ServingSource {
 public:
  HubServingSource(const ServingSource& known, bool has_folder, bool offline,
                   std::string revision)
      : known_(known), has_folder_(has_folder), revision_(std::move(revision)) {
    how_.offline = offline;
    how_.note = NoteOnStderr;
  }

  const EngineFacts& Facts(ServingEngine engine,
                           const EngineVersion& version) const override {
    return known_.Facts(engine, version);
  }
  std::vector<EngineVersion> Versions(ServingEngine engine) const override {
    return known_.Versions(engine);
  }
  Launch Read(const EngineFacts& facts, const LaunchLine& line) const override {
    return known_.Read(facts, line);
  }
  std::optional<ServingCard> Card(std::string_view name) const override {
    return known_.Card(name);
  }
  std::shared_ptr<const TimedDevice> Timed(
      std::string_view name) const override {
    return known_.Timed(name);
  }
  std::shared_ptr<const ModelConfig> Model(
      std::string_view name) const override {
    const bool is_first = found_.empty();
    const auto [found, is_new] = found_.try_emplace(std::string(name));
    if (is_new) found->second = Find(found->first, is_first);
    return found->second;
  }

 private:
  // The launch's own model is asked for first; a draft has its own revision.
  std::shared_ptr<const ModelConfig> Find(const std::string& name,
                                          bool is_own) const {
    if (has_folder_) {
      if (auto model = known_.Model(name)) return model;
    }
    try {
      ModelLookup how = how_;
      if (is_own) how.revision = revision_;
      return std::make_shared<const ModelConfig>(LookUpModel(name, how));
    } catch (const InputErrors& errors) {
      // The answer says what cannot be told without the model; why it is not
      // there is told here.
      const InputError& first = errors.errors().front();
      NoteOnStderr(fmt::format("{}: {}; {}", first.place.source, first.what,
                               first.cure));
      return nullptr;
    }
  }

  const ServingSource& known_;
  bool has_folder_;       // of configurations, which --configs names
  std::string revision_;  // of the launch's own model
  ModelLookup how_;
  // Asked for once: two versions are compared with the same models.
  mutable std::map<std::string, std::shared_ptr<const ModelConfig>> found_;
};

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
    ModelLookup how;
    how.offline = invocation.Has("offline");
    how.note = NoteOnStderr;
    request.model = LookUpModel(words[0], how);
    first = 1;
  }
  request.line = LineOf(invocation, first, words);
  ReadCard(invocation, request);
  if (const auto cards = invocation.Integer("gpus");
      invocation.Has("gpus") && cards) {
    request.cards = *cards;
    request.cards_source = "--gpus";
  } else if (request.cards > 0) {
    // --gpu lists them.
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
  if (invocation.Has("isl") || invocation.Has("osl")) {
    request.request_tokens = invocation.Integer("isl").value_or(0) +
                             invocation.Integer("osl").value_or(0);
  }
  request.has_sensitivity = invocation.Has("sensitivity");
  request.explains_cache = invocation.Has("explain");
  if (const auto want = invocation.Text("want")) {
    request.want = GoalOf(invocation, *want);
  }
  const auto known = MakeServingSource(invocation.Text("configs"));
  const HubServingSource source(*known, invocation.Has("configs"),
                                invocation.Has("offline"),
                                RevisionOf(request.line));
  request.source = &source;
  const ServeAnswer answer = AnswerServe(request);
  return {.document =
              PresentServe(answer, {.settings = invocation.Has("settings")})};
}

}  // namespace foretell
