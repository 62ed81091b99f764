// The figures of one rank of a step that is divided by data: its memory, its
// FLOPs and what it says to the others.
//
// In: a configuration, and a recording's case with how it is divided. Out: the
// figures under the names of `verify`, exact; whether they are claimed; or a
// refusal.
#ifndef FORETELL_ANSWERS_RANK_FIGURES_H_
#define FORETELL_ANSWERS_RANK_FIGURES_H_

#include <string>
#include <variant>
#include <vector>

#include "answers/read_model.h"
#include "answers/refusal.h"
#include "answers/step_figures.h"
#include "base/figure.h"
#include "spec/model_config.h"
#include "spec/recording.h"

namespace foretell {

struct RankFigures {
  std::string class_name;
  Parameters parameters;
  StepFigures step;
  bool claims = false;
  // "allgather_base bf16 4096 of 8, forward, 2 times"
  std::vector<std::string> collectives;
};

// The step that a rank computes: in the dtype that it gathers parameters in.
StepCase StepOfRank(const Recording& recording);

// `recording` is of a step that is divided by data.
std::variant<RankFigures, Refusal> DeriveRank(const ModelConfig& config,
                                              const BuildOptions& build,
                                              const Recording& recording);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_RANK_FIGURES_H_
