// `foretell step`: what one training step, or one step of inference, takes on
// one device: the peak and where it is, what lives then, FLOPs, and what
// autograd keeps.
//
// In: a configuration, how the model is built and the case. Out: bytes and
// FLOPs as PyTorch itself would report them, with every assumption; where
// `not_exact` is empty all of them are claimed to be exact. A refusal where
// the step cannot be written; findings without figures where a rule blocks it.
//
// Not in any figure: workspaces of libraries, the allocator's rounding and
// holes, the driver's context.
#ifndef FORETELL_ANSWERS_STEP_H_
#define FORETELL_ANSWERS_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/flops_conventions.h"
#include "analysis/occupancy.h"
#include "answers/attention_kernels.h"
#include "answers/refusal.h"
#include "answers/step_tables.h"
#include "base/finding.h"
#include "graph/graph.h"
#include "models/build.h"
#include "spec/model_config.h"
#include "spec/step_case.h"

namespace foretell {

struct StepRequest {
  ModelConfig config;
  BuildOptions build;
  StepCase step;
  size_t most_points = 0;  // of the timeline; 0: none is made
};

// Where a peak is reached.
struct StepMoment {
  Phase phase = Phase::kForward;
  // Of the operation that reached it; empty where the phase began with it.
  std::string operation;
  std::string module;
  int64_t ran = 0;  // operations that had run, this one included
};

struct StepPhase {
  StepMoment peak_at;
  int64_t peak = 0;  // bytes
  int64_t flops = 0;
  int64_t operations = 0;
};

struct StepResult {
  int64_t peak = 0;
  StepMoment peak_at;
  int64_t operations = 0;
  BytesByKind at_peak = {};
  std::vector<StepPhase> phases;
  int64_t flops = 0;
  // Of the phases, under the recorder's names (answers/step_figures.h); absent
  // where the mode has none.
  std::optional<int64_t> kept_bytes;
  std::optional<int64_t> kept_count;
  std::optional<int64_t> gradient_bytes;
  std::optional<int64_t> optimizer_bytes;
  std::optional<int64_t> cache_bytes;
  // FLOPs under the conventions in which they are quoted, and what leads from
  // 6 N D to what is executed.
  std::vector<FlopsConvention> conventions;
  std::vector<FlopsTerm> reconciliation;
  std::vector<UncountedOperation> uncounted;
  std::vector<AttentionKernel> attention_kernels;
  std::vector<StepOperator> operators;
  std::vector<StepModule> modules;
  std::vector<MemoryPoint> timeline;
};

struct StepAnswer {
  std::string name;  // the id, or the file
  std::string class_name;
  std::string setting;                 // the case in one line
  std::optional<StepResult> result;    // nothing where a finding blocks
  std::vector<std::string> not_exact;  // reasons; none: all is exact
  std::vector<std::string> assumptions;
  std::vector<Finding> findings;
  std::vector<std::string> rules_ran;
  std::vector<std::pair<std::string, std::string>> rules_not_run;
};

std::variant<StepAnswer, Refusal> AnswerStep(const StepRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STEP_H_
