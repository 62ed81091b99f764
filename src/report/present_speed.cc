#include "report/present_speed.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "report/runs_section.h"

namespace foretell {
namespace {

SectionShape Job() {
  return {.name = "job",
          .title = "What is served",
          .doc = "The model, the cards and the load.",
          .rows = {
              FieldRow("model", "Model", CellType::kText, "The served model."),
              FieldRow("card", "Card", CellType::kText, "The kind of card."),
              FieldRow("cards", "Cards", CellType::kInteger, "How many."),
              FieldRow("layout", "Layout", CellType::kText,
                       "How the model lies over the cards."),
              FieldRow("engine", "Engine", CellType::kText,
                       "Whose constants were taken."),
              FieldRow("storage", "Weights", CellType::kText,
                       "How the weights are stored."),
              FieldRow("load", "Load", CellType::kText, "Tokens of a request."),
              FieldRow("capacity", "Cache holds", CellType::kText,
                       "Requests of this load that the cache has room for."),
              FieldRow("reach", "Range", CellType::kText,
                       "Where the case lies to the runs that the constants "
                       "were fitted on: inside, near the edge, outside.")}};
}

SectionShape Points() {
  return {
      .name = "speed",
      .title = "Speed",
      .doc = "At steady state, with 90 % intervals.",
      .rows = {Sparse(TableRow(
          "points", "By concurrency", "One row for each number of requests.",
          {{"concurrency", "Requests", CellType::kInteger,
            "Requests in flight."},
           {"ttft_ms", "First token ms", CellType::kReal,
            "Milliseconds until the first token."},
           {"ttft_ms_range", "90 %", CellType::kText, "Its interval."},
           {"tpot_ms", "Token ms", CellType::kReal,
            "Milliseconds of every further token."},
           {"tpot_ms_range", "90 %", CellType::kText, "Its interval."},
           {"tok_s_per_user", "Tokens/s each", CellType::kReal,
            "Output tokens a second of one request."},
           {"output_tok_s", "Tokens/s all", CellType::kReal,
            "Output tokens a second of all requests."},
           {"requests_s", "Requests/s", CellType::kReal,
            "Requests that end in a second."},
           {"limit", "Limited by", CellType::kText,
            "What takes the largest part of a token's time."},
           {"room", "Cache", CellType::kText,
            "Whether the cache holds them at once."},
           {.name = "usd_per_million_output_tokens",
            .label = "USD/M tokens",
            .type = CellType::kReal,
            .doc = "Dollars of a million output tokens, by --price; absent "
                   "without one.",
            .optional = true},
           {.name = "usd_range",
            .label = "90 %",
            .type = CellType::kText,
            .doc = "Its interval.",
            .optional = true}}))}};
}

RowShape Parts(std::string_view name, std::string_view label,
               std::string_view doc) {
  return BarsRow(name, label, doc,
                 {"part", "Part", CellType::kText, "What takes it."},
                 {"time", "Time", CellType::kFigure, "Seconds."});
}

SectionShape Where() {
  return {
      .name = "where",
      .title = "Where the time goes",
      .doc = "The largest of the loads, by parts.",
      .rows = {FieldRow("concurrency", "Requests", CellType::kInteger,
                        "The load that is taken apart."),
               Parts("token", "One output token",
                     "A step of decoding and its share of others' prompts."),
               Parts("prompt", "One prompt", "A prompt by itself."),
               TableRow("gains", "One resource twice as fast",
                        "What the same load would take.",
                        {{"resource", "Resource", CellType::kText,
                          "What is doubled."},
                         {"ttft_ms", "First token ms", CellType::kReal,
                          "Milliseconds until the first token."},
                         {"tpot_ms", "Token ms", CellType::kReal,
                          "Milliseconds of every further token."}})}};
}

SectionShape Assumed() {
  return {.title = "Assumed",
          .rows = {FieldRow("assumed", "Assumed", CellType::kTexts,
                            "What was taken without being said.")}};
}

// Three digits: more would claim what an estimate does not know.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale =
      std::pow(10, 2 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::string Range(const AnyFigure& figure, double factor) {
  return fmt::format("{:g} to {:g}", Rounded(*figure.low() * factor),
                     Rounded(*figure.high() * factor));
}

}  // namespace

const DocumentShape& SpeedShape() {
  static const DocumentShape shape = {
      .name = "speed",
      .title = "Speed of serving",
      .doc = "How fast a model is served, what limits it and what it costs.",
      .sections = {Job(), Points(), RunsSection(), Where(), Assumed()}};
  return shape;
}

Document PresentSpeed(const SpeedAnswer& answer,
                      const std::vector<CalibratedFigure>& by_runs) {
  Document document(SpeedShape());
  document.Set("job.model", answer.model);
  document.Set("job.card", answer.card);
  document.Set("job.cards", answer.cards);
  document.Set("job.layout", answer.layout);
  document.Set("job.engine", answer.engine);
  document.Set("job.storage", answer.storage);
  document.Set("job.load", answer.load);
  document.Set("job.capacity", answer.capacity);
  document.Set("job.reach", answer.reach);
  constexpr double kMilli = 1e3;
  for (const SpeedPoint& point : answer.points) {
    const AnyFigure& first = point.first_token.any();
    const AnyFigure& token = point.token.any();
    std::vector<Cell> cells = {point.concurrency,
                               Rounded(*first.value() * kMilli),
                               Range(first, kMilli),
                               Rounded(*token.value() * kMilli),
                               Range(token, kMilli),
                               Rounded(point.user_rate),
                               Rounded(*point.output_rate.any().value()),
                               Rounded(point.requests_a_second),
                               point.limit,
                               point.room};
    if (point.cost) {
      cells.emplace_back(Rounded(*point.cost->value()));
      cells.emplace_back(Range(*point.cost, 1));
    } else {
      cells.emplace_back();
      cells.emplace_back();
    }
    document.AddRow("speed.points", std::move(cells));
  }
  SetRuns(document, by_runs);
  document.Set("where.concurrency", answer.explained);
  for (const SpeedPart& part : answer.token) {
    document.AddRow("where.token", {part.part, part.time});
  }
  for (const SpeedPart& part : answer.prompt) {
    document.AddRow("where.prompt", {part.part, part.time});
  }
  for (const SpeedGain& gain : answer.gains) {
    document.AddRow("where.gains", {gain.resource, Rounded(gain.first_token),
                                    Rounded(gain.token)});
  }
  document.Set("assumed", answer.assumed);
  return document;
}

}  // namespace foretell
