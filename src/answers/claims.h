// When a compiled step is claimed to be exact, and why it is not otherwise.
//
// In: a compiled step and its case. Out: one reason a line; none means that
// every figure of it is claimed to equal what PyTorch does, byte by byte.
// Nothing else gives a step's figures as exact.
#ifndef FORETELL_ANSWERS_CLAIMS_H_
#define FORETELL_ANSWERS_CLAIMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "answers/compile_step.h"
#include "spec/step_case.h"

namespace foretell {

std::vector<std::string> ReasonsNotExact(const CompiledStep& compiled,
                                         const StepCase& step);
// The version of PyTorch whose operations are followed: "2.15".
std::string_view FollowedTorch();
// Whether a stated version is that one, whatever its patch.
bool IsFollowedTorch(const std::string& stated);
bool ClaimsExact(const CompiledStep& compiled, const StepCase& step);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_CLAIMS_H_
