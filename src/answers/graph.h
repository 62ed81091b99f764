// `foretell graph`: the operations of one step, in order, as far as asked.
//
// In: a configuration, the case and the last phase that is wanted. Out: the
// text form, counts and FLOPs, exact. A refusal where the configuration cannot
// be read, its sizes do not go together or a rule blocks the step.
#ifndef FORETELL_ANSWERS_GRAPH_H_
#define FORETELL_ANSWERS_GRAPH_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analysis/flops.h"
#include "answers/compile_step.h"
#include "answers/refusal.h"
#include "base/figure.h"
#include "base/finding.h"
#include "models/build.h"
#include "spec/model_config.h"
#include "spec/step_case.h"

namespace foretell {

struct GraphRequest {
  ModelConfig config;
  BuildOptions build;
  StepCase step;
  StopAfter after = StopAfter::kForward;
};

struct GraphAnswer {
  std::string name;
  std::string class_name;
  std::string text;  // the operations, one a line
  int64_t operations = 0;
  int64_t drops = 0;
  Flops flops;
  std::vector<OperationFlops> by_operation;
  std::vector<Finding> findings;
};

std::variant<GraphAnswer, Refusal> AnswerGraph(const GraphRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_GRAPH_H_
