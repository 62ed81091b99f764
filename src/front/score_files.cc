#include "front/score_files.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "answers/scorecard.h"
#include "base/input_error.h"
#include "front/written_file.h"
#include "report/scatter_svg.h"
#include "report/score_points.h"

namespace foretell {
namespace {

void Write(const Invocation& invocation, std::string_view option,
           std::string_view ending, const std::string& bytes,
           std::string_view mark) {
  const std::string path = *invocation.Text(option);
  if (!path.ends_with(ending)) {
    throw InputErrors(InputError{invocation.PlaceOf(option),
                                 "the name says another format",
                                 "end it with " + std::string(ending)});
  }
  if (auto error = WriteNamedFile(path, bytes, mark)) {
    error->place = invocation.PlaceOf(option);
    throw InputErrors(*std::move(error));
  }
}

}  // namespace

std::vector<OptionRow> ScoreFileRows() {
  return {{.name = "svg",
           .value = "FILE",
           .doc = "Also draw predicted against measured into this file, a "
                  "panel a quantity.",
           .completion = Completion::kPath},
          {.name = "points",
           .value = "FILE",
           .doc = "Also write every comparison into this file, one JSON "
                  "object a line.",
           .completion = Completion::kPath}};
}

bool WantsScoreFiles(const Invocation& invocation) {
  return invocation.Has("svg") || invocation.Has("points");
}

void WriteScoreFiles(const Invocation& invocation,
                     std::span<const ScoredSet> sets) {
  if (invocation.Has("svg")) {
    std::vector<ScorePanel> panels;
    for (const ScoredSet& set : sets) {
      // Arithmetic that should be equal is checked, not measured: among other
      // sets there is no picture of it.
      if (sets.size() > 1 && IsFormula(set.set)) continue;
      std::ranges::move(PanelsOf(set.set, set.scores),
                        std::back_inserter(panels));
    }
    Write(invocation, "svg", ".svg",
          ScatterSvg(panels, "Predicted against measured"), kScatterMark);
  }
  if (invocation.Has("points")) {
    std::string lines(kPointsHead);
    for (const ScoredSet& set : sets) lines += PointLines(set.set, set.scores);
    Write(invocation, "points", ".jsonl", lines, kPointsMark);
  }
}

}  // namespace foretell
