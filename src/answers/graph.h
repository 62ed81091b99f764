// `foretell graph`: the operations of one forward pass in training, in order.
//
// In: a configuration, a batch and a length. Out: the text form, counts and
// FLOPs, exact. A refusal where the configuration cannot be read or its sizes
// do not go together. Backward and optimizer are not part of it.
#ifndef FORETELL_ANSWERS_GRAPH_H_
#define FORETELL_ANSWERS_GRAPH_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analysis/flops.h"
#include "answers/refusal.h"
#include "base/figure.h"
#include "base/finding.h"
#include "models/build.h"
#include "spec/model_config.h"

namespace foretell {

struct GraphRequest {
  ModelConfig config;
  BuildOptions build;
  int64_t batch = 1;
  int64_t sequence = 128;
  std::string attention = "sdpa";
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
