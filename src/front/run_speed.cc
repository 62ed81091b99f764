#include "front/run_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/llama_speed.h"
#include "answers/run_prediction.h"
#include "answers/speed.h"
#include "base/input_error.h"
#include "front/hub_options.h"
#include "front/kept_runs.h"
#include "front/number_option.h"
#include "input/device_catalogue.h"
#include "report/present_speed.h"

namespace foretell {
namespace {

// Longer prompts and more requests than these nobody serves.
constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr int64_t kMostRequests = int64_t{1} << 20;
constexpr int64_t kMostRanks = 4096;
constexpr size_t kMostPoints = 64;
constexpr int64_t kMostLayers = 100'000;

OptionRow Whole(std::string_view name, std::string_view value,
                std::string_view doc, std::string_view standard, int64_t least,
                int64_t most) {
  return {.name = name,
          .value = value,
          .doc = doc,
          .default_value = standard,
          .kind = ValueKind::kInteger,
          .least = least,
          .most = most};
}

// "1,8,32", each from 1.
std::vector<int64_t> ConcurrencyOf(const Invocation& invocation) {
  const std::string text = invocation.Text("concurrency").value_or("1");
  std::vector<int64_t> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    int64_t number = 0;
    const auto read =
        std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() ||
        number < 1 || number > kMostRequests || out.size() == kMostPoints) {
      throw InputErrors(InputError{
          invocation.PlaceOf("concurrency", 0, at),
          out.size() == kMostPoints
              ? fmt::format("more than {} loads", kMostPoints)
              : fmt::format("\"{}\" is no number of requests from 1 to {}",
                            part, kMostRequests),
          "write --concurrency 1,8,32"});
    }
    out.push_back(number);
    at = end + 1;
  }
  return out;
}

std::vector<OptionRow> SpeedRows() {
  std::vector<std::string_view> engines;
  for (const EngineConstants& engine : ServedEngines()) {
    engines.push_back(engine.name);
  }
  engines.push_back(kLlamaEngine);
  return {
      {.name = "gpu",
       .value = "NAME",
       .doc = "The card, by the name that people use, or a file that describes "
              "it (foretell gpu --device).",
       .aliases = {"card", "device"}},
      {.name = "engine",
       .value = "NAME",
       .doc = "The engine whose constants are taken.",
       .allowed = engines,
       .default_value = "vllm"},
      {.name = "quant",
       .value = "NAME",
       .doc = "How weights are stored: bf16, fp8, nvfp4, awq, int8, …; else "
              "as the checkpoint says. For llama.cpp its file's type, else "
              "Q4_K_M.",
       .suggested = {"bf16", "fp8", "nvfp4", "mxfp4", "awq", "gptq-int8",
                     "Q4_K_M", "Q8_0"},
       .aliases = {"quantization"}},
      {.name = "kv-dtype",
       .value = "NAME",
       .doc = "How the cache is stored.",
       .allowed = {"auto", "bf16", "fp8"},
       .default_value = "auto",
       .aliases = {"kv-cache-dtype"}},
      Whole("tp", "N", "Cards that every layer is split over.", "1", 1,
            kMostRanks),
      Whole("pp", "N", "Stages of a pipeline.", "1", 1, kMostRanks),
      Whole("dp", "N", "Replicas of attention; experts stay one group.", "1", 1,
            kMostRanks),
      {.name = "ep",
       .doc = "Spread whole experts over the cards, instead of splitting "
              "each."},
      Whole("isl", "TOKENS", "Tokens of a prompt.", "1024", 1, kMostTokens),
      Whole("osl", "TOKENS", "Tokens of an answer.", "256", 1, kMostTokens),
      Whole("cached", "TOKENS",
            "Tokens of the prompt that the prefix cache holds.", "0", 0,
            kMostTokens),
      {.name = "concurrency",
       .value = "LIST",
       .doc = "Requests in flight, split by commas.",
       .default_value = "1"},
      Whole("drafts", "N", "Tokens that are drafted for each step.", "0", 0,
            64),
      {.name = "acceptance",
       .value = "SHARE",
       .doc = "The chance that a drafted token is accepted, from 0 to 1."},
      {.name = "draft-share",
       .value = "SHARE",
       .doc = "The drafter's size as a share of the model; 0 where it costs "
              "nothing (n-grams).",
       .default_value = "0.03"},
      {.name = "offload",
       .value = "GIB",
       .doc = "Weights of each card that stay in the host's memory, in GiB."},
      Whole("ngl", "N",
            "Layers that llama.cpp keeps on the card; else as many as fit.", "",
            0, kMostLayers),
      {.name = "backend",
       .value = "NAME",
       .doc = "What llama.cpp was built for; else as the card is usually "
              "driven.",
       .allowed = {"cuda", "rocm", "vulkan", "metal", "cpu"}},
      {.name = "price",
       .value = "USD",
       .doc = "Dollars an hour of one card, for the cost of tokens."}};
}

}  // namespace

