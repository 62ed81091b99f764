// The parameter total as an equation that a person can follow: one line per
// tensor, equal blocks multiplied.
//
// In: an analysis. Out: plain lines, names and sizes aligned; a sum past 2^63 -
// 1 says so.
#ifndef FORETELL_ANSWERS_EXPLAIN_PARAMETERS_H_
#define FORETELL_ANSWERS_EXPLAIN_PARAMETERS_H_

#include <string>

#include "analysis/parameters.h"

namespace foretell {

// Lines such as
//   8,190,735,360 parameters =
//       622,329,856  model.embed_tokens.weight          151,936 x 4,096
//   +   36 x 192,951,552  model.layers.# (0-35), each:
//        16,777,216  self_attn.q_proj.weight             4,096 x 4,096
std::string ExplainParameters(const ParameterAnalysis& analysis);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_EXPLAIN_PARAMETERS_H_
