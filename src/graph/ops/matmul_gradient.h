// What the backward nodes of matrix products execute.
//
// A factor that lies column by column in memory (a transposed weight) gets its
// gradient laid out so too, by a product of the transposed matrices.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp (mm_mat1_backward,
// mm_mat2_backward, _grouped_mm_mat1_backward, _grouped_mm_mat2_backward).
#ifndef FORETELL_GRAPH_OPS_MATMUL_GRADIENT_H_
#define FORETELL_GRAPH_OPS_MATMUL_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfMm(Gradient& g);
void GradientOfAddmm(Gradient& g);
void GradientOfBmm(Gradient& g);
void GradientOfBaddbmm(Gradient& g);
void GradientOfGroupedMm(Gradient& g);
void GradientOfGroupedFallback(Gradient& g);
void GradientOfSolveTriangular(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_MATMUL_GRADIENT_H_
