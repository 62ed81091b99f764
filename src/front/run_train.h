// `foretell train`: whether a training job fits its card.
//
// In: TARGET and the job's options. Out: the report; a finding blocks where
// the job does not fit. Throws InputErrors for what cannot be read or built.
#ifndef FORETELL_FRONT_RUN_TRAIN_H_
#define FORETELL_FRONT_RUN_TRAIN_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunTrain(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_TRAIN_H_
