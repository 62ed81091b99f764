// A report: the values of one `DocumentShape`, ready for every renderer.
//
// A presenter (report/present_<question>.cc) turns an answer into a Document;
// renderers turn it into text, JSON or Markdown. Paths are "name", or
// "section.name" where the section has a name.
//
//   Document document(VerifyShape());
//   document.Set("rows", answer.rows);
//   for (const auto& [figure, tally] : answer.fields) {
//     document.AddRow("fields", {figure, tally.n, tally.equal});
//   }
//   std::cout << RenderText(document);
//
// A path that the shape lacks, a value of another type, a second value for a
// field, a row with too few cells or a repeated key fails a check: it is a bug
// of the presenter. Texts may hold any bytes; renderers make them harmless.
#ifndef FORETELL_REPORT_DOCUMENT_H_
#define FORETELL_REPORT_DOCUMENT_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "report/cell.h"
#include "report/shape.h"

namespace foretell {

// What a row of the shape holds in one document.
struct RowValue {
  bool touched = false;  // a field was set, or a table mentioned
  Cell cell;             // of a field or a preformatted text
  std::vector<std::vector<Cell>> cells;  // of a table or bars
  std::vector<Finding> findings;
};

// Whether a table shows the column: a sparse one leaves out what no row has.
bool ShowsColumn(const RowShape& row,
                 const std::vector<std::vector<Cell>>& cells, size_t column);

class Document {
 public:
  // `shape` outlives the document: shapes are constants.
  explicit Document(const DocumentShape& shape);

  // A field or a preformatted text.
  void Set(std::string_view path, Cell value);
  // A table or bars; one cell a column, in the shape's order.
  void AddRow(std::string_view path, std::vector<Cell> cells);
  // An optional table that is meant to appear even while it is empty.
  void Touch(std::string_view path);
  void AddFinding(std::string_view path, Finding finding);

  const DocumentShape& shape() const { return *shape_; }
  const RowValue& ValueOf(const RowShape& row) const;
  // Whether the row appears: set, or not optional.
  bool Shows(const RowShape& row) const;
  bool Shows(const SectionShape& section) const;
  // Fails a check where a field that must be set is not.
  void CheckComplete() const;

  // Whether any finding in any section blocks.
  bool Blocks() const;
  // Whether any rule could not run (report/findings_section.h).
  bool CannotTell() const;

 private:
  RowValue& At(std::string_view path, const RowShape** row);

  const DocumentShape* shape_;
  // Keyed by the address of the shape's row, which is stable.
  std::map<const RowShape*, RowValue> values_;
  std::map<const RowShape*, std::set<std::vector<std::string>>> keys_;
};

}  // namespace foretell

#endif  // FORETELL_REPORT_DOCUMENT_H_
