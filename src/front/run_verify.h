// `foretell verify`: which recorded figures are reproduced.
#ifndef FORETELL_FRONT_RUN_VERIFY_H_
#define FORETELL_FRONT_RUN_VERIFY_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunVerify(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_VERIFY_H_
