#include "report/present_verify.h"

#include <string>
#include <utility>
#include <vector>

namespace foretell {
namespace {

SectionShape Totals() {
  return {
      .rows = {
          FieldRow("verdict", "Verdict", CellType::kText,
                   "What came out, in one line."),
          FieldRow("source", "File", CellType::kText,
                   "The file of recordings."),
          FieldRow("rows", "Rows", CellType::kInteger, "Rows of the file."),
          FieldRow("compared", "Compared", CellType::kInteger,
                   "Rows whose class has a family and whose configuration was "
                   "found."),
          FieldRow("refused", "Refused here", CellType::kInteger,
                   "Compared rows that are refused here though PyTorch builds "
                   "them; they count as different."),
          FieldRow("unsupported", "Without a family", CellType::kInteger,
                   "Rows of classes that no family has."),
          FieldRow("error_rows", "Recorded errors", CellType::kInteger,
                   "Rows where PyTorch itself gave an error."),
          FieldRow("error_rows_refused", "Refused here too", CellType::kInteger,
                   "Recorded errors that are refused or blocked here too."),
          FieldRow("claimed_exact", "Claimed exact", CellType::kInteger,
                   "Rows whose figures are claimed to be exact."),
          FieldRow("wrong_claims", "Wrong claims", CellType::kInteger,
                   "Rows that are claimed to be exact and differ."),
      }};
}

SectionShape Tallies() {
  return {.rows = {
              KeyedRow("fields", "By figure", "One row a recorded figure.",
                       {{"figure", "Figure", CellType::kText,
                         "Which figure was compared."},
                        {"n", "Rows", CellType::kInteger, "Rows compared."},
                        {"equal", "Equal", CellType::kInteger,
                         "Rows reproduced exactly."},
                        {"within_0_5pct", "Within 0.5 %", CellType::kInteger,
                         "Rows within half a percent."},
                        {"within_1pct", "Within 1 %", CellType::kInteger,
                         "Rows within one percent."}}),
              KeyedRow("by_class", "By class", "One row a class.",
                       {{"class", "Class", CellType::kText, "The class."},
                        {"n", "Rows", CellType::kInteger, "Rows compared."},
                        {"equal", "Equal", CellType::kInteger,
                         "Rows equal in every figure."}}),
              Optional(MapRow(
                  "left_out", "Left out",
                  "Why rows were not compared, with their number.",
                  {"reason", "Reason", CellType::kText, "What the row lacks."},
                  {"rows", "Rows", CellType::kInteger, "How many rows."})),
              Optional(FieldRow(
                  "unsupported_classes", "Classes without a family",
                  CellType::kTexts,
                  "Which classes have no family, each with its rows.")),
              Optional(TableRow(
                  "differences", "Differences", "The first differences.",
                  {{"line", "Line", CellType::kInteger, "The row's line."},
                   {"config", "Configuration", CellType::kText,
                    "The configuration's label."},
                   {"class", "Class", CellType::kText, "The class."},
                   {"figure", "Figure", CellType::kText, "What differs."},
                   {"what", "Difference", CellType::kText, "Both sides."}})),
          }};
}

// "109 of 109 rows equal, no wrong claim; 376 rows have no family"
std::string VerdictOf(const VerifyAnswer& answer) {
  int64_t equal = 0;
  for (const auto& [name, tally] : answer.by_class) equal += tally.equal;
  std::string out = std::to_string(equal) + " of " +
                    std::to_string(answer.compared) + " rows equal";
  if (answer.refused > 0) {
    out += ", " + std::to_string(answer.refused) + " refused here";
  }
  out += answer.wrong_claims == 0
             ? ", no wrong claim"
             : ", " + std::to_string(answer.wrong_claims) + " wrong claims";
  if (answer.unsupported > 0) {
    out += "; " + std::to_string(answer.unsupported) + " rows have no family";
  }
  return out;
}

}  // namespace

const DocumentShape& VerifyShape() {
  static const DocumentShape shape = {
      .name = "verify",
      .title = "Comparison with recordings of PyTorch",
      .doc =
          "Which recorded figures are reproduced exactly, and what "
          "differs.",
      .sections = {Totals(), Tallies()}};
  return shape;
}

Document PresentVerify(const VerifyAnswer& answer) {
  Document document(VerifyShape());
  document.Set("verdict", VerdictOf(answer));
  document.Set("source", answer.source);
  document.Set("rows", answer.rows);
  document.Set("compared", answer.compared);
  document.Set("refused", answer.refused);
  document.Set("unsupported", answer.unsupported);
  document.Set("error_rows", answer.error_rows);
  document.Set("error_rows_refused", answer.error_rows_refused);
  document.Set("claimed_exact", answer.claimed_exact);
  document.Set("wrong_claims", answer.wrong_claims);
  document.Touch("fields");
  for (const auto& [figure, tally] : answer.fields) {
    document.AddRow("fields", {figure, tally.n, tally.equal,
                               tally.within_0_5pct, tally.within_1pct});
  }
  document.Touch("by_class");
  for (const auto& [name, tally] : answer.by_class) {
    document.AddRow("by_class", {name, tally.n, tally.equal});
  }
  for (const auto& [reason, rows] : answer.left_out) {
    document.AddRow("left_out", {reason, rows});
  }
  if (!answer.unsupported_classes.empty()) {
    std::vector<std::string> classes;
    for (const auto& [name, rows] : answer.unsupported_classes) {
      classes.push_back(name + " (" + std::to_string(rows) + ")");
    }
    document.Set("unsupported_classes", std::move(classes));
  }
  for (const VerifyDifference& difference : answer.differences) {
    document.AddRow("differences",
                    {difference.line, difference.config, difference.class_name,
                     difference.field, difference.what});
  }
  return document;
}

}  // namespace foretell
