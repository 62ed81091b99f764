#include "front/run_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "answers/calibration.h"
#include "base/input_error.h"
#include "front/command_line.h"
#include "front/hub_options.h"
#include "front/kept_runs.h"
#include "front/parse_command_line.h"
#include "report/present_runs.h"

namespace foretell {
namespace {

constexpr size_t kMostNote = 400;
constexpr double kMostValue = 1e15;

std::vector<std::string_view> FigureNames() {
  std::vector<std::string_view> out;
  for (const RunFigureKind& kind : RunFigureKinds()) out.push_back(kind.name);
  return out;
}

// "tpot_ms=21.4".
RunFigure FigureOf(const Invocation& invocation, size_t index,
                   const std::string& text) {
  const auto fail = [&](size_t at, std::string what, std::string cure) {
    throw InputErrors(InputError{invocation.PlaceOf("measured", index, at),
                                 std::move(what), std::move(cure)});
  };
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (FindRunFigureKind(name) == nullptr) {
    fail(0, fmt::format("{} is no figure of a run", name),
         fmt::format("one of {}", fmt::join(FigureNames(), ", ")));
  }
  if (equals == std::string::npos) {
    fail(text.size(), "its value is missing",
         fmt::format("write --measured {}=21.4", name));
  }
  const char* begin = text.c_str() + equals + 1;
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  if (end == begin || *end != '\0' || !(value > 0) || !(value < kMostValue)) {
    fail(equals + 1, fmt::format("\"{}\" is no number above zero", begin),
         fmt::format("write --measured {}=21.4", name));
  }
  return {name, value};
}

// A file is found again from other folders too.
void MakeAbsolute(const std::string& value, std::vector<std::string>& words) {
  std::error_code error;
  if (value.empty() || !std::filesystem::exists(value, error)) return;
  const std::string whole = std::filesystem::absolute(value, error).string();
  if (error) return;
  for (std::string& word : words) {
    if (word == value) word = whole;
  }
}

std::vector<std::string> JobOf(const Invocation& invocation) {
  std::vector<std::string> words = invocation.Arguments("JOB");
  if (!words.empty() && words.front() == "foretell") {
    words.erase(words.begin());
  }
  if (words.empty()) {
    throw InputErrors(
        InputError{invocation.PlaceOf("JOB"),
                   "the command that predicts the run is "
                   "missing",
                   "write it behind --: -- speed Qwen/Qwen3-8B --gpu l40s"});
  }
  const Invocation job = ParseCommandLine(Commands(), words);
  if (job.command() == nullptr ||
      (job.command()->name != "speed" && job.command()->name != "train")) {
    throw InputErrors(InputError{invocation.PlaceOf("JOB"),
                                 "this command predicts nothing that a run "
                                 "measures",
                                 "write `speed` or `train` and its options"});
  }
  MakeAbsolute(job.Argument("TARGET"), words);
  MakeAbsolute(job.Text("gpu").value_or(""), words);
  return words;
}

// The one figure of its kind; throws where the job has several or none.
const PredictedFigure& OnlyFigure(const Invocation& invocation, size_t index,
                                  const RunFigure& figure,
                                  const RunPrediction& prediction) {
  const PredictedFigure* found = nullptr;
  std::vector<std::string> names;
  for (const PredictedFigure& one : prediction.figures) {
    if (std::ranges::find(names, one.name) == names.end()) {
      names.push_back(one.name);
    }
    if (one.name != figure.name) continue;
    if (found != nullptr) {
      throw InputErrors(InputError{invocation.PlaceOf("measured", index),
                                   "the job has several loads, and it is not "
                                   "said of which this was measured",
                                   "give the job one --concurrency"});
    }
    found = &one;
  }
  if (found == nullptr) {
    throw InputErrors(
        InputError{invocation.PlaceOf("measured", index),
                   fmt::format("{} is not predicted for this job", figure.name),
                   fmt::format("one of {}", fmt::join(names, ", "))});
  }
  return *found;
}

RunRow RowOf(const MeasuredRun& run, const RunFigure& figure,
             const std::optional<AnyFigure>& predicted) {
  RunRow row;
  row.run = run;
  row.figure = figure;
  row.predicted = predicted;
  std::vector<std::string> words;
  for (const std::string& word : run.job) words.push_back(ShellQuoted(word));
  row.job = fmt::format("foretell {}", fmt::join(words, " "));
  return row;
}

Outcome Add(const Invocation& invocation) {
  MeasuredRun run;
  run.job = JobOf(invocation);
  run.note = invocation.Text("note").value_or("");
  if (run.note.size() > kMostNote) {
    throw InputErrors(
        InputError{invocation.PlaceOf("note"),
                   fmt::format("the note is longer than {} bytes", kMostNote),
                   "say it shorter"});
  }
  const std::vector<std::string> texts = invocation.Texts("measured");
  if (texts.empty()) {
    throw InputErrors(InputError{invocation.PlaceOf("measured"),
                                 "what was measured is not said",
                                 "write --measured tpot_ms=21.4"});
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    RunFigure figure = FigureOf(invocation, i, texts[i]);
    if (std::ranges::find(run.figures, figure.name, &RunFigure::name) !=
        run.figures.end()) {
      throw InputErrors(
          InputError{invocation.PlaceOf("measured", i),
                     fmt::format("{} is given twice", figure.name),
                     "add a second run, with its own figure"});
    }
    run.figures.push_back(std::move(figure));
  }
  const PredictedJob predicted = PredictWords(run.job);
  RunsView view;
  for (size_t i = 0; i < run.figures.size(); ++i) {
    OnlyFigure(invocation, i, run.figures[i], predicted.prediction);
  }
  run.facts = predicted.prediction.facts;
  run.facts.parameters = ParametersOf(predicted.config);
  const RunStore store = StoreOf(invocation);
  run.id = store.Add(run);
  view.store = store.path();
  view.done = fmt::format("kept as run {}", run.id);
  for (size_t i = 0; i < run.figures.size(); ++i) {
    view.rows.push_back(RowOf(
        run, run.figures[i],
        OnlyFigure(invocation, i, run.figures[i], predicted.prediction).value));
  }
  return {.document = PresentRuns(view)};
}

Outcome List(const Invocation& invocation) {
  const RunStore store = StoreOf(invocation);
  RunsView view;
  view.store = store.path();
  for (const MeasuredRun& run : store.Runs()) {
    std::vector<PredictedFigure> predicted;
    try {
      predicted = PredictWords(run.job, false).prediction.figures;
    } catch (const InputErrors& errors) {
      NoteOnStderr(fmt::format(
          "run {} cannot be predicted: {}", run.id,
          errors.errors().empty() ? "" : errors.errors().front().what));
    }
    for (const RunFigure& figure : run.figures) {
      const auto found =
          std::ranges::find(predicted, figure.name, &PredictedFigure::name);
      view.rows.push_back(RowOf(run, figure,
                                found == predicted.end()
                                    ? std::nullopt
                                    : std::optional<AnyFigure>(found->value)));
    }
  }
  return {.document = PresentRuns(view)};
}

Outcome Remove(const Invocation& invocation) {
  const RunStore store = StoreOf(invocation);
  const std::vector<std::string> words = invocation.Arguments("JOB");
  std::vector<int64_t> ids;
  std::vector<InputError> errors;
  for (size_t i = 0; i < words.size(); ++i) {
    int64_t id = 0;
    const char* last = words[i].data() + words[i].size();
    const auto read = std::from_chars(words[i].data(), last, id);
    if (read.ec != std::errc() || read.ptr != last || id < 1) {
      errors.push_back({invocation.PlaceOf("JOB", i),
                        fmt::format("{} is no run's number", words[i]),
                        "`foretell run list` shows them"});
    }
    ids.push_back(id);
  }
  if (words.empty()) {
    errors.push_back({invocation.PlaceOf("JOB"), "no run is named",
                      "write its number: foretell run remove 3"});
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (store.Remove(ids[i])) continue;
    throw InputErrors(InputError{invocation.PlaceOf("JOB", i),
                                 fmt::format("there is no run {}", ids[i]),
                                 "`foretell run list` shows them"});
  }
  RunsView view;
  view.store = store.path();
  view.done = fmt::format("removed {}", fmt::join(ids, ", "));
  return {.document = PresentRuns(view)};
}

}  // namespace

CommandRow RunCommand() {
  std::vector<std::string_view> names = FigureNames();
  return {
      .name = "run",
      .summary = "keep what you measured, so that predictions learn from it",
      .description =
          "Keeps measured runs in a file of yours. `add` takes what was "
          "measured and, behind --, the command line of Foretell that predicts "
          "it. From then on `speed` and `train` show for comparable cases "
          "(the same card and engine, or way of dividing, within four times "
          "the model and the cards) their prediction and beside it the same "
          "corrected by your runs, each with its interval.\n\n"
          "What `add` has answered for is on the disk: several processes may "
          "add at once, and one that is killed loses nothing it acknowledged.",
      .arguments = {{.name = "ACTION",
                     .doc = "What to do.",
                     .allowed = {"add", "list", "remove"}},
                    {.name = "JOB",
                     .doc = "For add: `speed` or `train` with its options, "
                            "behind --. For remove: numbers of runs.",
                     .optional = true,
                     .repeatable = true}},
      .options = {{.name = "measured",
                   .value = "NAME=VALUE",
                   .doc = "What was measured, for add; may be given more than "
                          "once.",
                   .suggested = std::move(names),
                   .repeatable = true},
                  {.name = "note",
                   .value = "TEXT",
                   .doc = "A remark that is kept with the run."},
                  RunsRow()},
      .examples =
          {{"foretell run add --measured tpot_ms=21.4 -- speed Qwen/Qwen3-8B "
            "--gpu l40s",
            "Keeps what a server took for each token."},
           {"foretell run add --measured device_gib=71 -- train Qwen/Qwen3-8B "
            "--gpu h100",
            "Keeps a training job's memory."},
           {"foretell run list",
            "Every run, and what is predicted for it now."},
           {"foretell run remove 3", "Forgets one."}},
      .shape = RunsShape,
      .run = RunRuns};
}

Outcome RunRuns(const Invocation& invocation) {
  const std::string& action = invocation.Argument("ACTION");
  if (action == "add") return Add(invocation);
  if (action == "remove") return Remove(invocation);
  return List(invocation);
}

}  // namespace foretell
