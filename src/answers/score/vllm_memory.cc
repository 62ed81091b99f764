// The set `vllm_memory`: what one start of vLLM printed of its memory.
//
// Quantities: "weights", "activation", "graphs" and "kv" by the launch alone;
// "print": the tokens that the printed KV GiB allows, whose rounding leaves an
// interval; "start": ran, refused, or too near to tell.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "answers/score/launch_words.h"
#include "answers/score/score_sets.h"
#include "answers/serving_memory.h"
#include "engines/vllm/kv_account.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;
constexpr int64_t kMostCards = 64;
// Where the launch is refused before they are known.
constexpr int64_t kAnyLength = 8192;
constexpr int64_t kAnyBatch = 2048;
constexpr int64_t kAnyRequests = 256;

struct Start {
  std::optional<RecordedLaunch> launch;
  Bytes total;
  bool is_v1 = true;
};

// The card by the words of its name: its name in the catalogue and what the
// runtime reported as its total in published starts; 0 where none is known.
struct CardWords {
  std::string_view word;
  std::string_view card;
  double gib;
};
constexpr CardWords kCards[] = {
    {"MIG 1g", "A100-40", 4.75},
    {"H100", "H100", 79.18},
    {"GH200", "H200", 94.5},
    {"H200", "H200", 139.81},
    {"H20 ", "H200", 139.81},
    {"GB200", "B200", 184.31},
    {"B300", "B200", 267.69},
    {"B200", "B200", 178.0},
    {"A100-SXM4-4", "A100-40", 39.5},
    {"A100 40", "A100-40", 39.5},
    {"A100", "A100", 79.25},
    {"MI300", "H200", 191.7},
    {"L40", "L40S", 44.39},
    {"L4", "L4", 22.16},
    {"T4", "T4", 14.74},
    {"3090", "RTX3090", 23.58},
    {"4090 48", "RTX4090", 47.37},
    {"4090", "RTX4090", 23.53},
    {"5090", "RTX5090", 31.4},
    {"PRO 600", "RTX5090", 94.97},
    {"A5000", "RTX3090", 23.68},
    {"3060", "RTX3090", 11.76},
    {"V100", "V100", 31.74},
    {"170HX", "A100-40", 64.0},
    {"Turing", "T4", 21.5},
    {"GB10", "RTX5090", 121.6},
};

// What moves memory, of the flags that records show whole.
constexpr std::string_view kSwitches[] = {
    "--enable-prefix-caching", "--no-enable-prefix-caching", "--enforce-eager",
    "--language-model-only", "--enable-expert-parallel"};
constexpr std::string_view kValued[] = {"--mamba-cache-mode",
                                        "--mamba-ssm-cache-dtype",
                                        "--mamba-cache-dtype",
                                        "--decode-context-parallel-size",
                                        "--kv-cache-memory-bytes",
                                        "--attention-backend",
                                        "--dtype",
                                        "--cpu-offload-gb"};

void AddFlag(std::vector<std::string>& argv, const ScoreSettings& settings,
             std::string_view field, const char* flag) {
  if (const auto value = settings.Integer(field)) {
    argv.emplace_back(flag);
    argv.push_back(fmt::format("{}", *value));
  }
}

