#include "front/run_verify.h"

#include <optional>
#include <string>

#include "answers/verify.h"
#include "input/truth_set.h"
#include "report/present_verify.h"

namespace foretell {

namespace {

// Recordings are lines of JSON; a trace comes packed.
VerifyAnswer AnswerOf(const std::string& file,
                      const std::optional<std::string>& configs) {
  if (file.ends_with(".gz")) return AnswerVerify(LoadTraceCase(file, configs));
  return AnswerVerify(LoadTruthSet(file, configs));
}

}  // namespace

Outcome RunVerify(const Invocation& invocation) {
  const VerifyAnswer answer =
      AnswerOf(invocation.Argument("FILE"), invocation.Text("configs"));
  return {.document = PresentVerify(answer),
          .differs = !answer.AllEqual() || answer.compared == 0};
}

}  // namespace foretell
