// llama.cpp's speed of prompts and of generation, as llama-bench, its servers
// and tools print it: tokens a second, by the kind of device.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/llama_job.h"
#include "answers/score/score_sets.h"

namespace foretell {
namespace {

constexpr char kGeneration[] = "generation";
constexpr char kPrompt[] = "prompt";

constexpr std::string_view kMeasuredPaths[] = {"test", "device",
                                               "tokens_per_s"};

struct Test {
  bool is_prompt = false;
  bool is_tool = false;
  LlamaLoad load;
};

std::optional<double> NumberAfter(const std::string& text, const char* mark) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  char* end = nullptr;
  const char* begin = text.c_str() + at + std::char_traits<char>::length(mark);
  const double value = std::strtod(begin, &end);
  return end == begin || value <= 0 ? std::nullopt : std::optional(value);
}

// "pp512", "tg32 @ d16384", "batched pp512 x8"; else the words of a tool:
// "decode (server, single stream)", "prefill (server, ~2k prompt)".
std::optional<Test> TestOf(const std::string& text) {
  Test out;
  const auto prompt = NumberAfter(text, "pp");
  const auto generation = NumberAfter(text, "tg");
  if (prompt || generation) {
    out.is_prompt = prompt.has_value();
    out.load.tokens = prompt ? *prompt : *generation;
    out.load.depth = NumberAfter(text, "@ d").value_or(0);
    out.load.sequences = NumberAfter(text, " x").value_or(1);
    return out;
  }
  out.is_tool = true;
  constexpr double kShort = 128;
  constexpr double kPromptTokens = 512;
  constexpr double kLongPrompt = 2048;
  if (text.starts_with("prefill")) {
    out.is_prompt = true;
    out.load.tokens =
        text.find("2k") != std::string::npos ? kLongPrompt : kPromptTokens;
    return out;
  }
  if (text.starts_with("decode") || text.starts_with("eval rate")) {
    out.load.tokens = kShort;
    out.load.depth = kShort;
    return out;
  }
  return std::nullopt;
}

// Of the file, where the model's name ends with it: "…-Q4_K_M.gguf".
std::string RecipeOf(const ScoreSettings& s) {
  if (auto stated = s.Text("quant")) return *stated;
  std::string name = s.Text("model").value_or("");
  for (char& c : name) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  for (const std::string_view word : {"MXFP4", "BF16", "F16", "F32"}) {
    if (name.find(word) != std::string::npos) return std::string(word);
  }
  for (size_t at = name.find('Q'); at != std::string::npos;
       at = name.find('Q', at + 1)) {
    if (at + 1 >= name.size() ||
        std::isdigit(static_cast<unsigned char>(name[at + 1])) == 0) {
      continue;
    }
    const size_t begin = at > 0 && name[at - 1] == 'I' ? at - 1 : at;
    size_t end = at + 1;
    while (end < name.size() &&
           (std::isalnum(static_cast<unsigned char>(name[end])) != 0 ||
            name[end] == '_')) {
      ++end;
    }
    // "QWEN3" has its own Q, but no digit follows it.
    return name.substr(begin, end - begin);
  }
  // What ollama serves where a tag names none.
  const bool is_ollama =
      name.find("OLLAMA") != std::string::npos ||
      s.Text("engine").value_or("").find("ollama") != std::string::npos;
  return is_ollama ? "Q4_K_M" : "";
}

bool IsFlash(const ScoreSettings& s) {
  if (const auto flag = s.Flag("flash_attn")) return *flag;
  if (const auto number = s.Integer("flash_attn")) return *number != 0;
  return s.Text("flash_attn").value_or("") == "auto";
}

bool IsEarly(const std::string& build) {
  constexpr double kSince = 4000;
  const auto number =
      build.starts_with("b") ? NumberAfter(build, "b") : std::nullopt;
  return number && *number < kSince && *number >= 1000;
}

std::string ClassOf(std::string device) {
  for (char& c : device) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto has = [&device](std::string_view part) {
    return device.find(part) != std::string::npos;
  };
  if (has("apple") || has("mac ") || has("m1 ") || has("m4 ")) return "apple";
  if (has("gb10") || has("strix") || has("8060s")) return "unified";
  if (has("rtx") || has("gtx") || has("nvidia")) return "nvidia";
  if (has("rx ") || has("radeon") || has("amd")) return "amd";
  return "other";
}

}  // namespace

Prediction PredictLlamacppSpeed(const ScoreInput& input) {
  const ScoreSettings& s = input.settings;
  if (input.config == nullptr) return LeftOut{input.no_config};
  if (input.device == nullptr) return LeftOut{"the device is not known"};
  const auto test = TestOf(s.Text("test").value_or(""));
  if (!test) return LeftOut{"what was timed is not told"};
  LlamaRequest request;
  request.config = input.config;
  request.device = input.device;
  request.recipe = RecipeOf(s);
  constexpr double kGib = 1073741824.0;
  if (const auto size = s.Real("model_size_gib"); size && *size > 0) {
    request.file_bytes = *size * kGib;
  }
  request.backend = s.Text("backend").value_or("");
  if (s.Text("device").value_or("").find("Vulkan") != std::string::npos) {
    request.backend = "Vulkan";
  }
  request.devices = s.Integer("device_count").value_or(1);
  request.device_layers = s.Integer("n_gpu_layers");
  request.has_flash = IsFlash(s);
  request.is_early = IsEarly(s.Text("build").value_or(""));
  request.is_tool = test->is_tool;
  const auto job = LlamaJobOf(request);
  if (const auto* why = std::get_if<std::string>(&job)) return LeftOut{*why};
  const LlamaJob& found = std::get<LlamaJob>(job);
  const double rate = test->is_prompt ? LlamaPrompt(found, test->load)
                                      : LlamaGeneration(found, test->load);
  const double spread =
      std::exp(test->is_prompt ? kLlamaPromptSpread : kLlamaGenerationSpread);
  return std::vector<Predicted>{
      {test->is_prompt ? kPrompt : kGeneration,
       AnyFigure::Estimated(Unit::kTokens, rate, rate / spread, rate * spread,
                            "a second")}};
}

std::vector<Measured> MeasureLlamacppSpeed(const ConfigValue& row) {
  const ScoreSettings s(row, kMeasuredPaths);
  const auto rate = s.Real("tokens_per_s");
  const auto test = TestOf(s.Text("test").value_or(""));
  if (!rate || *rate <= 0 || !test) return {};
  const std::string quantity = test->is_prompt ? kPrompt : kGeneration;
  return {MeasuredNumber(
      quantity, *rate,
      {quantity, quantity + "." + ClassOf(s.Text("device").value_or(""))})};
}

}  // namespace foretell
