// One rank's share of a training job that PyTorch's own wrappers divide, as
// passes/sharding writes it.
//
// In: a job. Out: the rank's case; nothing where the job is divided otherwise
// (DeepSpeed, packed weights), or not at all. With a compiled step of it: the
// share, with the bytes of the graph's storages changed to what the rank holds.
#ifndef FORETELL_ANSWERS_TRAIN_RANK_H_
#define FORETELL_ANSWERS_TRAIN_RANK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "answers/compile_step.h"
#include "graph/graph.h"
#include "passes/sharding/divide_step.h"
#include "spec/rank_case.h"
#include "spec/step_case.h"
#include "spec/training_job.h"

namespace foretell {

std::optional<RankCase> RankOf(const TrainingJob& job, const StepCase& step);

// Where the step is written as if these had been in the gathered dtype all
// along: a buffer, or what comes into a block from another.
bool CastsBuffers(const Graph& graph, const RankCase& rank);
bool CastsArguments(const Graph& graph, const RankCase& rank);

// Why what a real rank holds may differ from what is written.
std::vector<std::string> ReasonsNotExact(const Graph& graph,
                                         const RankCase& rank);

// `graph` is that of `compiled`, or a copy of it.
RankShare DivideCompiled(const CompiledStep& compiled, const RankCase& rank,
                         Graph& graph, std::span<const int64_t> copies = {});

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_RANK_H_
