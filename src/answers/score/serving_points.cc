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

// Lengths are nominal: benchmarks draw them at and below it.
constexpr double kNominalLength = 0.91;

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
  ServedLoad load;
  load.concurrency = *concurrency;
  load.isl = *isl * kNominalLength;
  load.osl = *osl;
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
