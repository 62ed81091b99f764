// Many steps of one model: sizes, precision and recomputation vary, equal
// blocks are compiled once.
//
// A step is compiled with as few blocks as show every kind of them, and the
// rest is composed (analysis/composition.h). Whether a model's blocks repeat
// is read from its parameters and kept states; that composing then gives what
// compiling in full does is checked once per way of running, on a model one
// period longer, and where it does not hold steps are compiled in full.
//
//   StepMemo memo(config, {});
//   for (const StepCase& step : cases) Use(memo.FiguresOf(step));
#ifndef FORETELL_ANSWERS_STEP_MEMO_H_
#define FORETELL_ANSWERS_STEP_MEMO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "answers/block_pattern.h"
#include "answers/compile_step.h"
#include "answers/refusal.h"
#include "answers/step_figures.h"
#include "spec/model_config.h"
#include "spec/step_case.h"

namespace foretell {

class StepMemo {
 public:
  StepMemo(ModelConfig config, BuildOptions build)
      : config_(std::move(config)), build_(std::move(build)) {}

  // Peaks have no place and no events where blocks were composed.
  std::variant<StepFigures, Refusal> FiguresOf(const StepCase& step);

  // Whether the step's figures come from few blocks.
  bool Composes(const StepCase& step);

 private:
  // How few blocks stand for all: those that repeat, and how many of each list
  // are compiled.
  struct Plan {
    std::vector<BlockPattern> patterns;
    int64_t blocks = 0;
    bool is_short = false;  // fewer than the model has
  };
  const std::vector<BlockPattern>& Patterns();
  // With `later` periods compiled before those that repeat.
  Plan PlanOf(int64_t later);
  // The plan that composes the step; nothing where none does.
  std::optional<Plan> PlanFor(const StepCase& step);
  bool Holds(const StepCase& step, const Plan& plan);
  // The step of a model with `of` blocks more than the plan compiles; all that
  // it has where absent.
  std::optional<StepFigures> Composed(const StepCase& step, const Plan& plan,
                                      std::optional<int64_t> more);

  ModelConfig config_;
  BuildOptions build_;
  std::optional<std::vector<BlockPattern>> patterns_;
  std::map<std::string, std::optional<Plan>> plans_;  // by way of running
};

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STEP_MEMO_H_
