// `foretell verify`: which recorded figures are reproduced.
//
// In: a file of recordings. Out: tallies; the exit status is 1 where a figure
// differs. Throws InputErrors where the file cannot be read.
#ifndef FORETELL_FRONT_RUN_VERIFY_H_
#define FORETELL_FRONT_RUN_VERIFY_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunVerify(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_VERIFY_H_
