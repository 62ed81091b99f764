// Reads how a recorded step is divided by data, and what its rank said to the
// others (tools/pytorch, sharded recordings).
//
// In: a row of such a recording. Out: the division and the collectives, its
// figures left to the caller; nothing where the step is divided otherwise, by
// tensors or stages. Wrong values are errors of the row.
#ifndef FORETELL_INPUT_RECORDED_RANK_H_
#define FORETELL_INPUT_RECORDED_RANK_H_

#include <optional>

#include "input/row_fields.h"
#include "spec/recording.h"

namespace foretell {

std::optional<RecordedRank> ReadRank(const RowFields& row,
                                     const StepCase& step);

}  // namespace foretell

#endif  // FORETELL_INPUT_RECORDED_RANK_H_
