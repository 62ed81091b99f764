#include "front/run_scorecard.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/score/score.h"
#include "answers/scorecard.h"
#include "answers/verify.h"
#include "base/input_error.h"
#include "front/score_files.h"
#include "input/config_finder.h"
#include "input/measured_rows.h"
#include "input/scorecard_record.h"
#include "input/serving_source.h"
#include "input/truth_set.h"
#include "report/present_scorecard.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 4> kRecordings = {
    "pytorch/params.jsonl", "pytorch/steps.jsonl",
    "pytorch/steps_transformers4.jsonl", "pytorch/sharded.jsonl"};

// Some sets take long; on a terminal it is told which one is at work.
void Tell(std::string_view what) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fputs("\r\033[K", stderr);
  if (what.empty()) return;
  std::fprintf(stderr, "scorecard: %.*s", static_cast<int>(what.size()),
               what.data());
  std::fflush(stderr);
}

class Scorer {
 public:
  explicit Scorer(const Invocation& invocation)
      : invocation_(invocation),
        folder_(*invocation.Text("truth")),
        serving_(MakeServingSource(invocation.Text("configs").value_or(
            ConfigsOf((folder_ / "rows.jsonl").string())))) {}

  ScorecardAnswer Run() {
    if (!std::filesystem::is_directory(folder_)) {
      std::vector<InputError> errors;
      errors.push_back({invocation_.PlaceOf("truth"),
                        "is no folder of truth sets",
                        "give the folder that holds vllm_memory.jsonl and its "
                        "like"});
      throw InputErrors(std::move(errors));
    }
    card_.truth = folder_.string();
    for (const ScoreSet& set : ScoreSets()) Score(set);
    if (WantsScoreFiles(invocation_)) WriteScoreFiles(invocation_, scored_);
    for (const std::string_view name : kRecordings) Verify(name);
    Tell("");
    return std::move(card_);
  }

 private:
  // Nothing where the folder has no such file.
  std::optional<std::string> Find(std::string_view name) {
    const std::filesystem::path path = folder_ / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      Tell(name);
      return path.string();
    }
    card_.missing.emplace_back(path.string());
    return std::nullopt;
  }

  void Score(const ScoreSet& set) {
    // Kernels lie in a file for each card and kind: `foretell score kernels`.
    if (set.form != RecordForm::kJsonLines) return;
    const auto path = Find(set.file.empty() ? std::string(set.name) + ".jsonl"
                                            : std::string(set.file));
    if (!path) return;
    ScoreRequest request;
    request.set = &set;
    request.rows =
        LoadMeasuredRows({.path = *path,
                          .model_field = std::string(set.model_field),
                          .card_field = std::string(set.card_field),
                          .configs_dir = invocation_.Text("configs"),
                          .aliases_file = invocation_.Text("aliases")});
    request.serving = serving_.get();
    request.keeps_scores = WantsScoreFiles(invocation_);
    ScoreAnswer answer = AnswerScore(request);
    AddScore(answer, card_);
    if (request.keeps_scores) {
      scored_.push_back({answer.set, std::move(answer.scores)});
    }
  }

  void Verify(std::string_view name) {
    const auto path = Find(name);
    if (!path) return;
    AddVerify(std::string(name),
              AnswerVerify(LoadTruthSet(*path, invocation_.Text("configs"))),
              card_);
  }

  const Invocation& invocation_;
  std::filesystem::path folder_;
  std::unique_ptr<ServingSource> serving_;
  ScorecardAnswer card_;
  std::vector<ScoredSet> scored_;
};

}  // namespace

Outcome RunScorecard(const Invocation& invocation) {
  ScorecardAnswer card;
  if (invocation.Text("truth")) {
    card = Scorer(invocation).Run();
  } else {
    for (const char* option : {"svg", "points"}) {
      if (!invocation.Has(option)) continue;
      throw InputErrors(InputError{
          invocation.PlaceOf(option),
          "the figures that were measured last hold no single comparisons",
          "name the truth sets: --truth DIR"});
    }
    ScorecardRecord last = LastScorecard();
    card.date = std::move(last.date);
    card.lines = std::move(last.lines);
  }
  card.peers = PeerFigures();
  return {.document = PresentScorecard(card)};
}

}  // namespace foretell
