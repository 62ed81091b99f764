// The options that say how long a run is, what it costs and where it runs.
//
// In: a parsed command line, the card. Out: spec/run_costs.h. Throws
// InputErrors with the place on the command line.
#ifndef FORETELL_FRONT_RUN_COST_OPTIONS_H_
#define FORETELL_FRONT_RUN_COST_OPTIONS_H_

#include <vector>

#include "front/command_table.h"
#include "front/invocation.h"
#include "spec/device.h"
#include "spec/run_costs.h"

namespace foretell {

std::vector<OptionRow> RunCostRows();

RunCosts ReadRunCosts(const Invocation& invocation, const Device& device);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_COST_OPTIONS_H_
