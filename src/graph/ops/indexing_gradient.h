// The backward of operations that gather, join and pad by position.
//
// Source of the rules: torch 2.15, torch/csrc/autograd/FunctionsManual.cpp
// (index_backward, gather_backward, repeat_backward, cat_tensors_backward,
// constant_pad_nd_backward), aten/src/ATen/native/Embedding.cpp. Where a
// tensor subclass takes part, as in the recordings, gradients are scattered
// out of place; a plain tensor's are in place.
#ifndef FORETELL_GRAPH_OPS_INDEXING_GRADIENT_H_
#define FORETELL_GRAPH_OPS_INDEXING_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfEmbedding(Gradient& g);
void GradientOfGather(Gradient& g);
void GradientOfScatterFill(Gradient& g);
void GradientOfIndex(Gradient& g);
void GradientOfCat(Gradient& g);
void GradientOfStack(Gradient& g);
void GradientOfPad(Gradient& g);
void GradientOfFlip(Gradient& g);
void GradientOfRepeat(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_INDEXING_GRADIENT_H_
