// Served models in flight at steady state on data-centre cards: first and
// further tokens at a concurrency. Rows whose layout its source doubts, and
// rows that split prompts from decoding over cards, are groups of their own.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/served_job.h"

namespace foretell {
namespace {

constexpr char kFirst[] = "ttft";
constexpr char kToken[] = "tpot";

// How the points were driven, which no row states. Loads of 1024 and 8192
// tokens are InferenceX's: ten requests of each client, lengths drawn between
// 0.8 of the nominal and all of it (RANDOM_RANGE_RATIO), and SGLang told to
// send several tokens at a time (--stream-interval 30 on Blackwell, 10 on
// Hopper) and, on Blackwell, to look for new requests after ten steps, thirty
// from sixteen clients on (--scheduler-recv-interval). Other loads have equal
// lengths: requests then stay together where prompts come first; engines that
// mix them with running requests draw them apart as unequal lengths do.
constexpr double kShortest = 0.8;
constexpr double kStreamedBlackwell = 30;
constexpr double kStreamedHopper = 10;
constexpr int64_t kPollFew = 10;
constexpr int64_t kPollMany = 30;
constexpr int64_t kMany = 16;

bool IsDrawn(double isl, double osl) {
  constexpr double kShort = 1024;
  constexpr double kLong = 8192;
  return (isl == kShort && (osl == kShort || osl == kLong)) ||
         (isl == kLong && osl == kShort);
}

ServedLoad LoadOf(const ServedJob& job, double concurrency, double isl,
                  double osl) {
  ServedLoad load;
  load.concurrency = concurrency;
  const bool is_drawn = IsDrawn(isl, osl);
  const bool is_sglang = job.engine.name == "sglang";
  if (is_drawn || !is_sglang) load.shortest = kShortest;
  const double mean = (1 + load.shortest) / 2;
  load.isl = isl * mean;
  load.osl = std::max(osl * mean, 1.0);
  if (is_drawn && is_sglang) {
    const bool is_blackwell = job.card.name == "blackwell";
    load.emitted_after = is_blackwell ? kStreamedBlackwell : kStreamedHopper;
    if (is_blackwell) load.poll = concurrency < kMany ? kPollFew : kPollMany;
  }
  return load;
}

constexpr std::string_view kMeasuredPaths[] = {
    "system", "framework", "mode", "suspect", "ttft_ms", "tpot_ms"};

bool IsClean(const ScoreSettings& s) {
  const ConfigValue* suspect = s.Get("suspect");
  return suspect == nullptr || !suspect->is_array() || suspect->items().empty();
}

}  // namespace

Prediction PredictServingPoint(const ScoreInput& input) {
  const ScoreSettings& s = input.settings;
  if (s.Text("mode").value_or("") != "agg") {
    return LeftOut{"prompts are served by other cards than decoding"};
  }
  if (input.config == nullptr) return LeftOut{input.no_config};
  if (input.device == nullptr) return LeftOut{"the card is not known"};
  const auto concurrency = s.Real("concurrency");
  const auto isl = s.Real("isl");
  const auto osl = s.Real("osl");
  if (!concurrency || !isl || !osl || *concurrency < 1 || *osl < 1) {
    return LeftOut{"the load is not stated"};
  }
  auto shape = ShapeOfConfig(*input.config);
  if (auto* why = std::get_if<std::string>(&shape)) {
    return LeftOut{std::move(*why)};
  }
  ServedRequest request;
  request.config = input.config;
  request.shape = std::get<ServedShape>(shape);
  request.device = input.device;
  request.engine = EngineNamed(s.Text("framework").value_or(""), "");
  request.precision = s.Text("quant.precision").value_or("");
  request.cache = s.Text("quant.kv_cache").value_or("");
  request.tensor = std::max<int64_t>(s.Integer("parallel.tp").value_or(1), 1);
  const bool has_experts = request.shape->expert_count > 1;
  const int64_t experts =
      std::max<int64_t>(s.Integer("parallel.moe_ep").value_or(1), 1);
  const int64_t split =
      std::max<int64_t>(s.Integer("parallel.moe_tp").value_or(1), 1);
  request.data = 1;
  if (const auto data = s.Integer("parallel.dp")) {
    request.data = std::max<int64_t>(*data, 1);
  } else if (has_experts) {
    request.data = std::max<int64_t>(1, experts * split / request.tensor);
  }
  if (has_experts) {
    request.expert_ranks = experts;
    request.expert_tensor = split;
  }
  const auto found = SettingOf(request);
  if (const auto* missing = std::get_if<std::string>(&found)) {
    return LeftOut{*missing + " is not known"};
  }
  const ServedSetting& setting = std::get<ServedSetting>(found);
  const ServedLoad load = LoadOf(setting.job, *concurrency, *isl, *osl);
  const ServedPoint point = ServedSteadily(setting.job, load);
  return std::vector<Predicted>{
      {kFirst, SpeedFigure(Unit::kSeconds, point.first_token,
                           ServedQuantity::kFirstToken, setting.reach)},
      {kToken, SpeedFigure(Unit::kSeconds, point.token, ServedQuantity::kToken,
                           setting.reach)}};
}

std::vector<Measured> MeasureServingPoint(const ConfigValue& row) {
  const ScoreSettings s(row, kMeasuredPaths);
  const std::string engine = s.Text("framework").value_or("");
  const std::string system = s.Text("system").value_or("");
  const bool is_clean = IsClean(s);
  std::vector<Measured> out;
  constexpr double kMilli = 1e-3;
  for (const char* name : {kFirst, kToken}) {
    const auto value = s.Real(std::string(name) + "_ms");
    if (!value || *value <= 0) continue;
    const std::string kind = is_clean ? name : std::string("suspect.") + name;
    std::vector<std::string> groups = {kind};
    if (is_clean) {
      groups.push_back(kind + "." + engine);
      groups.push_back(kind + "." + system);
    }
    out.push_back(MeasuredNumber(name, *value * kMilli, std::move(groups)));
  }
  return out;
}

}  // namespace foretell
