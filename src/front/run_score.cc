#include "front/run_score.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "answers/score/score.h"
#include "base/check.h"
#include "base/input_error.h"
#include "front/score_bar.h"
#include "front/score_files.h"
#include "input/config_finder.h"
#include "input/kernel_table.h"
#include "input/measured_rows.h"
#include "input/serving_source.h"
#include "report/present_score.h"

namespace foretell {
namespace {

std::vector<ScoreBar> BarsOf(const Invocation& invocation) {
  std::vector<ScoreBar> out;
  std::vector<InputError> errors;
  const std::vector<std::string> texts = invocation.Texts("bar");
  for (size_t i = 0; i < texts.size(); ++i) {
    ScoreBarResult bar = ReadScoreBar(texts[i]);
    if (bar.bar) {
      out.push_back(std::move(*bar.bar));
    } else {
      errors.push_back({invocation.PlaceOf("bar", i), std::move(bar.what),
                        std::move(bar.cure)});
    }
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

// Beside the scored file, where there is one.
MeasuredRows PeersOf(const ScoreSet& set, const std::string& file) {
  if (set.peer_file.empty()) return {};
  const std::filesystem::path path =
      std::filesystem::path(file).parent_path() / set.peer_file;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  return LoadMeasuredRows({.path = path.string(), .model_field = ""});
}

}  // namespace

Outcome RunScore(const Invocation& invocation) {
  ScoreRequest request;
  request.set = FindScoreSet(invocation.Argument("SET"));
  FORETELL_CHECK(request.set != nullptr, "a set that the table allowed");
  request.bars = BarsOf(invocation);
  request.rows =
      request.set->form == RecordForm::kKernelCurves
          ? LoadKernelTable(invocation.Argument("FILE"))
          : LoadMeasuredRows(
                {.path = invocation.Argument("FILE"),
                 .model_field = std::string(request.set->model_field),
                 .card_field = std::string(request.set->card_field),
                 .configs_dir = invocation.Text("configs"),
                 .aliases_file = invocation.Text("aliases")});
  const auto serving = MakeServingSource(invocation.Text("configs").value_or(
      ConfigsOf(invocation.Argument("FILE"))));
  request.serving = serving.get();
  request.peers =
      PeerPointsOf(PeersOf(*request.set, invocation.Argument("FILE")));
  request.keeps_scores = WantsScoreFiles(invocation);
  ScoreAnswer answer = AnswerScore(request);
  if (request.keeps_scores) {
    WriteScoreFiles(invocation, std::vector{ScoredSet{
                                    answer.set, std::move(answer.scores)}});
  }
  return {.document = PresentScore(answer), .differs = answer.FallsShort()};
}

}  // namespace foretell
