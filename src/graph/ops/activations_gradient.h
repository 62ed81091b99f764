// What the backward nodes of activation functions execute.
//
// Most are one operation of the gradient and of what the function kept.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp (clamp_backward).
#ifndef FORETELL_GRAPH_OPS_ACTIVATIONS_GRADIENT_H_
#define FORETELL_GRAPH_OPS_ACTIVATIONS_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfSilu(Gradient& g);
void GradientOfGelu(Gradient& g);
void GradientOfRelu(Gradient& g);
void GradientOfHardtanh(Gradient& g);
void GradientOfLeakyRelu(Gradient& g);
void GradientOfHardSwish(Gradient& g);
void GradientOfMish(Gradient& g);
void GradientOfSoftplus(Gradient& g);
void GradientOfTanh(Gradient& g);
void GradientOfSigmoid(Gradient& g);
void GradientOfErf(Gradient& g);
void GradientOfSqrt(Gradient& g);
void GradientOfClamp(Gradient& g);
void GradientOfPrelu(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ACTIVATIONS_GRADIENT_H_
