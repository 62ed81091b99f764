// The columns and cells of a group of comparisons, where a report lists groups.
//
// In: what a group's figures are. Out: one column a key of kScoreKeys, in their
// order, and the cells beneath; a key that the group lacks has none.
#ifndef FORETELL_REPORT_SCORE_CELLS_H_
#define FORETELL_REPORT_SCORE_CELLS_H_

#include <vector>

#include "answers/score/score_statistics.h"
#include "report/cell.h"
#include "report/shape.h"

namespace foretell {

// Behind the columns that say which group it is; whether "n" may be absent.
void AddScoreColumns(bool has_no_count, std::vector<ColumnShape>& columns);

void AddScoreCells(const ScoreFigures& figures, std::vector<Cell>& cells);

}  // namespace foretell

#endif  // FORETELL_REPORT_SCORE_CELLS_H_