Start ReadStart(const ScoreInput& input) {
  Start out;
  const ScoreSettings& s = input.settings;
  std::vector<std::string> argv = {s.Text("model").value_or("")};
  // A record's launch line may hold remarks and elisions: only flags that
  // stand whole are taken.
  std::istringstream words(s.Text("launch").value_or(""));
  std::vector<std::string> parts;
  for (std::string word; words >> word;) parts.push_back(word);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string flag = parts[i];
    std::string value;
    const size_t equals = flag.find('=');
    if (equals != std::string::npos) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    std::ranges::replace(flag, '_', '-');
    const bool is_switch =
        std::ranges::find(kSwitches, flag) != std::end(kSwitches);
    if (!is_switch && std::ranges::find(kValued, flag) == std::end(kValued)) {
      continue;
    }
    argv.push_back(flag);
    if (is_switch) continue;
    if (value.empty() && i + 1 < parts.size()) value = parts[++i];
    argv.push_back(value);
  }
  // Its value is JSON, with blanks.
  const std::string line = s.Text("launch").value_or("");
  const size_t drafter = line.find("--speculative-config");
  const size_t open =
      drafter == std::string::npos ? drafter : line.find('{', drafter);
  const size_t close = open == std::string::npos ? open : line.find('}', open);
  if (close != std::string::npos) {
    argv.emplace_back("--speculative-config");
    argv.push_back(line.substr(open, close - open + 1));
  }
  AddFlag(argv, s, "tp", "--tensor-parallel-size");
  AddFlag(argv, s, "pp", "--pipeline-parallel-size");
  AddFlag(argv, s, "max_model_len", "--max-model-len");
  AddFlag(argv, s, "max_num_seqs", "--max-num-seqs");
  AddFlag(argv, s, "max_num_batched_tokens", "--max-num-batched-tokens");
  AddFlag(argv, s, "block_size", "--block-size");
  std::string cache = s.Text("kv_cache_dtype").value_or("");
  cache = cache.substr(0, cache.find(' '));
  if (!cache.empty() && cache != "auto") {
    argv.emplace_back("--kv-cache-dtype");
    argv.push_back(cache);
  }
  const std::string gpu = s.Text("gpu").value_or("");
  const CardWords* known = nullptr;
  for (const CardWords& at : kCards) {
    if (gpu.find(at.word) != std::string::npos) {
      known = &at;
      break;
    }
  }
  // A row without a version is of the release that was new at its date.
  const std::string date = s.Text("source.date").value_or("2025-10");
  const EngineVersion at_date{0,
                              date >= "2026-08"   ? 27
                              : date >= "2026-06" ? 23
                              : date >= "2026-03" ? 19
                              : date >= "2025-12" ? 13
                              : date >= "2025-08" ? 11
                                                  : 8,
                              0};
  const EngineVersion version =
      ParseEngineVersion(s.Text("engine_version").value_or(""))
          .value_or(at_date);
  out.is_v1 = s.Text("engine_gen").value_or("v1") != "v0";
  out.launch = ReadRecordedLaunch(
      input, argv, known == nullptr ? "RTX4090" : std::string(known->card),
      version, s.Integer("gpu_count").value_or(kMostCards));
  if (!out.launch) return out;
  ServingSettings& settings = out.launch->settings;
  settings.version = version;
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
  if (settings.max_model_len <= 0) {
    settings.max_model_len = s.Integer("max_model_len").value_or(kAnyLength);
  }
  if (settings.dtype.empty()) settings.dtype = "bfloat16";
  if (settings.max_num_batched_tokens <= 0) {
    settings.max_num_batched_tokens = kAnyBatch;
  }
  if (settings.max_num_seqs <= 0) settings.max_num_seqs = kAnyRequests;
  if (const auto stated = s.Text("quantization")) {
    // A checkpoint's name often says how wide: "…-quantized.w4a16".
    settings.quantization = *stated + " " + s.Text("model").value_or("");
  }
  if (s.Flag("enforce_eager").value_or(false)) settings.enforce_eager = true;
  const double standard =
      settings.version >= EngineVersion{0, 23, 0} ? 0.92 : 0.9;
  settings.gpu_memory_utilization =
      s.Real("gpu_memory_utilization").value_or(standard);
  const auto total = s.Real("total_gpu_memory_gib");
  if (total) {
    out.total = Bytes::Estimated(*total * kGib, (*total - 0.006) * kGib,
                                 (*total + 0.006) * kGib, "printed");
  } else if (known != nullptr && known->gib > 0) {
    out.total = Bytes::Estimated(known->gib * kGib, known->gib * 0.997 * kGib,
                                 known->gib * 1.003 * kGib,
                                 "other starts on such a card");
  } else {
    out.total = Bytes::Unknown("the card's memory");
  }
  return out;
}

}  // namespace

