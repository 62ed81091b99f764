#include "answers/score/score_statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace foretell {
namespace {

double MedianOf(std::vector<double> values) {
  return QuantileOf(std::move(values), 0.5);
}

// Of the medians of the rows' groups; a row without one is its own.
double MedianOfGroups(const std::vector<const Score*>& scores) {
  std::map<std::string, std::vector<double>> groups;
  for (const Score* score : scores) {
    // A line's number cannot be the name of a group: it begins with "\n".
    const std::string name = score->family.empty()
                                 ? "\n" + std::to_string(score->line)
                                 : score->family;
    groups[name].push_back(score->error);
  }
  std::vector<double> medians;
  medians.reserve(groups.size());
  for (auto& [name, errors] : groups) {
    medians.push_back(MedianOf(std::move(errors)));
  }
  return MedianOf(std::move(medians));
}

void AddRelative(const std::vector<const Score*>& scores, ScoreFigures& out) {
  std::vector<double> errors;
  double logarithms = 0;
  double ratios = 0;
  for (const Score* score : scores) {
    errors.push_back(score->error);
    if (!score->ratio) continue;
    logarithms += std::log(*score->ratio);
    ratios += 1;
  }
  const bool has_families = std::ranges::any_of(
      scores, [](const Score* score) { return !score->family.empty(); });
  out["median"] = has_families ? MedianOfGroups(scores) : MedianOf(errors);
  out["p90"] = QuantileOf(errors, 0.9);
  out["p95"] = QuantileOf(errors, 0.95);
  if (ratios > 0) out["bias"] = std::exp(logarithms / ratios);
  const auto share = [&errors](double limit) {
    const auto within = std::ranges::count_if(
        errors, [limit](double error) { return error <= limit; });
    return static_cast<double>(within) / static_cast<double>(errors.size());
  };
  out["share_0_5pct"] = share(0.005);
  out["share_1pct"] = share(0.01);
  out["share_2pct"] = share(0.02);
  out["share_5pct"] = share(0.05);
}

}  // namespace

double QuantileOf(std::vector<double> values, double q) {
  FORETELL_CHECK(!values.empty(), "a quantile of nothing");
  std::ranges::sort(values);
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  const double part = position - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

ScoreFigures FiguresOf(const std::vector<const Score*>& scores) {
  ScoreFigures out;
  out["n"] = static_cast<double>(scores.size());
  if (scores.empty()) return out;
  std::vector<const Score*> relative;
  double equal = 0;
  double stated = 0;
  double covered = 0;
  for (const Score* score : scores) {
    if (score->comparison == Comparison::kRelative) relative.push_back(score);
    if (score->equal) equal += 1;
    if (!score->covered) continue;
    stated += 1;
    if (*score->covered) covered += 1;
  }
  out["share_equal"] = equal / static_cast<double>(scores.size());
  if (stated > 0) out["coverage90"] = covered / stated;
  if (!relative.empty()) AddRelative(relative, out);
  return out;
}

ScoreGroups GroupsOf(const std::vector<Score>& scores) {
  std::map<std::string, std::vector<const Score*>> members;
  members["all"];
  for (const Score& score : scores) {
    for (const std::string& group : score.groups) {
      members[group].push_back(&score);
    }
  }
  ScoreGroups out;
  for (const auto& [group, list] : members) out[group] = FiguresOf(list);
  return out;
}

}  // namespace foretell
