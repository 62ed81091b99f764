// An answer that is a refusal: the input does not say enough, or says what no
// family knows. `front` prints it as it prints an unreadable input.
//
// A value, not an exception, since answers are pure functions: a server shows
// it to whoever asked, and goes on.
#ifndef FORETELL_ANSWERS_REFUSAL_H_
#define FORETELL_ANSWERS_REFUSAL_H_

#include <vector>

#include "base/input_error.h"

namespace foretell {

struct Refusal {
  std::vector<InputError> errors;  // at least one
};

}  // namespace foretell

#endif  // FORETELL_ANSWERS_REFUSAL_H_