Prediction PredictVllmMemory(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  const Start start = ReadStart(input);
  if (!start.launch) return LeftOut{"a card that the catalogue lacks"};
  const ServingSettings& settings = start.launch->settings;
  const vllm::MemoryAccount memory =
      ServingMemory(*input.config, settings, start.total, {start.is_v1, true});
  std::vector<Predicted> out;
  out.push_back({"weights", memory.weights.any()});
  out.push_back({"activation", memory.activation.any()});
  out.push_back({"graphs", memory.graphs.any()});
  // A row that names no card that is known cannot be asked for what is left.
  if (!start.total.any().is_unknown()) {
    out.push_back({"kv", memory.cache.any()});
  }
  const vllm::KvAccount account =
      vllm::AccountKvCache(*input.config, settings, start.launch->card);
  if (const auto printed = input.settings.Real("measured.kv_available_gib");
      printed && account.fault.empty()) {
    // Two decimals: half a hundredth either way.
    const auto at = [&](double gib) {
      return PlanKvCache(account, static_cast<int64_t>(gib * kGib),
                         start.launch->is_length_fitted);
    };
    const vllm::KvPlan low = at(*printed - 0.0051);
    const vllm::KvPlan high = at(*printed + 0.0051);
    if (high.verdict == vllm::KvVerdict::kAccepted) {
      const auto most = static_cast<double>(high.printed_tokens);
      const double least = low.verdict == vllm::KvVerdict::kAccepted
                               ? static_cast<double>(low.printed_tokens)
                               : 0;
      out.push_back(
          {"print", AnyFigure::Estimated(Unit::kTokens, (least + most) / 2,
                                         least, most, "of the printed GiB")});
    } else {
      out.push_back(
          {"print", AnyFigure::Unknown(Unit::kTokens, "it would be refused")});
    }
  }
  if (account.fault.empty()) {
    vllm::KvRequestSize request = account.input.request;
    const int64_t needed = vllm::Times(
        vllm::BlockBytes(account.input.grouping.groups,
                         account.input.is_block_outermost),
        vllm::RequestBlocks(account.input.grouping.groups, request, false));
    const vllm::FitVerdict fit = FitOf(memory, needed);
    out.push_back({"start", fit == vllm::FitVerdict::kDoesNotFit
                                ? std::string("refused")
                            : fit == vllm::FitVerdict::kFits
                                ? std::string("ran")
                                : std::string("cannot tell")});
  }
  return out;
}

std::vector<Measured> MeasureVllmMemory(const ConfigValue& row) {
  std::vector<Measured> out;
  const auto real = [&](std::string_view path) -> std::optional<double> {
    const ConfigValue* value = FieldAt(row, path);
    return value == nullptr ? std::nullopt : value->AsReal();
  };
  const auto text = [&](std::string_view path) {
    const ConfigValue* value = FieldAt(row, path);
    return value == nullptr ? std::string()
                            : std::string(value->AsString().value_or(""));
  };
  if (const auto weights = real("measured.weights_gib")) {
    out.push_back(MeasuredNumber("weights", *weights * kGib, {"weights"}));
  }
  if (const auto peak = real("measured.activation_peak_gib")) {
    out.push_back(MeasuredNumber("activation", *peak * kGib, {"activation"}));
  }
  if (const auto graphs = real("measured.cuda_graph_gib");
      graphs && *graphs > 0) {
    out.push_back(MeasuredNumber("graphs", *graphs * kGib, {"graphs"}));
  }
  const auto kv = real("measured.kv_available_gib");
  const bool is_v1 = text("engine_gen") == "v1";
  if (kv && *kv > 0) {
    std::vector<std::string> groups;
    if (is_v1 && !text("engine_version").empty()) {
      groups.emplace_back("kv_available");
    }
    out.push_back(MeasuredNumber("kv", *kv * kGib, groups));
    if (const auto tokens = real("measured.kv_tokens")) {
      Measured print = MeasuredNumber("print", *tokens, {"print"});
      print.comparison = Comparison::kCovered;
      out.push_back(print);
    }
  }
  const bool is_refused = !text("refused").empty();
  out.push_back(
      MeasuredText("start", is_refused ? "refused" : "ran", {"starts"}));
  return out;
}

void FinishVllmMemory(const std::vector<Score>& scores, ScoreGroups& groups) {
  double ran = 0;
  double blocked = 0;
  double refused = 0;
  double told = 0;
  double near = 0;
  for (const Score& score : scores) {
    if (score.quantity != "start") continue;
    const bool did_run = score.measured == "ran";
    (did_run ? ran : refused) += 1;
    if (score.predicted == "cannot tell") near += 1;
    if (did_run && score.predicted == "refused") blocked += 1;
    if (!did_run && score.predicted == "refused") told += 1;
  }
  const auto found = groups.find("starts");
  if (found == groups.end()) return;
  ScoreFigures& group = found->second;
  group["ran"] = ran;
  group["ran_blocked"] = blocked;
  group["refused"] = refused;
  group["refused_told"] = told;
  group["cannot_tell"] = near;
}

}  // namespace foretell
