#include "answers/score/peer_points.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "spec/config_value.h"

namespace foretell {
namespace {

constexpr std::string_view kAll = "peer_same_points";

std::optional<double> Positive(const ConfigValue& row, const std::string& key) {
  const ConfigValue* value = FieldAt(row, key);
  const auto number = value == nullptr ? std::nullopt : value->AsReal();
  return number && *number > 0 ? number : std::nullopt;
}

bool IsOfDefaults(const ConfigValue& row) {
  const ConfigValue* variant = FieldAt(row, "variant");
  return variant == nullptr ||
         variant->AsString().value_or("default_version") == "default_version";
}

// A point counts like every other, whatever sweep it is of.
Score Alone(const Score& score, std::string group) {
  Score out = score;
  out.family.clear();
  out.groups = {std::move(group)};
  return out;
}

}  // namespace

PeerPoints PeerPointsOf(const MeasuredRows& rows) {
  PeerPoints out;
  for (const MeasuredRow& row : rows.rows) {
    if (!IsOfDefaults(row.fields)) continue;
    for (const char* name : {"ttft", "tpot"}) {
      const std::string key = std::string(name) + "_ms";
      const auto predicted = Positive(row.fields, "predicted_" + key);
      const auto measured = Positive(row.fields, "measured_" + key);
      if (predicted && measured) out[row.id][name] = {*predicted, *measured};
    }
  }
  return out;
}

void AddPeerGroups(const PeerPoints& peers, const std::vector<Score>& scores,
                   ScoreGroups& groups) {
  std::vector<Score> same;
  for (const Score& score : scores) {
    const auto point = peers.find(score.id);
    if (point == peers.end()) continue;
    const auto figure = point->second.find(score.quantity);
    if (figure == point->second.end()) continue;
    const std::string name = std::string(kAll) + "." + score.quantity;
    same.push_back(Alone(score, name));
    Score theirs = Alone(score, name + ".peer");
    theirs.ratio = figure->second.predicted / figure->second.measured;
    theirs.error = std::abs(*theirs.ratio - 1);
    theirs.covered.reset();  // it states no interval
    same.push_back(std::move(theirs));
  }
  for (auto& [name, figures] : GroupsOf(same)) {
    if (name.starts_with(kAll)) groups[name] = figures;
  }
}

}  // namespace foretell