CommandRow SpeedCommand(ArgumentRow target) {
  std::vector<OptionRow> options = SpeedRows();
  options.push_back(RunsRow());
  for (OptionRow& row : HubRows()) options.push_back(std::move(row));
  return {
      .name = "speed",
      .summary = "how fast a model is served, and what limits it",
      .description =
          "Tells from a configuration, a card and an engine how long a first "
          "token and every further one take at a concurrency, with 90 % "
          "intervals; where the time goes; what one faster resource would "
          "give; and the cost of tokens at a price. Nothing is run: constants "
          "of engines and cards come from measured runs of others.",
      .arguments = {std::move(target)},
      .options = std::move(options),
      .examples = {{"foretell speed Qwen/Qwen3-8B --gpu l40s --osl 128 "
                    "--concurrency 1,8,32",
                    "First and further tokens at three loads."},
                   {"foretell speed Qwen/Qwen3-8B --gpu rtx-3060 --engine "
                    "llama.cpp --quant Q8_0",
                    "The same under llama.cpp, with layers on the processor "
                    "where the card is too small."},
                   {"foretell speed openai/gpt-oss-120b --gpu h100 --tp 2 "
                    "--price 2.49",
                    "With the cost of a million tokens."}},
      .shape = SpeedShape,
      .run = RunSpeed};
}

SpeedRequest ReadSpeedRequest(const Invocation& invocation) {
  SpeedRequest request;
  const auto name = invocation.Text("gpu");
  if (!name) {
    throw InputErrors(InputError{invocation.PlaceOf("gpu"), "no card is named",
                                 "write --gpu h100"});
  }
  request.device = FindDevice(*name, invocation.PlaceOf("gpu"));
  request.engine = invocation.Text("engine").value_or("vllm");
  request.precision = invocation.Text("quant").value_or("");
  request.cache = invocation.Text("kv-dtype").value_or("");
  request.tensor = invocation.Integer("tp").value_or(1);
  request.pipeline = invocation.Integer("pp").value_or(1);
  request.data = invocation.Integer("dp").value_or(1);
  request.expert_parallel = invocation.Has("ep");
  request.isl = invocation.Integer("isl").value_or(1024);
  request.osl = invocation.Integer("osl").value_or(256);
  request.cached = invocation.Integer("cached").value_or(0);
  if (request.cached >= request.isl) {
    throw InputErrors(InputError{
        invocation.PlaceOf("cached"),
        fmt::format("{} cached tokens leave nothing of a prompt of {}",
                    request.cached, request.isl),
        "write fewer than --isl"});
  }
  request.concurrency = ConcurrencyOf(invocation);
  request.drafts = invocation.Integer("drafts").value_or(0);
  request.acceptance =
      NumberOf(invocation, "acceptance", 0, 1, "write --acceptance 0.7");
  if (request.drafts > 0 && !request.acceptance) {
    throw InputErrors(
        InputError{invocation.PlaceOf("drafts"),
                   "what share of drafted tokens is accepted is not said",
                   "write --acceptance 0.7"});
  }
  request.draft_share =
      NumberOf(invocation, "draft-share", 0, 1, "write --draft-share 0.03")
          .value_or(0);
  request.offload_gib =
      NumberOf(invocation, "offload", 0, 1e5, "write --offload 8").value_or(0);
  for (const char* option : {"ngl", "backend"}) {
    if (!invocation.Has(option) || request.engine == kLlamaEngine) continue;
    throw InputErrors(
        InputError{invocation.PlaceOf(option),
                   fmt::format("--{} is llama.cpp's alone", option),
                   "add --engine llama.cpp, or leave it out"});
  }
  request.card_layers = invocation.Integer("ngl");
  request.backend = invocation.Text("backend").value_or("");
  request.price =
      NumberOf(invocation, "price", 1e-6, 1e6, "write --price 2.49");
  return request;
}

Outcome RunSpeed(const Invocation& invocation) {
  SpeedRequest request = ReadSpeedRequest(invocation);
  request.config = LoadTarget(invocation);
  auto result = AnswerSpeed(request);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw InputErrors(std::move(refusal->errors));
  }
  const SpeedAnswer& answer = std::get<SpeedAnswer>(result);
  return {.document = PresentSpeed(
              answer, CalibratedFor(invocation, PredictionOf(request, answer),
                                    request.config))};
}

}  // namespace foretell
