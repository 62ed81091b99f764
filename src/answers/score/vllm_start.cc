#include "answers/score/vllm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/serving_weights.h"
#include "base/lower_case.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;
constexpr int64_t kMostCards = 64;
// Where the launch is refused before they are known.
constexpr int64_t kAnyLength = 8192;
constexpr int64_t kAnyBatch = 2048;
constexpr int64_t kAnyRequests = 256;

// The card by the words of its name: its name in the catalogue and what the
// runtime reported as its total in published starts; 0: the catalogue's.
struct CardWords {
  std::string_view word;
  std::string_view card;
  double gib = 0;
  bool is_nvidia = true;
};
constexpr CardWords kCards[] = {
    {"MIG 1g", "A100-40", 4.75},
    {"GH200", "gh200-96gb", 94.5},
    {"H100 NVL", "h100-nvl"},
    {"H100", "H100", 79.18},
    {"H200", "H200", 139.81},
    {"H20 ", "h20-3e", 139.81},
    {"GB200", "B200", 184.31},
    {"GB300", "b300", 276.62},
    {"B300", "b300", 267.69},
    {"B200", "B200", 178.35},
    {"170HX", "A100-40", 64.0},
    {"A100-SXM4-4", "A100-40", 39.5},
    {"A100 40", "A100-40", 39.5},
    {"A100 PCIe 40", "A100-40", 39.5},
    {"A100-PCIE-40", "A100-40", 39.5},
    {"A100", "A100", 79.25},
    {"MI300X", "H200", 191.98, false},
    {"MI325", "H200", 255.7, false},
    {"MI355", "B200", 287.5, false},
    {"MI50", "V100", 31.98, false},
    {"ROCm", "A100", 0, false},
    {"B60", "RTX4090", 22.71, false},
    {"Arc", "RTX4090", 0, false},
    {"Ascend", "A100", 61.1, false},
    {"910B", "A100", 61.1, false},
    {"A10G", "a10g", 22.06},
    {"A6000", "rtx-a6000", 47.53},
    {"A5000", "rtx-a5000", 23.68},
    {"A40 ", "a40", 44.35},
    {"L40", "L40S", 44.39},
    {"L4", "L4", 22.16},
    {"T4", "T4", 14.74},
    {"4090 48", "RTX4090", 47.37},
    {"3090", "RTX3090", 23.58},
    {"4090", "RTX4090", 23.53},
    {"5090", "RTX5090", 31.4},
    {"3060", "rtx-3060-12gb", 11.76},
    {"RTX 6000D", "rtx-6000d", 83.05},
    {"PRO 600", "rtx-pro-6000-blackwell-server", 94.97},
    {"V100", "V100", 31.74},
    {"Turing", "T4", 21.5},
    {"GB10", "gb10", 121.65},
    {"Thor", "jetson-thor-t5000", 122.8},
};

// What moves memory, of the flags that records show whole; underscored.
constexpr std::string_view kSwitches[] = {
    "enable_prefix_caching",  "no_enable_prefix_caching",
    "enable_chunked_prefill", "no_enable_chunked_prefill",
    "enforce_eager",          "language_model_only",
    "enable_expert_parallel", "enable_lora",
    "fully_sharded_loras",    "skip_mm_profiling",
    "async_scheduling",       "disable_hybrid_kv_cache_manager"};
constexpr std::string_view kValued[] = {"mamba_cache_mode",
                                        "mamba_ssm_cache_dtype",
                                        "mamba_cache_dtype",
                                        "decode_context_parallel_size",
                                        "kv_cache_memory_bytes",
                                        "attention_backend",
                                        "dtype",
                                        "cpu_offload_gb",
                                        "max_lora_rank",
                                        "max_loras",
                                        "max_num_seqs",
                                        "limit_mm_per_prompt",
                                        "compilation_config",
                                        "mm_encoder_tp_mode",
                                        "runner",
                                        "moe_backend",
                                        "speculative_config"};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Words as a shell splits them; quotes hold blanks, and so do braces of JSON
