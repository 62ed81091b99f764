// What a report may say: sections, fields, tables and findings, declared once.
//
// Each question has one `DocumentShape`. Labels, JSON names, JSON schema and
// the pages under docs/ all come from it, and a `Document` (report/document.h)
// refuses a value that its shape does not announce, so that what is documented
// and what is printed cannot drift apart.
//
// A shape is written as a function with a constant inside, so that a run of
// the program builds only the shape it needs. Every string is a literal.
//
//   const DocumentShape& VerifyShape() {
//     static const DocumentShape shape = {
//         .name = "verify",
//         .title = "Comparison with recordings",
//         .doc = "Which recorded figures are reproduced exactly.",
//         .sections = {
//             {.rows = {FieldRow("rows", "Rows", CellType::kInteger,
//                                "Rows of the file."),
//                       KeyedRow("fields", "By figure", "One row a figure.",
//                                {{"figure", "Figure", CellType::kText,
//                                  "Which figure was compared."},
//                                 {"n", "Rows", CellType::kInteger,
//                                  "Rows compared."},
//                                 {"equal", "Equal", CellType::kInteger,
//                                  "Rows reproduced exactly."}})}},
//             FindingsSection()}};
//     return shape;
//   }
//
// In JSON that is {"rows": 3, "fields": {"parameters": {"n": 3, "equal": 3}},
// "findings": […], …}.
#ifndef FORETELL_REPORT_SHAPE_H_
#define FORETELL_REPORT_SHAPE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace foretell {

enum class CellType : uint8_t {
  kText,
  kInteger,
  kReal,
  kFlag,    // true or false; "yes" or "no" in text
  kFigure,  // a number with its provenance: base/figure.h
  kTexts,   // a list of texts
};

std::string_view NameOf(CellType type);  // "text", "integer", …

struct ColumnShape {
  std::string_view name = {};   // in JSON: "micro_batch"
  std::string_view label = {};  // in text and Markdown: "Micro-batch"
  CellType type = CellType::kText;
  std::string_view doc = {};  // one sentence, with its full stop
  // Some rows have no such value: null in JSON, a dash in text. What is not
  // known is an unknown figure instead.
  bool optional = false;
};

enum class RowKind : uint8_t {
  kField,
  kTable,
  kBars,          // a table whose figure is drawn, with shares
  kFindings,      // a list of base/Finding
  kPreformatted,  // a text whose lines stay as they are
};

struct RowShape {
  RowKind kind = RowKind::kField;
  std::string_view name = {};  // in JSON
  std::string_view label = {};
  std::string_view doc = {};        // one sentence, with its full stop
  CellType type = CellType::kText;  // of a field
  // A field that need not be set, or a table that is left out while nobody
  // touched it. Other fields must be set before the document is rendered;
  // other tables may be empty, and say so.
  bool optional = false;
  std::vector<ColumnShape> columns = {};  // of a table or bars
  // How many leading columns (texts) become keys of nested JSON objects:
  // 0 gives an array of objects, 1 {"a": {…}}, 2 {"a": {"b": {…}}}.
  int keys = 0;
  // The one column after the keys stands bare: {"reason": 3}.
  bool bare = false;
  // What a row lacks is left out: of its JSON object, and a column that no row
  // has of the table. Else it is null, and a dash.
  bool sparse = false;
};

RowShape FieldRow(std::string_view name, std::string_view label, CellType type,
                  std::string_view doc);
RowShape TableRow(std::string_view name, std::string_view label,
                  std::string_view doc, std::vector<ColumnShape> columns);
RowShape KeyedRow(std::string_view name, std::string_view label,
                  std::string_view doc, std::vector<ColumnShape> columns,
                  int keys = 1);
// {"reason": 3, …}: one text column as key, one column as value.
RowShape MapRow(std::string_view name, std::string_view label,
                std::string_view doc, ColumnShape key, ColumnShape value);
// `part` is a text, `figure` a figure.
RowShape BarsRow(std::string_view name, std::string_view label,
                 std::string_view doc, ColumnShape part, ColumnShape figure);
RowShape FindingsRow(std::string_view name, std::string_view label,
                     std::string_view doc);
RowShape PreformattedRow(std::string_view name, std::string_view label,
                         std::string_view doc);
RowShape Optional(RowShape row);
RowShape Sparse(RowShape row);

struct SectionShape {
  // The key of the section's object in JSON; where empty, its rows stand at
  // the top level. Several sections may be empty so.
  std::string_view name = {};
  std::string_view title = {};  // the heading; none where empty
  std::string_view doc = {};    // one sentence; may be empty where the name is
  std::vector<RowShape> rows = {};
};

struct DocumentShape {
  std::string_view name = {};  // the command's: "model"
  std::string_view title = {};
  std::string_view doc = {};  // what the answer says, a sentence or two
  std::vector<SectionShape> sections = {};
};

// The row at "name", or "section.name" for a section with a name; null where
// there is none.
const RowShape* FindRow(const DocumentShape& shape, std::string_view path);

// Fails a check where names repeat or are not snake_case, a doc is missing,
// keys are not texts, or bars lack their figure.
void CheckShape(const DocumentShape& shape);

}  // namespace foretell

#endif  // FORETELL_REPORT_SHAPE_H_
