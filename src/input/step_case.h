// Reads the case of a recorded step, as tools/pytorch/record.py writes it.
//
// In: the row's fields: `case` with the keys that differ from the recorder's
// defaults, `inputs`, `sm`, `transformers`, `torch`. Problems go to the row's
// list of errors.
#ifndef FORETELL_INPUT_STEP_CASE_H_
#define FORETELL_INPUT_STEP_CASE_H_

#include <string_view>

#include "base/dtype.h"
#include "base/shape.h"
#include "input/row_fields.h"
#include "spec/step_case.h"

namespace foretell {

StepCase ReadStepCase(const RowFields& row);

// "i64[2, 32]" without the number of a storage; false where it is none.
bool ParseTensorKind(std::string_view text, DType& dtype, Shape& shape);

}  // namespace foretell

#endif  // FORETELL_INPUT_STEP_CASE_H_
