#include "front/score_commands.h"

#include <utility>
#include <vector>

#include "answers/score/score_set.h"
#include "front/run_score.h"
#include "front/run_scorecard.h"
#include "front/score_files.h"
#include "report/present_score.h"
#include "report/present_scorecard.h"

namespace foretell {
namespace {

std::vector<OptionRow> SourceRows() {
  return {{.name = "configs",
           .value = "DIR",
           .doc = "Where the models' configurations lie; else "
                  "../shared/configs, a folder `configs` beside one above "
                  "FILE, or the catalogue.",
           .completion = Completion::kDirectory,
           .aliases = {"config-dir"}},
          {.name = "aliases",
           .value = "FILE",
           .doc = "Which configuration belongs to which model's name; else "
                  "../shared/truth/aliases.json, or aliases.json beside the "
                  "records.",
           .completion = Completion::kPath}};
}

}  // namespace

CommandRow ScoreCommand() {
  std::vector<OptionRow> options = SourceRows();
  options.push_back(
      {.name = "bar",
       .value = "NAME.KEY<=X",
       .doc = "Hold a figure of a group against a limit, with <= or >=; "
              "may be given more than once.",
       .repeatable = true});
  for (OptionRow& row : ScoreFileRows()) options.push_back(std::move(row));
  return {
      .name = "score",
      .summary = "compare predictions with what others measured",
      .description =
          "Predicts every row of a file of measured records from its settings "
          "alone and tells how far off the predictions are. A row is left out "
          "only for what it lacks, and every reason is counted; where nothing "
          "can be predicted although the row says all that matters, it counts "
          "as missed.\n\n"
          "The exit status is 1 where a figure falls short of a bar.",
      .arguments = {{.name = "SET",
                     .doc = "Which kind of records the file holds.",
                     .allowed = ScoreSetNames()},
                    {.name = "FILE",
                     .doc = "Measured records, one JSON object a line.",
                     .completion = Completion::kPath}},
      .options = std::move(options),
      .examples = {{"foretell score weights_bytes rows.jsonl "
                    "--bar 'all.share_0_5pct>=0.88'",
                    "Stored elements of published checkpoints, and whether "
                    "88 % are within half a percent."}},
      .shape = ScoreShape,
      .run = RunScore};
}

CommandRow ScorecardCommand() {
  std::vector<OptionRow> options = SourceRows();
  options.insert(options.begin(),
                 {.name = "truth",
                  .value = "DIR",
                  .doc = "A folder of truth sets, each under its own name; "
                         "where absent, the figures that were measured last "
                         "are told with their date.",
                  .completion = Completion::kDirectory});
  for (OptionRow& row : ScoreFileRows()) options.push_back(std::move(row));
  return {
      .name = "scorecard",
      .summary = "how near predictions come to the truth, set by set",
      .description =
          "Scores every truth set of a folder: how many rows could be "
          "predicted, medians, nine of ten, bias and whether stated intervals "
          "hold, with formula checks apart from measured devices, beside the "
          "figures that other tools publish of themselves. Without a folder it "
          "tells the figures of the last measurement and its date.",
      .options = std::move(options),
      .examples = {{"foretell scorecard",
                    "The figures that were measured last."},
                   {"foretell scorecard --truth ../shared/truth",
                    "Measured again, from the rows."},
                   {"foretell scorecard --truth ../shared/truth --svg card.svg",
                    "With a picture of predicted against measured."}},
      .shape = ScorecardShape,
      .run = RunScorecard};
}

}  // namespace foretell
