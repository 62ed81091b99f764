// How the KV cache's figures come about, term by term.
//
// In: what is left for the cache and the engine's plan (serving_fit.h), the
// settings. Out: rows in the order of the computation, each with the formula
// and its numbers.
#ifndef FORETELL_ANSWERS_SERVING_EXPLAIN_H_
#define FORETELL_ANSWERS_SERVING_EXPLAIN_H_

#include <string>
#include <vector>

#include "answers/serving_fit.h"
#include "base/figure.h"

namespace foretell {

struct ServingTerm {
  std::string what;
  std::string value;  // with its unit, and its range where it has one
  std::string how;
};

std::vector<ServingTerm> ExplainCache(const ServingFit& fit,
                                      const ServingSettings& settings);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_EXPLAIN_H_
