// A square root whose slope has a bound: the same operation as sqrt, with
// another backward, which a model writes as a torch.autograd.Function.
//
// Source: transformers 5.23, models/recurrent_gemma/
// modeling_recurrent_gemma.py (SqrtBoundDerivative).
#ifndef FORETELL_GRAPH_OPS_BOUNDED_SQRT_H_
#define FORETELL_GRAPH_OPS_BOUNDED_SQRT_H_

#include "graph/builder.h"

namespace foretell {

Tensor BoundedSqrt(Tensor x);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_BOUNDED_SQRT_H_
