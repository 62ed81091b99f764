#include "answers/score/score.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace foretell {
namespace {

std::string FamilyOf(const MeasuredRow& row) {
  const ConfigValue* group = FieldAt(row.fields, "group");
  if (group == nullptr) return "";
  return std::string(group->AsString().value_or(""));
}

ScoreInput InputOf(const MeasuredRow& row, const ScoreSet& set,
                   const ServingSource* serving) {
  return {.settings = ScoreSettings(row.fields, set.settings),
          .config = row.config.get(),
          .no_config = row.no_config,
          .config_how = row.config_how,
          .device = row.device.get(),
          .serving = serving};
}

class Scorer {
 public:
  Scorer(const ScoreRequest& request, ScoreAnswer& answer)
      : set_(request.set),
        serving_(request.serving),
        keeps_(request.keeps_scores),
        peers_(&request.peers),
        answer_(&answer) {}

  void Add(const MeasuredRow& row) {
    ++answer_->rows;
    const std::vector<Measured> measured = set_->measure(row.fields);
    if (measured.empty()) {
      ++answer_->left_out["nothing of what is scored was measured"];
      return;
    }
    const ScoreInput input = InputOf(row, *set_, serving_);
    const Prediction prediction = set_->predict(input);
    if (const auto* left_out = std::get_if<LeftOut>(&prediction)) {
      ++answer_->left_out[left_out->reason];
      return;
    }
    const auto& predicted = std::get<std::vector<Predicted>>(prediction);
    bool any = false;
    for (const Measured& one : measured) {
      const auto match =
          std::ranges::find(predicted, one.quantity, &Predicted::quantity);
      if (match == predicted.end()) continue;
      any = true;
      Score score = Compare(*match, one);
      score.line = row.line;
      score.id = row.id;
      score.model = row.model;
      score.family = FamilyOf(row);
      if (set_->explain != nullptr && !score.equal) {
        score.note = set_->explain(input, score);
      }
      scores_.push_back(std::move(score));
    }
    if (any) {
      ++answer_->scored;
    } else {
      ++answer_->left_out["nothing of what was measured is predicted"];
    }
  }

  void Finish() {
    answer_->groups = GroupsOf(scores_);
    if (set_->finish != nullptr) set_->finish(scores_, answer_->groups);
    if (keeps_) answer_->scores = scores_;
    if (!peers_->empty()) AddPeerGroups(*peers_, scores_, answer_->groups);
    std::ranges::stable_sort(scores_, std::greater<>(), &Score::error);
    for (Score& score : scores_) {
      if (score.equal || answer_->worst.size() == kMostWorst) break;
      answer_->worst.push_back(std::move(score));
    }
  }

 private:
  const ScoreSet* set_;
  const ServingSource* serving_;
  bool keeps_;
  const PeerPoints* peers_;
  ScoreAnswer* answer_;
  std::vector<Score> scores_;
};

BarOutcome Hold(const ScoreBar& bar, const ScoreGroups& groups) {
  BarOutcome out;
  out.bar = bar;
  const auto group = groups.find(bar.group);
  if (group == groups.end()) return out;
  const auto figure = group->second.find(bar.key);
  if (figure == group->second.end()) return out;
  out.value = figure->second;
  out.holds =
      bar.at_least ? figure->second >= bar.limit : figure->second <= bar.limit;
  return out;
}

}  // namespace

bool ScoreAnswer::FallsShort() const {
  return std::ranges::any_of(bars,
                             [](const BarOutcome& bar) { return !bar.holds; });
}

ScoreAnswer AnswerScore(const ScoreRequest& request) {
  ScoreAnswer answer;
  answer.set = request.set->name;
  Scorer scorer(request, answer);
  for (const MeasuredRow& row : request.rows.rows) scorer.Add(row);
  scorer.Finish();
  for (const ScoreBar& bar : request.bars) {
    answer.bars.push_back(Hold(bar, answer.groups));
  }
  return answer;
}

}  // namespace foretell
