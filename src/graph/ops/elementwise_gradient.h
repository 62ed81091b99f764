// What the backward nodes of element-wise operations execute.
//
// The gradient of an operand that broadcasting widened leaves a rule in the
// extents of the result; the engine sums it.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp
// (clamp_backward, mul_tensor_backward, div_tensor_self_backward,
// div_tensor_other_backward, pow_backward, _to_copy_backward,
// masked_fill_inplace_if_safe).
#ifndef FORETELL_GRAPH_OPS_ELEMENTWISE_GRADIENT_H_
#define FORETELL_GRAPH_OPS_ELEMENTWISE_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfAdd(Gradient& g);
void GradientOfSub(Gradient& g);
void GradientOfMul(Gradient& g);
void GradientOfMulNumber(Gradient& g);
void GradientOfDiv(Gradient& g);
void GradientOfDivNumber(Gradient& g);
void GradientOfNeg(Gradient& g);
void GradientOfPow(Gradient& g);
void GradientOfRsqrt(Gradient& g);
void GradientOfCos(Gradient& g);
void GradientOfSin(Gradient& g);
void GradientOfExp(Gradient& g);
void GradientOfExpm1(Gradient& g);
void GradientOfLog(Gradient& g);
void GradientOfToCopy(Gradient& g);
void GradientOfMinimum(Gradient& g);
void GradientOfClampTensor(Gradient& g);
void GradientOfMaskedFill(Gradient& g);
void GradientOfWhere(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ELEMENTWISE_GRADIENT_H_
