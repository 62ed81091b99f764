#include "report/present_train_time.h"

#include <fmt/format.h>

#include <string>

namespace foretell {
namespace {

RowShape Parts(std::string_view name, std::string_view label,
               std::string_view doc) {
  return Optional(BarsRow(
      name, label, doc, {"part", "Part", CellType::kText, "What takes it."},
      {"time", "Time", CellType::kFigure, "Seconds of a step."}));
}

}  // namespace

SectionShape TrainTimeSection() {
  return {
      .name = "time",
      .title = "How long a step takes",
      .doc =
          "One optimizer step, with 90 % intervals; the wait for data is "
          "not in it.",
      .rows = {
          Optional(FieldRow("step", "Step", CellType::kFigure,
                            "Seconds of one step, all its micro-steps.")),
          Optional(FieldRow("rate", "Tokens/s", CellType::kFigure,
                            "Tokens a second of all cards.")),
          Optional(FieldRow("mfu", "Of the peak", CellType::kText,
                            "The model's FLOPs (6 a weight and token, causal "
                            "attention halved, nothing for what is "
                            "recomputed) over the peak of their format.")),
          Optional(FieldRow("limit", "Limited by", CellType::kText,
                            "What the largest part goes to.")),
          Optional(FieldRow("unknown", "Not known", CellType::kText,
                            "Why no time is told.")),
          Parts("phases", "By phase", "What a step does, one after another."),
          Parts("spent", "By what it is spent on",
                "Arithmetic, memory, communication, the host's launches."),
          Optional(TableRow(
              "gains", "One resource twice as fast",
              "What the same step would take.",
              {{"resource", "Resource", CellType::kText, "What is doubled."},
               {"step", "Step", CellType::kText, "Seconds of a step."},
               {"times", "Faster", CellType::kText, "Of the step as it is."}})),
      }};
}

SectionShape TrainRunSection() {
  return {
      .name = "run",
      .title = "The whole run",
      .doc =
          "Time, money, energy and carbon; what is missing is unknown, "
          "never zero.",
      .rows = {
          Optional(
              TableRow("figures", "The whole run", "All cards together.",
                       {{"what", "Figure", CellType::kText, "What is told."},
                        {"value", "Value", CellType::kFigure,
                         "With its interval, or what is missing."},
                        {"unit", "Unit", CellType::kText, "Of the value."}})),
          Optional(TableRow(
              "prices", "At clouds' list prices",
              "On demand, the newest record of each cloud.",
              {{"cloud", "Cloud", CellType::kText, "And its machine."},
               {"date", "Date", CellType::kText, "Of the price."},
               {"usd_an_hour", "USD/h", CellType::kText, "Of one card."},
               {"run", "Run USD", CellType::kFigure, "Of the whole run."}})),
          Optional(FieldRow("assumed", "Assumed", CellType::kTexts,
                            "What the time rests on.")),
      }};
}

void AddTrainTime(const TrainTime& time, Document& document) {
  if (!time.missing.empty()) {
    document.Set("time.unknown", time.missing);
    return;
  }
  document.Set("time.step", time.step);
  document.Set("time.rate", time.rate);
  constexpr double kPercent = 100;
  document.Set(
      "time.mfu",
      fmt::format("{:.0f} % ({:.0f} to {:.0f})", time.utilisation * kPercent,
                  time.low * kPercent, time.high * kPercent));
  document.Set("time.limit", time.limit);
  for (const TrainTimePart& part : time.phases) {
    document.AddRow("time.phases", {part.part, part.seconds});
  }
  for (const TrainTimePart& part : time.parts) {
    document.AddRow("time.spent", {part.part, part.seconds});
  }
  for (const TrainTimeGain& gain : time.gains) {
    document.AddRow("time.gains",
                    {gain.resource, fmt::format("{:.3g} s", gain.step),
                     fmt::format("{:.2f} times", gain.times)});
  }
  for (const TrainRunFigure& figure : time.run) {
    document.AddRow("run.figures", {figure.what, figure.value, figure.unit});
  }
  for (const TrainListPrice& price : time.prices) {
    document.AddRow("run.prices",
                    {price.cloud, price.date,
                     fmt::format("{:.2f}", price.usd_an_hour), price.run});
  }
  if (!time.assumed.empty()) document.Set("run.assumed", time.assumed);
}

}  // namespace foretell