// that stands without quotes.
std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  char quote = 0;
  int depth = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (depth == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == ' ' && depth == 0) {
      if (!word.empty()) out.push_back(std::exchange(word, {}));
    } else {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      word += c;
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

// A prediction layer of the model's own that words tell of: "+ built-in MTP
// n=3", "MTP 2 tokens", "MTP, 3 draft tokens". 0 where there is none, -1 where
// its number is not stated.
int64_t DraftedTokens(const std::string& text) {
  constexpr size_t kWord = 3;
  size_t at = text.find("MTP");
  // Within a checkpoint's name it tells what the files hold.
  while (at != std::string::npos &&
         ((at > 0 && text[at - 1] == '-') ||
          (at + kWord < text.size() && text[at + kWord] == '-'))) {
    at = text.find("MTP", at + kWord);
  }
  if (at == std::string::npos) return 0;
  constexpr size_t kBefore = 12;
  const size_t start = at < kBefore ? 0 : at - kBefore;
  const std::string before = text.substr(start, at - start);
  if (Has(before, "without") || Has(before, "no ")) return 0;
  constexpr size_t kNear = 20;
  for (size_t i = at + kWord + 1; i < text.size() && i < at + kNear; ++i) {
    const bool is_apart = text[i - 1] == ' ' || text[i - 1] == '=';
    const bool is_last =
        i + 1 == text.size() || text[i + 1] < '0' || text[i + 1] > '9';
    if (is_apart && is_last && text[i] >= '1' && text[i] <= '9') {
      return text[i] - '0';
    }
  }
  return -1;
}

// A drafter that is another model, and what tells of it.
bool NamesOtherDrafter(const std::string& text) {
  const std::string lower = Lower(text);
  return Has(lower, "dflash") || Has(lower, "dspark") || Has(lower, "eagle") ||
         Has(lower, "external draft") || Has(lower, "assistant");
}

bool IsCommand(const std::string& line) {
  return line.starts_with("vllm ") || line.starts_with("python") ||
         line.starts_with("docker") || line.starts_with("LLM(") ||
         line.starts_with("VLLM_");
}

void AddFlag(std::vector<std::string>& argv, const ScoreSettings& settings,
             std::string_view field, const char* flag) {
  if (const auto value = settings.Integer(field)) {
    argv.emplace_back(flag);
    argv.push_back(fmt::format("{}", *value));
  }
}

std::string Dashed(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

void AddWords(std::vector<std::string>& argv, const std::string& line) {
  const std::vector<std::string> parts = Words(line);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string name = parts[i];
    std::string value;
    const size_t equals = name.find('=');
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const bool is_flag = name.starts_with("--");
    // The offline class takes the same names as words of Python.
    if (!is_flag && !Has(name, "_")) continue;
    if (is_flag) name.erase(0, 2);
    while (!value.empty() && (value.back() == ',' || value.back() == ')')) {
      value.pop_back();
    }
    std::ranges::replace(name, '-', '_');
    if (std::ranges::find(kSwitches, name) != std::end(kSwitches)) {
      if (value != "False") argv.push_back(Dashed(name));
      continue;
    }
    if (std::ranges::find(kValued, name) == std::end(kValued)) continue;
    if (value.empty() && is_flag && i + 1 < parts.size()) value = parts[++i];
    if (value.empty() || value == "auto") continue;
    argv.push_back(Dashed(name));
    argv.push_back(value);
  }
}

std::vector<std::string> WordsOf(const ScoreSettings& s, RecordedStart& out) {
  // What came as far as printing its memory had the permission.
  std::vector<std::string> argv = {s.Text("model").value_or(""),
                                   "--trust-remote-code"};
  const std::string line = s.Text("launch").value_or("");
  AddWords(argv, line);
  const bool has_drafter =
      std::ranges::find(argv, "--speculative-config") != argv.end();
  if (!has_drafter) {
    int64_t drafted = DraftedTokens(line);
    if (drafted == 0) drafted = DraftedTokens(argv.front());
    if (drafted < 0) out.lacks = "how many tokens are drafted";
    if (NamesOtherDrafter(line)) out.lacks = "a drafter's configuration";
    if (drafted > 0) {
      argv.emplace_back("--speculative-config");
      argv.push_back(fmt::format(
          R"({{"method":"mtp","num_speculative_tokens":{}}})", drafted));
    }
  }
  AddFlag(argv, s, "tp", "--tensor-parallel-size");
  AddFlag(argv, s, "pp", "--pipeline-parallel-size");
  AddFlag(argv, s, "max_model_len", "--max-model-len");
  AddFlag(argv, s, "max_num_seqs", "--max-num-seqs");
  AddFlag(argv, s, "max_num_batched_tokens", "--max-num-batched-tokens");
  // Of models with states the field holds what the engine came to.
  constexpr int64_t kLargestGiven = 256;
  if (const auto block = s.Integer("block_size");
      block && *block <= kLargestGiven) {
    AddFlag(argv, s, "block_size", "--block-size");
  }
  if (std::ranges::find(argv, "--dtype") == argv.end()) {
    const std::string dtype = s.Text("dtype").value_or("");
    if (dtype == "float16" || dtype == "bfloat16" || dtype == "float32") {
      argv.emplace_back("--dtype");
      argv.push_back(dtype);
    }
  }
  std::string cache = s.Text("kv_cache_dtype").value_or("");
  cache = cache.substr(0, cache.find(' '));
  if (cache.empty() && Has(Lower(line), "fp8 kv")) cache = "fp8";
  if (!cache.empty() && cache != "auto") {
    argv.emplace_back("--kv-cache-dtype");
    argv.push_back(cache);
  }
  return argv;
}

// A row without a version is of the release that was new at its date
// (PyPI's dates of vLLM's minor releases).
constexpr int kAnyPatch = 9;
EngineVersion VersionAt(const std::string& date) {
  constexpr std::pair<std::string_view, int> kReleases[] = {
      {"2026-11", 33}, {"2026-10", 31}, {"2026-09", 29}, {"2026-08", 27},
      {"2026-07", 24}, {"2026-06", 22}, {"2026-05", 20}, {"2026-04", 19},
      {"2026-03", 17}, {"2026-02", 15}, {"2026-01", 13}, {"2025-12", 12},
      {"2025-10", 11}, {"2025-08", 10}, {"2025-06", 9},  {"2025-03", 8},
      {"2025-02", 7}};
  for (const auto& [since, minor] : kReleases) {
    if (date >= since) return {0, minor, kAnyPatch};
  }
  return {0, 6, kAnyPatch};
}

// The configuration may be another checkpoint's of the same sizes: how that
// one is quantized says nothing of this row's, unless the format is the same.
ModelConfig QuantizedAs(const ScoreInput& input, const std::string& model,
                        const std::string& stated) {
  ModelConfig out = *input.config;
  const std::string own = QuantizationFormat(out);
  const bool is_plain = stated.empty() && Has(Lower(model), "bf16");
  if (own.empty() || FormatOfName(stated) == own) return out;
  if (stated.empty() && !is_plain) return out;
  const auto drop = [](ConfigValue& at) {
    std::erase_if(at.mutable_members(), [](const ConfigValue::Member& member) {
      return member.first == "quantization_config" ||
             member.first == "compression_config";
    });
  };
  drop(out.root);
  for (auto& [key, value] : out.root.mutable_members()) {
    if (value.is_object()) drop(value);
  }
  return out;
}

}  // namespace

