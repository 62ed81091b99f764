// Tells tools/fit/training_speed.py what the formula of a training step makes
// of measured runs, for constants that it tries: the formula stands in one
// place, src/analysis/timing/training_phases.cc.
//
// usage: stepfit RECORDS CONFIGS ALIASES
//
// First prints the names of the constants, then one line a run and quantity:
// what it belongs to and what was measured, tab-separated, then an empty line.
// Each line of constants on the standard input is then answered by a line of
// predictions in the same order.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/timing/training_constants.h"
#include "answers/score/score_set.h"
#include "answers/score/training_speed_job.h"
#include "input/measured_rows.h"

namespace foretell {
namespace {

struct Run {
  TrainedJob job;
  std::string quantity;
};

std::vector<Run> PrintRuns(const MeasuredRows& rows, const ScoreSet& set) {
  constexpr std::string_view kPaths[] = {"source", "framework", "gpu"};
  std::vector<Run> out;
  for (const MeasuredRow& row : rows.rows) {
    const ScoreInput input = {
        .settings = ScoreSettings(row.fields, set.settings),
        .config = row.config.get(),
        .no_config = row.no_config,
        .config_how = row.config_how,
        .device = row.device.get()};
    const auto job = TrainedJobOfRecord(input);
    if (!std::holds_alternative<TrainedJob>(job)) continue;
    const auto& found = std::get<TrainedJob>(job);
    const ScoreSettings s(row.fields, kPaths);
    for (const Measured& measured : set.measure(row.fields)) {
      std::cout << row.id << '\t' << s.Text("source.repo").value_or("") << '\t'
                << s.Text("framework").value_or("") << '\t' << row.model << '\t'
                << row.device->id << '\t' << (found.shape.expert_count > 1)
                << '\t' << found.recomputed_stated << '\t' << found.pipeline
                << '\t' << measured.quantity << '\t' << measured.value << '\n';
      out.push_back({found, measured.quantity});
    }
  }
  std::cout << std::endl;
  return out;
}

double ValueOf(const std::vector<Predicted>& all, const std::string& quantity) {
  for (const Predicted& one : all) {
    if (one.quantity != quantity) continue;
    return std::get<AnyFigure>(one.value).value().value_or(0);
  }
  return 0;
}

int Main(const std::vector<std::string>& words) {
  const ScoreSet* set = FindScoreSet("training_speed");
  const MeasuredRows rows =
      LoadMeasuredRows({.path = words.at(1),
                        .model_field = std::string(set->model_field),
                        .card_field = std::string(set->card_field),
                        .configs_dir = words.at(2),
                        .aliases_file = words.at(3)});
  for (size_t i = 0; i < kTrainingConstants; ++i) {
    std::cout << NameOf(static_cast<TrainingConstant>(i)) << ' ';
  }
  std::cout << '\n';
  const std::vector<Run> runs = PrintRuns(rows, *set);
  constexpr int kDigits = 12;
  std::cout.precision(kDigits);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream numbers(line);
    TrainingConstants constants;
    for (double& value : constants.values) numbers >> value;
    for (const Run& run : runs) {
      std::cout << ValueOf(TrainedQuantities(run.job, constants), run.quantity)
                << ' ';
    }
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: stepfit RECORDS CONFIGS ALIASES\n", stderr);
    return 2;
  }
  try {
    return foretell::Main(std::vector<std::string>(argv, argv + argc));
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 2;
  }
}
