// The set `vllm_memory`: what one start of vLLM printed of its memory.
//
// Quantities: "weights", "activation", "graphs" and "kv" by the launch alone;
// "print": the tokens that the printed KV GiB allows, whose rounding leaves an
// interval; "start": ran, refused, or too near to tell.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/score/vllm_start.h"
#include "answers/serving_memory.h"
#include "engines/vllm/kv_account.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;

}  // namespace

Prediction PredictVllmMemory(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  const RecordedStart start = ReadRecordedStart(input);
  if (!start.lacks.empty()) return LeftOut{start.lacks};
  const ServingSettings& settings = start.launch.settings;
  const ServingCard& card = start.launch.card;
  const vllm::MemoryAccount memory =
      ServingMemory(start.config, settings, start.total,
                    {.is_v1 = start.is_v1,
                     .is_nvidia = start.is_nvidia,
                     .is_amd = start.is_amd,
                     .capability = card.capability,
                     .is_unified = card.unified});
  std::vector<Predicted> out;
  out.push_back({"weights", memory.weights.any()});
  // "consumed memory (weights + non-torch)": since then the printed peak takes
  // the estimate of graphs in (v1/worker/gpu_worker.py of 0.27.1).
  const bool is_one_figure = settings.version > EngineVersion{0, 26, 0};
  const Bytes peak = is_one_figure ? memory.activation + memory.graph_estimate
                                   : memory.activation;
  out.push_back({"activation", peak.any()});
  out.push_back({"graphs", memory.graphs.any()});
  // A row that names no card that is known cannot be asked for what is left.
  const bool has_budget = !start.total.any().is_unknown() && start.states_share;
  if (has_budget) out.push_back({"kv", memory.cache.any()});
  const vllm::KvAccount account =
      vllm::AccountKvCache(start.config, settings, card);
  const auto printed = input.settings.Real("measured.kv_available_gib");
  if (printed && account.fault.empty() && start.states_print) {
    // Two decimals: half a hundredth either way.
    const auto at = [&](double gib) {
      return PlanKvCache(account, static_cast<int64_t>(gib * kGib),
                         start.launch.is_length_fitted);
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
  if (account.fault.empty() && has_budget) {
    const vllm::KvRequestSize request = account.input.request;
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