RecordedStart ReadRecordedStart(const ScoreInput& input) {
  RecordedStart out;
  const ScoreSettings& s = input.settings;
  const std::string line = s.Text("launch").value_or("");
  const std::string model = s.Text("model").value_or("");
  if (Has(line, "fork") || Has(model, "fork") || Has(line, "patched") ||
      Has(line, "managed-memory")) {
    out.lacks = "the rules of a changed engine";
    return out;
  }
  if (Has(model, " or ")) {
    out.lacks = "which of several models";
    return out;
  }
  const std::vector<std::string> argv = WordsOf(s, out);
  if (!out.lacks.empty()) return out;
  const std::string gpu = s.Text("gpu").value_or("");
  const auto known = std::ranges::find_if(
      kCards, [&](const CardWords& at) { return Has(gpu, at.word); });
  const bool is_known = known != std::end(kCards);
  const EngineVersion version =
      ParseEngineVersion(s.Text("engine_version").value_or(""))
          .value_or(VersionAt(s.Text("source.date").value_or("2025-10")));
  out.is_v1 = s.Text("engine_gen").value_or("v1") != "v0";
  out.is_nvidia = !is_known || known->is_nvidia;
  out.is_amd = is_known && !known->is_nvidia &&
               (known->word.starts_with("MI") || known->word == "ROCm");
  std::string stated = s.Text("quantization").value_or("");
  // A checkpoint's name often says how wide: "…-quantized.w4a16".
  std::string named = stated + " " + model;
  // A tool that fetches its own files for a name.
  if (Has(line, "Unsloth")) named += " unsloth";
  if (stated.empty()) stated = FormatOfName(model);
  out.config = QuantizedAs(input, model, stated);
  auto launch = ReadRecordedLaunch(
      input, argv, is_known ? std::string(known->card) : "RTX4090", version,
      s.Integer("gpu_count").value_or(kMostCards), &out.config);
  if (!launch) {
    out.lacks = "a card that the catalogue knows";
    return out;
  }
  out.launch = std::move(*launch);
  ServingSettings& settings = out.launch.settings;
  settings.version = version;
  if (settings.speculative && !settings.speculative->draft &&
      !settings.speculative->model.empty() &&
      NamesOtherDrafter(settings.speculative->model + " " +
                        settings.speculative->method)) {
    out.lacks = "a drafter's configuration";
    return out;
  }
  // Where the launch is refused on the way, its words still count.
  const auto keep = [&](std::string_view field, int64_t& into) {
    if (const auto value = s.Integer(field); value && *value > 0) into = *value;
  };
  keep("tp", settings.tensor_parallel);
  keep("pp", settings.pipeline_parallel);
  keep("dp", settings.data_parallel);
  keep("max_model_len", settings.max_model_len);
  keep("max_num_seqs", settings.max_num_seqs);
  keep("max_num_batched_tokens", settings.max_num_batched_tokens);
  if (settings.pipeline_layers.size() !=
      static_cast<size_t>(settings.pipeline_parallel)) {
    settings.pipeline_layers.clear();
  }
  if (s.Integer("ep").value_or(1) > 1) settings.expert_parallel = true;
  if (settings.max_model_len <= 0) settings.max_model_len = kAnyLength;
  if (settings.dtype.empty()) settings.dtype = "bfloat16";
  if (settings.max_num_batched_tokens <= 0) {
    settings.max_num_batched_tokens = kAnyBatch;
  }
  if (settings.max_num_seqs <= 0) settings.max_num_seqs = kAnyRequests;
  if (!stated.empty()) settings.quantization = named;
  if (s.Flag("enforce_eager").value_or(false)) settings.enforce_eager = true;
  const auto share = s.Real("gpu_memory_utilization");
  const double standard = version >= EngineVersion{0, 23, 0} ? 0.92 : 0.9;
  settings.gpu_memory_utilization = share.value_or(standard);
  out.states_share = share.has_value() || IsCommand(line);
  out.states_print = settings.pipeline_parallel <= 1 &&
                     (s.Integer("max_model_len").has_value() ||
                      version < EngineVersion{0, 20, 2});
  const auto total = s.Real("total_gpu_memory_gib");
  const double gib = is_known ? known->gib : 0;
  if (total) {
    out.total = Bytes::Estimated(*total * kGib, (*total - 0.006) * kGib,
                                 (*total + 0.006) * kGib, "printed");
  } else if (gib > 0) {
    out.total =
        Bytes::Estimated(gib * kGib, gib * 0.997 * kGib, gib * 1.003 * kGib,
                         "other starts on such a card");
  } else if (is_known && known->is_nvidia &&
             out.launch.card.runtime_bytes > 0) {
    const ServingCard& card = out.launch.card;
    out.total = Bytes::Estimated(static_cast<double>(card.runtime_bytes),
                                 static_cast<double>(card.runtime_low),
                                 static_cast<double>(card.runtime_high),
                                 "the catalogue of accelerators");
  } else {
    out.total = Bytes::Unknown("the card's memory");
  }
  return out;
}

}  // namespace foretell
