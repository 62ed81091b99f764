// Measured runs of inference: first tokens, tokens, whole requests, rates.
//
// A row's load is one of three, told by its settings and by what was measured:
// requests in flight at steady state (a concurrency or a rate, with first and
// further tokens timed), a batch that starts and ends together, or a full
// queue from which the engine takes what its cache holds. `predict` answers
// for all that the settings allow; `measure` names which one a figure is.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/served_job.h"

namespace foretell {
namespace {

constexpr char kFirstFlight[] = "first token, in flight";
constexpr char kTokenFlight[] = "token, in flight";
constexpr char kRateFlight[] = "output tokens/s, in flight";
constexpr char kFirstAtOnce[] = "first token";
constexpr char kTokenAtOnce[] = "token";
constexpr char kRateAtOnce[] = "output tokens/s";
constexpr char kRateQueue[] = "output tokens/s, full queue";

// Prompts of rows that name none are one short question.
constexpr double kShortPrompt = 32;
constexpr double kShortAnswer = 128;

constexpr std::string_view kMeasuredPaths[] = {"engine", "batch_or_concurrency",
                                               "isl", "osl", "measured"};

// "request rate 4/s", "rate 20/s"; nothing where all requests come at once.
std::optional<double> RateOf(const std::string& load) {
  const size_t at = load.find("rate ");
  const size_t unit = load.find("/s");
  if (at == std::string::npos || unit == std::string::npos) return {};
  const double rate = std::strtod(load.c_str() + at + 5, nullptr);
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

bool IsFullQueue(const std::string& load) {
  return load.starts_with("offline");
}

std::variant<ServedShape, std::string> ShapeOfRow(const ScoreInput& input) {
  if (input.config != nullptr) return ShapeOfConfig(*input.config);
  const auto layers = input.settings.Integer("extra.layers");
  const auto hidden = input.settings.Integer("extra.hidden");
  const auto heads = input.settings.Integer("extra.heads");
  const auto words = input.settings.Integer("extra.vocab");
  if (!layers || !hidden || !heads || !words) return input.no_config;
  return ShapeOfPlainDecoder(
      {.layers = *layers, .hidden = *hidden, .query_heads = *heads}, *words);
}

ServedRequest RequestOf(const ScoreInput& input, bool has_experts) {
  const ScoreSettings& s = input.settings;
  ServedRequest out;
  out.config = input.config;
  out.device = input.device;
  out.engine = EngineNamed(s.Text("engine").value_or(""),
                           s.Text("engine_version").value_or(""));
  out.precision = s.Text("precision").value_or("");
  out.cache = s.Text("kv_cache_dtype").value_or("");
  const int64_t cards = s.Integer("gpu_count").value_or(1);
  const bool is_split = out.engine != "hf" && out.engine != "autoawq" &&
                        out.engine != "eager" && out.engine != "exllama";
  out.tensor = s.Integer("tp").value_or(is_split ? cards : 1);
  out.pipeline = s.Integer("pp").value_or(1);
  out.data = s.Integer("dp").value_or(1);
  const int64_t experts = s.Integer("ep").value_or(1);
  if (has_experts) {
    out.expert_ranks = experts;
    out.expert_tensor =
        experts > 1 ? std::max<int64_t>(1, out.tensor * out.data / experts)
                    : out.tensor;
  }
  const std::string gpu = s.Text("gpu").value_or("");
  // 330 of an A100's 400 W: what its memory and its clocks then attain.
  constexpr double kLimited = 0.86;
  if (gpu.find("power limited") != std::string::npos) {
    out.clock_share = kLimited;
  }
  return out;
}

void AddInFlight(const ServedSetting& setting, const ServedLoad& load,
                 Reach reach, bool is_first_told, std::vector<Predicted>& out) {
  const ServedPoint point = ServedSteadily(setting.job, load);
  const auto add = [&](const char* name, Unit unit, double value,
                       ServedQuantity quantity) {
    out.push_back({name, SpeedFigure(unit, value, quantity, reach)});
  };
  if (is_first_told) {
    add(kFirstFlight, Unit::kSeconds, point.first_token,
        ServedQuantity::kFirstToken);
  }
  add(kTokenFlight, Unit::kSeconds, point.token, ServedQuantity::kToken);
  add(kRateFlight, Unit::kTokens, point.requests_a_second * load.osl,
      ServedQuantity::kThroughput);
}

}  // namespace

Prediction PredictInferenceSpeed(const ScoreInput& input) {
  if (input.device == nullptr) return LeftOut{"the card is not known"};
  auto shape = ShapeOfRow(input);
  if (auto* why = std::get_if<std::string>(&shape)) {
    return LeftOut{std::move(*why)};
  }
  ServedRequest request =
      RequestOf(input, std::get<ServedShape>(shape).expert_count > 1);
  request.shape = std::get<ServedShape>(shape);
  const auto found = SettingOf(request);
  if (const auto* missing = std::get_if<std::string>(&found)) {
    return LeftOut{*missing + " is not known"};
  }
  const ServedSetting& setting = std::get<ServedSetting>(found);
  const ScoreSettings& s = input.settings;
  ServedLoad load;
  load.isl = s.Real("isl").value_or(kShortPrompt);
  load.osl = std::max(s.Real("osl").value_or(kShortAnswer), 1.0);
  std::vector<Predicted> out;
  const std::string words = s.Text("batch_or_concurrency").value_or("");
  if (IsFullQueue(words)) {
    out.push_back(
        {kRateQueue,
         SpeedFigure(Unit::kTokens, ServedThroughput(setting.job, load),
                     ServedQuantity::kThroughput, setting.reach)});
    return out;
  }
  if (const auto rate = RateOf(words)) {
    load.rate = *rate;
    AddInFlight(setting, load, setting.reach, true, out);
    return out;
  }
  const auto batch = s.Real("batch_or_concurrency");
  if (!batch || *batch < 1) return LeftOut{"how many requests is not stated"};
  load.concurrency = *batch;
  // Rows state how many requests are in flight, not how many were sent in all.
  // A first token waits for half of the others' prompts where all came at once
  // and for few where they had drifted apart, which is several times less: it
  // is not told. Tokens and rates are those of one wave.
  load.waves = 1;
  const bool is_lone = *batch <= 1;
  AddInFlight(setting, load, is_lone ? setting.reach : Reach::kOutside, is_lone,
              out);
  const double all = ServedAtOnce(setting.job, load);
  ServedLoad first = load;
  first.osl = 1;
  const auto add = [&](const char* name, Unit unit, double value,
                       ServedQuantity quantity = ServedQuantity::kRequest) {
    out.push_back({name, SpeedFigure(unit, value, quantity, setting.reach)});
  };
  add(kFirstAtOnce, Unit::kSeconds, ServedAtOnce(setting.job, first),
      ServedQuantity::kPrompt);
  add(kTokenAtOnce, Unit::kSeconds,
      DecodeTime(setting.job, *batch / setting.job.data,
                 load.isl + load.osl * 0.5, load.isl + load.osl)
          .Total());
  add(kRateAtOnce, Unit::kTokens, *batch * load.osl / all);
  return out;
}

std::vector<Measured> MeasureInferenceSpeed(const ConfigValue& row) {
  const ScoreSettings s(row, kMeasuredPaths);
  const auto positive = [&s](std::string_view path) {
    const auto value = s.Real(path);
    return value && *value > 0 ? value : std::nullopt;
  };
  const auto first = positive("measured.ttft_ms");
  const auto token = positive("measured.tpot_ms");
  const auto prompt_rate = positive("measured.prefill_tok_s");
  const auto own_rate = positive("measured.decode_tok_s_per_user");
  const auto rate = positive("measured.total_output_tok_s");
  const auto all_rate = positive("measured.total_tok_s");
  const auto whole = positive("measured.e2e_latency_ms");
  const auto isl = s.Real("isl");
  const auto osl = s.Real("osl");
  const auto batch = positive("batch_or_concurrency");
  const std::string words = s.Text("batch_or_concurrency").value_or("");
  const bool is_stream = batch && *batch == 1;
  // A prompt by itself stands under its own group: a stream is its tokens.
  const auto groups = [is_stream](std::string_view name) {
    std::vector<std::string> out = {std::string(name)};
    if (is_stream && name != "ttft") out.emplace_back("single_stream");
    return out;
  };
  std::vector<Measured> out;
  if (IsFullQueue(words)) {
    if (rate) {
      out.push_back(MeasuredNumber(kRateQueue, *rate, groups("throughput")));
    }
    return out;
  }
  const std::string engine = EngineNamed(s.Text("engine").value_or(""), "");
  // Those time a batch by itself.
  const bool is_batch = engine == "neuron" || engine == "turbomind";
  const bool in_flight = RateOf(words).has_value() ||
                         (first && token && batch && *batch > 1 && !is_batch);
  constexpr double kMilli = 1e-3;
  const char* first_name = in_flight ? kFirstFlight : kFirstAtOnce;
  if (first) {
    out.push_back(MeasuredNumber(first_name, *first * kMilli, groups("ttft")));
  } else if (prompt_rate && isl && *isl > 0) {
    const double prompts = in_flight ? 1.0 : batch.value_or(1.0);
    out.push_back(MeasuredNumber(first_name, *isl * prompts / *prompt_rate,
                                 groups("ttft")));
  }
  const char* token_name = in_flight ? kTokenFlight : kTokenAtOnce;
  // A user's rate is of decoding alone where the prompt was timed apart, or
  // none is stated; else it is over the whole request.
  const bool is_pure = token || prompt_rate || !isl || !osl;
  if (token) {
    out.push_back(MeasuredNumber(token_name, *token * kMilli, groups("tpot")));
  } else if (own_rate && is_pure) {
    out.push_back(MeasuredNumber(token_name, 1 / *own_rate, groups("tpot")));
  } else if (!in_flight && osl && batch) {
    std::optional<double> tokens_a_second = rate;
    if (whole) {
      tokens_a_second = *osl * *batch / (*whole * kMilli);
    } else if (own_rate) {
      tokens_a_second = *own_rate * *batch;
    } else if (!rate && all_rate && isl) {
      tokens_a_second = *all_rate * *osl / (*isl + *osl);
    }
    if (tokens_a_second) {
      out.push_back(
          MeasuredNumber(kRateAtOnce, *tokens_a_second, groups("throughput")));
    }
  }
  if (in_flight && rate) {
    out.push_back(MeasuredNumber(kRateFlight, *rate, groups("throughput")));
  }
  return out;
}

}  // namespace foretell
