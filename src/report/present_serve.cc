#include "report/present_serve.h"

#include <fmt/format.h>

#include <cmath>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/findings_section.h"

namespace foretell {
namespace {

SectionShape Understood() {
  return {
      .name = "launch",
      .title = "What was understood",
      .doc = "What the launch, the card and the version were taken as.",
      .rows = {
          FieldRow("engine", "Engine", CellType::kText,
                   "The engine, its version and that version's date."),
          FieldRow("version_source", "Version from", CellType::kText,
                   "What says which version it is."),
          FieldRow("form", "Written as", CellType::kText,
                   "How the launch is written."),
          FieldRow("model", "Model", CellType::kText, "The served model."),
          Optional(FieldRow("architecture", "Class", CellType::kText,
                            "The class that serves it.")),
          FieldRow("card", "Card", CellType::kText,
                   "The card, and where that was said."),
          FieldRow("cards", "Cards", CellType::kInteger, "How many there are."),
          FieldRow("cards_source", "Cards from", CellType::kText,
                   "What says how many."),
          KeyedRow("read_as", "Read as",
                   "What the launch and the defaults come to.",
                   {{"what", "What", CellType::kText, "Which setting."},
                    {"value", "Value", CellType::kText, "Its value."}})}};
}

SectionShape Verdict() {
  return {.name = "verdict",
          .title = "Verdict",
          .doc = "What the engine's own validation and its memory say.",
          .rows = {FieldRow("accepted", "Accepted", CellType::kFlag,
                            "Whether the engine's own validation lets the "
                            "launch pass, and nothing says that its memory "
                            "does not."),
                   FieldRow("text", "Verdict", CellType::kText,
                            "Accepted, or the refusal that comes first."),
                   Optional(FieldRow("fix", "Fix", CellType::kText,
                                     "What mends the first refusal."))}};
}

SectionShape MemorySection() {
  return {.name = "memory",
          .title = "Memory of one card",
          .doc = "What the memory of one card goes to.",
          .rows = {Optional(TableRow(
                       "lines", "Memory", "What one card's memory goes to.",
                       {{"what", "What", CellType::kText, "What takes it."},
                        {"bytes", "Bytes", CellType::kFigure, "How much."}})),
                   Optional(TableRow(
                       "groups", "Layers of the KV cache",
                       "Layers that share a table of blocks.",
                       {{"kind", "Kind", CellType::kText,
                         "The engine's own name of what they keep."},
                        {"layers", "Layers", CellType::kInteger, "How many."},
                        {"block_size", "Block", CellType::kInteger,
                         "Tokens of a block."},
                        {"page", "Page", CellType::kFigure,
                         "Bytes of a block in one layer."}})),
                   Optional(TableRow(
                       "printed", "What the engine prints",
                       "Lines of the engine's own log.",
                       {{"line", "Line", CellType::kText, "One line."}}))}};
}

std::vector<ColumnShape> PointColumns() {
  return {{"change", "Change", CellType::kText, "The flags that are added."},
          {"bytes", "Left for the cache", CellType::kFigure, "Of one card."},
          {.name = "blocks",
           .label = "Blocks",
           .type = CellType::kInteger,
           .doc = "Of the pool, by the likely amount.",
           .optional = true},
          {.name = "printed_tokens",
           .label = "Tokens",
           .type = CellType::kInteger,
           .doc = "The size of the cache that the engine prints.",
           .optional = true},
          {.name = "concurrency",
           .label = "Concurrency",
           .type = CellType::kReal,
           .doc = "Requests of the served length at once.",
           .optional = true},
          {.name = "requests",
           .label = "Requests",
           .type = CellType::kReal,
           .doc = "Requests of the asked length at once.",
           .optional = true},
          {.name = "why_not",
           .label = "Why not",
           .type = CellType::kText,
           .doc = "What keeps the change from a plan.",
           .optional = true}};
}

SectionShape Explained() {
  return {.name = "explained",
          .title = "How the KV cache comes about",
          .doc = "The terms of the KV cache's figures, in their order.",
          .rows = {Optional(TableRow(
              "terms", "Terms", "One term each.",
              {{"what", "Term", CellType::kText, "Which term."},
               {"value", "Value", CellType::kText, "Its value."},
               {"how", "How", CellType::kText, "How it comes about."}}))}};
}

SectionShape Sensitivity() {
  return {.name = "sensitivity",
          .title = "As one flag moves",
          .doc = "The cache as one flag of the launch moves.",
          .rows = {Optional(Sparse(TableRow(
              "changes", "Changes",
              "The launch as it is, then one change each.", PointColumns())))}};
}

SectionShape Want() {
  return {
      .name = "want",
      .title = "What serves the goal",
      .doc = "The smallest change that serves what --want asks.",
      .rows = {
          Optional(FieldRow("goal", "Goal", CellType::kText, "What is asked.")),
          Optional(FieldRow("served", "Served", CellType::kFlag,
                            "Whether a change serves it, at least likely.")),
          Optional(FieldRow("sure", "Sure", CellType::kFlag,
                            "Whether it does under the least memory that may "
                            "be left.")),
          Optional(FieldRow("flags", "Flags", CellType::kText,
                            "What to add to the launch.")),
          Optional(FieldRow("answer", "Answer", CellType::kText,
                            "What serves it, or why nothing does.")),
          Optional(Sparse(TableRow("tried", "Tried",
                                   "Every change until one served surely.",
                                   PointColumns())))}};
}

SectionShape Settings() {
  return {.name = "settings",
          .title = "Settings that the engine ends with",
          .doc = "Every value of the configuration.",
          .rows = {Optional(
              TableRow("values", "Settings",
                       "The configuration's values by section and name.",
                       {{"name", "Name", CellType::kText, "Section and name."},
                        {"value", "Value", CellType::kText, "The value."}}))}};
}

SectionShape Against() {
  return {
      .name = "against",
      .title = "The other version",
      .doc = "The same launch under another version.",
      .rows = {Optional(FieldRow("version", "Version", CellType::kText,
                                 "The version compared with.")),
               Optional(FieldRow("verdict", "Verdict", CellType::kText,
                                 "What it says to the launch.")),
               Optional(TableRow(
                   "differences", "Differences",
                   "Settings that the two end with differently.",
                   {{"setting", "Setting", CellType::kText, "Which."},
                    {"here", "Here", CellType::kText, "In this version."},
                    {"there", "There", CellType::kText, "In the other."}}))}};
}

SectionShape Assumed() {
  return {.name = "assumed",
          .title = "Assumed or not known",
          .doc = "What was assumed, and what could not be known.",
          .rows = {Optional(TableRow(
              "notes", "Notes", "What was assumed, and what is not known.",
              {{"note", "Note", CellType::kText, "One of them."}}))}};
}

}  // namespace

const DocumentShape& ServeShape() {
  static const DocumentShape shape = {
      .name = "serve",
      .title = "Whether a launch of a serving engine starts",
      .doc =
          "What a serving engine makes of a launch: its settings, its "
          "memory, and what it refuses.",
      .sections = {Understood(), Verdict(), MemorySection(), Explained(),
                   Sensitivity(), Want(), Settings(), Against(), Assumed(),
                   FindingsSection()}};
  return shape;
}

namespace {

void AddPoint(Document& document, std::string_view path,
              const ServingPoint& point) {
  const auto integer = [](const std::optional<int64_t>& value) {
    return value ? Cell(*value) : Cell();
  };
  // Two digits, as the engine prints its concurrency.
  const auto real = [](const std::optional<double>& value) {
    return value ? Cell(std::round(*value * 100) / 100) : Cell();
  };
  document.AddRow(
      path, {point.change.empty() ? "as it is" : point.change, point.cache,
             integer(point.blocks), integer(point.printed_tokens),
             real(point.concurrency), real(point.requests),
             point.refusal.empty() ? Cell() : Cell(point.refusal)});
}

void SetSearches(Document& document, const ServeAnswer& answer) {
  for (const ServingTerm& term : answer.terms) {
    document.AddRow("explained.terms", {term.what, term.value, term.how});
  }
  for (const ServingPoint& point : answer.sensitivity) {
    AddPoint(document, "sensitivity.changes", point);
  }
  if (!answer.want) return;
  document.Set("want.goal", answer.want->goal);
  document.Set("want.served", answer.want->is_served);
  document.Set("want.sure", answer.want->is_sure);
  if (!answer.want->flags.empty()) {
    document.Set("want.flags", answer.want->flags);
  }
  document.Set("want.answer", answer.want->text);
  for (const ServingPoint& point : answer.want->tried) {
    AddPoint(document, "want.tried", point);
  }
}

}  // namespace

Document PresentServe(const ServeAnswer& answer, const ServeView& view) {
  Document document(ServeShape());
  document.Set("launch.engine",
               fmt::format("{} {} ({})", answer.engine, answer.version,
                           answer.version_date));
  document.Set("launch.version_source", answer.version_source);
  document.Set("launch.form", answer.form);
  document.Set("launch.model", answer.model);
  if (!answer.architecture.empty()) {
    document.Set("launch.architecture", answer.architecture);
  }
  document.Set("launch.card",
               fmt::format("{} ({})", answer.card, answer.card_source));
  document.Set("launch.cards", answer.cards);
  document.Set("launch.cards_source", answer.cards_source);
  document.Touch("launch.read_as");
  for (const auto& [what, value] : answer.understood) {
    document.AddRow("launch.read_as", {what, value});
  }
  document.Set("verdict.accepted", answer.accepted);
  document.Set("verdict.text", answer.verdict);
  if (!answer.fix.empty()) document.Set("verdict.fix", answer.fix);
  for (const ServeMemoryLine& line : answer.memory) {
    document.AddRow("memory.lines", {line.what, line.bytes});
  }
  for (const ServeCacheGroup& group : answer.groups) {
    document.AddRow("memory.groups",
                    {group.kind, group.layers, group.block_size, group.page});
  }
  for (const std::string& line : answer.printed) {
    document.AddRow("memory.printed", {line});
  }
  SetSearches(document, answer);
  if (view.settings) {
    document.Touch("settings.values");
    for (const auto& [name, value] : answer.settings) {
      document.AddRow("settings.values", {name, value});
    }
  }
  if (answer.against) {
    document.Set("against.version", *answer.against);
    document.Set("against.verdict", answer.against_verdict);
    document.Touch("against.differences");
    for (const ServeDifference& one : answer.differences) {
      document.AddRow("against.differences",
                      {one.setting, one.here, one.there});
    }
  }
  for (const std::string& note : answer.assumed) {
    document.AddRow("assumed.notes", {note});
  }
  std::vector<RuleNotRun> not_run;
  for (const auto& [rule, reason] : answer.rules_not_run) {
    not_run.push_back({rule, reason});
  }
  SetFindings(document, answer.findings, answer.rules_ran, not_run);
  return document;
}

}  // namespace foretell
