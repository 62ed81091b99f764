#include "front/kept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "answers/model.h"
#include "answers/run_prediction.h"
#include "base/input_error.h"
#include "front/hub_options.h"
#include "front/parse_command_line.h"
#include "front/run_speed.h"
#include "front/train_options.h"

namespace foretell {
namespace {

// Each is predicted anew, which takes milliseconds: more say little more.
constexpr size_t kMostPredicted = 16;

template <class Value>
Value OrThrow(std::variant<Value, Refusal> result) {
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw InputErrors(std::move(refusal->errors));
  }
  return std::get<Value>(std::move(result));
}

// The same model first, then the newest.
std::vector<MeasuredRun> Comparable(std::vector<MeasuredRun> runs,
                                    const RunFacts& wanted) {
  std::erase_if(runs, [&wanted](const MeasuredRun& run) {
    return !IsComparable(run.facts, wanted);
  });
  std::ranges::reverse(runs);
  std::ranges::stable_partition(runs, [&wanted](const MeasuredRun& run) {
    return run.facts.model == wanted.model;
  });
  if (runs.size() > kMostPredicted) runs.resize(kMostPredicted);
  std::ranges::reverse(runs);
  return runs;
}

}  // namespace

OptionRow RunsRow() {
  return {.name = "runs",
          .value = "FILE",
          .doc =
              "Where your measured runs are kept; else FORETELL_RUNS, or "
              "foretell/runs.sqlite in XDG_DATA_HOME or ~/.local/share.",
          .completion = Completion::kPath};
}

RunStore StoreOf(const Invocation& invocation) {
  if (const auto path = invocation.Text("runs")) return RunStore(*path);
  if (const auto path = UsualRunStore()) return RunStore(*path);
  throw InputErrors(InputError{invocation.PlaceOf("runs"),
                               "there is no place for runs",
                               "name a file with --runs, or set HOME"});
}

PredictedJob PredictWords(const std::vector<std::string>& words, bool may_ask) {
  std::vector<std::string> line = words;
  // A kept line's hub was named once, not now.
  if (!may_ask) line.emplace_back("--offline");
  const Invocation job = ParseCommandLine(Commands(), line);
  const std::string_view command =
      job.command() == nullptr ? "" : job.command()->name;
  if (command == "speed") {
    SpeedRequest request = ReadSpeedRequest(job);
    request.config = LoadTarget(job);
    RunPrediction prediction =
        PredictionOf(request, OrThrow(AnswerSpeed(request)));
    return {std::move(prediction), std::move(request.config)};
  }
  if (command == "train") {
    TrainRequest request = ReadTrainRequest(job);
    request.config = LoadTarget(job);
    RunPrediction prediction = OrThrow(PredictTrain(request));
    return {std::move(prediction), std::move(request.config)};
  }
  throw InputErrors(
      InputError{job.PlaceOf("format"),
                 "this command predicts nothing that a run measures",
                 "write `speed` or `train` and its options"});
}

double ParametersOf(const ModelConfig& config) {
  ModelRequest request;
  request.config = config;
  const auto answer = AnswerModel(request);
  if (const auto* model = std::get_if<ModelAnswer>(&answer)) {
    return model->parameters.total.any().value().value_or(0);
  }
  return 0;
}

std::vector<CalibratedFigure> CalibratedFor(const Invocation& invocation,
                                            RunPrediction prediction,
                                            const ModelConfig& config) {
  if (!invocation.Has("runs") && !UsualRunStore()) return {};
  std::vector<MeasuredRun> runs =
      StoreOf(invocation).Runs(prediction.facts.command, prediction.facts.card);
  if (runs.empty()) return {};
  prediction.facts.parameters = ParametersOf(config);
  std::vector<KnownRun> known;
  for (MeasuredRun& run : Comparable(std::move(runs), prediction.facts)) {
    try {
      PredictedJob now = PredictWords(run.job, false);
      known.push_back({std::move(run), std::move(now.prediction.figures)});
    } catch (const InputErrors& errors) {
      NoteOnStderr(fmt::format(
          "run {} is passed over: {}", run.id,
          errors.errors().empty() ? "" : errors.errors().front().what));
    }
  }
  return CalibratedBy(known, prediction);
}

}  // namespace foretell
