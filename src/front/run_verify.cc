#include "front/run_verify.h"

#include "answers/verify.h"
#include "input/truth_set.h"
#include "report/present_verify.h"

namespace foretell {

Outcome RunVerify(const Invocation& invocation) {
  const TruthSet truth =
      LoadTruthSet(invocation.Argument("FILE"), invocation.Text("configs"));
  const VerifyAnswer answer = AnswerVerify(truth);
  return {.document = PresentVerify(answer),
          .differs = !answer.AllEqual() || answer.compared == 0};
}

}  // namespace foretell
