#include "report/score_cells.h"

#include <cstdint>
#include <string>

namespace foretell {

void AddScoreColumns(bool has_no_count, std::vector<ColumnShape>& columns) {
  for (const ScoreKey& key : kScoreKeys) {
    columns.push_back({key.name, key.label,
                       key.is_count ? CellType::kInteger : CellType::kReal,
                       key.doc, has_no_count || key.name != "n"});
  }
}

void AddScoreCells(const ScoreFigures& figures, std::vector<Cell>& cells) {
  for (const ScoreKey& key : kScoreKeys) {
    const auto figure = figures.find(std::string(key.name));
    if (figure == figures.end()) {
      cells.emplace_back();
    } else if (key.is_count) {
      cells.emplace_back(static_cast<int64_t>(figure->second));
    } else {
      cells.emplace_back(figure->second);
    }
  }
}

}  // namespace foretell
