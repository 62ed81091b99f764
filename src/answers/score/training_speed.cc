// Measured training steps: tokens a second of one card, step times, model
// FLOPs and their share of the peak.
//
// FLOPs are counted as the row's source says: with a causal model's attention
// halved, or whole ("non-causal", "12*L*d*s"). What a row says of one
// measurement in several units gives a score in each. `ratios` looks at pairs
// of one source, model and framework version: whether the faster is told.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "answers/score/score_sets.h"
#include "answers/score/training_speed_job.h"

namespace foretell {
namespace {

constexpr std::string_view kMeasuredPaths[] = {
    "measured",  "gpu_count",         "pp",          "model",
    "framework", "framework_version", "source.path", "source.repo"};

// Names a pair's group until FinishTrainingSpeed has counted.
constexpr char kPairs[] = "pairs of ";
// Closer than that two rows have no order.
constexpr double kSame = 0.01;

}  // namespace

Prediction PredictTrainingSpeed(const ScoreInput& input) {
  auto job = TrainedJobOfRecord(input);
  if (auto* why = std::get_if<LeftOut>(&job)) return std::move(*why);
  return TrainedQuantities(std::get<TrainedJob>(job), FittedTraining());
}

std::vector<Measured> MeasureTrainingSpeed(const ConfigValue& row) {
  const ScoreSettings s(row, kMeasuredPaths);
  std::vector<std::string> groups;
  constexpr int64_t kNode = 8;
  if (s.Integer("gpu_count").value_or(1) <= kNode) {
    groups.emplace_back("one_node");
  }
  if (s.Integer("pp").value_or(1) > 1) groups.emplace_back("pipelined");
  std::vector<Measured> out;
  const auto add = [&](const char* quantity, const char* path,
                       std::vector<std::string> of) {
    const auto value = s.Real(path);
    if (value && *value > 0) {
      out.push_back(MeasuredNumber(quantity, *value, std::move(of)));
    }
  };
  std::vector<std::string> paired = groups;
  std::string pair = kPairs;
  for (const std::string_view path : {"source.repo", "source.path", "model",
                                      "framework", "framework_version"}) {
    pair += s.Text(path).value_or("") + "|";
  }
  paired.push_back(pair);
  add("tokens/s", "measured.tokens_per_s_per_gpu", paired);
  add("step time", "measured.step_time_s", groups);
  // Beside tokens/s, samples/s is the same figure, rounded.
  if (out.empty()) add("samples/s", "measured.samples_per_s", groups);
  const std::string how = s.Text("measured.mfu_definition").value_or("");
  const bool is_whole = how.find("non-causal") != std::string::npos;
  add(is_whole ? "TFLOPS, attention whole" : "TFLOPS",
      "measured.tflops_per_gpu", groups);
  add(is_whole ? "MFU, attention whole" : "MFU", "measured.mfu_pct", groups);
  return out;
}

void FinishTrainingSpeed(const std::vector<Score>& scores,
                         ScoreGroups& groups) {
  std::map<std::string, std::vector<const Score*>> families;
  for (const Score& score : scores) {
    for (const std::string& group : score.groups) {
      if (group.starts_with(kPairs)) families[group].push_back(&score);
    }
  }
  double pairs = 0;
  double right = 0;
  for (const auto& [name, rows] : families) {
    groups.erase(name);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t k = i + 1; k < rows.size(); ++k) {
        if (!rows[i]->ratio || !rows[k]->ratio) continue;
        const double measured =
            rows[i]->measured_value / rows[k]->measured_value;
        if (measured > 1 - kSame && measured < 1 + kSame) continue;
        const double predicted = measured * *rows[i]->ratio / *rows[k]->ratio;
        pairs += 1;
        if ((predicted > 1) == (measured > 1)) right += 1;
      }
    }
  }
  if (pairs > 0) {
    groups["ratios"] = {{"n", pairs}, {"share_equal", right / pairs}};
  }
}

}  // namespace foretell
