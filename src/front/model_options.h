// The options that every command about a model shares: --class, --dtype,
// --layers.
//
// In: a parsed command line. Out: what to build. Throws InputErrors with the
// place on the command line.
#ifndef FORETELL_FRONT_MODEL_OPTIONS_H_
#define FORETELL_FRONT_MODEL_OPTIONS_H_

#include "answers/model.h"
#include "front/invocation.h"

namespace foretell {

// Throws InputErrors where --dtype names no floating type.
BuildOptions ReadBuildOptions(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_MODEL_OPTIONS_H_
