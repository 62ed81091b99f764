// What the embedded data/engines/ says of one version of an engine.
//
// In: an engine and a version. Out: the facts of the nearest described version
// that is not newer, else of the oldest. Rows that hold from another version
// on, or before one, are passed over without being parsed.
#ifndef FORETELL_INPUT_ENGINE_FACTS_H_
#define FORETELL_INPUT_ENGINE_FACTS_H_

#include <vector>

#include "spec/engine_facts.h"

namespace foretell {

EngineFacts ReadEngineFacts(ServingEngine engine, const EngineVersion& version);

// Oldest first.
std::vector<EngineVersion> DescribedVersions(ServingEngine engine);

}  // namespace foretell

#endif  // FORETELL_INPUT_ENGINE_FACTS_H_
