#include "input/scorecard_record.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "data/embedded.h"
#include "input/row_fields.h"

namespace foretell {
namespace {

void ForEachRow(const std::string& name,
                const std::function<void(const RowFields&)>& each) {
  const std::string_view file = Embedded(name);
  std::vector<InputError> errors;
  int line = 0;
  for (size_t start = 0; start < file.size();) {
    const size_t end = std::min(file.find('\n', start), file.size());
    const std::string text(file.substr(start, end - start));
    start = end + 1;
    ++line;
    if (text.empty()) continue;
    const RowLine row{&text, "data/" + name, line};
    if (const auto object = ReadRow(row, errors)) {
      each(RowFields(*object, row, errors));
    }
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
}

}  // namespace

ScorecardRecord LastScorecard() {
  ScorecardRecord out;
  ForEachRow("scorecard.jsonl", [&out](const RowFields& row) {
    if (row.Get("date") != nullptr) {
      out.date = row.Text("date");
      return;
    }
    ScorecardLine line;
    line.kind = row.Text("kind");
    line.set = row.Text("set");
    line.group = row.Text("group");
    line.rows = row.Count("rows");
    line.scored = row.Count("scored");
    if (const ConfigValue* figures = row.Object("figures")) {
      for (const auto& [key, value] : figures->members()) {
        if (const auto number = value.AsReal()) line.figures[key] = *number;
      }
    }
    out.lines.push_back(std::move(line));
  });
  return out;
}

std::vector<PeerFigure> PeerFigures() {
  std::vector<PeerFigure> out;
  ForEachRow("peer_accuracy.jsonl", [&out](const RowFields& row) {
    out.push_back({row.Text("quantity"), row.Text("figure"), row.Text("by"),
                   row.Text("cases"), row.Text("evidence"),
                   row.Text("source")});
  });
  return out;
}

}  // namespace foretell
