// The backward of operations that gather along axes: sums, means, softmax,
// scans.
//
// Source of the rules: torch 2.15, torch/csrc/autograd/FunctionsManual.cpp
// (mean_backward, sum_backward, cumsum_backward), torchgen/packaged/autograd/
// derivatives.yaml.
#ifndef FORETELL_GRAPH_OPS_REDUCTION_GRADIENT_H_
#define FORETELL_GRAPH_OPS_REDUCTION_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfMean(Gradient& g);    // over the axes of attribute 0
void GradientOfSum(Gradient& g);     // likewise
void GradientOfSumAll(Gradient& g);  // of all elements
void GradientOfSoftmax(Gradient& g);
void GradientOfLogSoftmax(Gradient& g);
void GradientOfCumsum(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_REDUCTION_GRADIENT_H_
