#include "graph/ops/fused_gradient.h"

#include <utility>
#include <vector>

#include "graph/ops/fused.h"

namespace foretell {

void GradientOfDropout(Gradient& g) {
  const double kept = 1.0 - g.Real(0);
  g.Give(0, NativeDropoutBackward(g.grad(), g.output(1),
                                  kept == 0 ? 0.0 : 1.0 / kept));
}

void GradientOfLayerNorm(Gradient& g) {
  std::vector<Tensor> inputs = {g.grad(), g.input(0), g.output(1), g.output(2)};
  for (size_t i = 1; i < g.input_count(); ++i) inputs.push_back(g.input(i));
  Shape wanted;
  for (size_t i = 0; i < g.input_count(); ++i)
    wanted.Append(g.Needs(i) ? 1 : 0);
  std::vector<Tensor> gradients = NativeLayerNormBackward(inputs, wanted);
  size_t next = 0;
  for (size_t i = 0; i < g.input_count(); ++i) {
    if (g.Needs(i)) g.Give(i, std::move(gradients[next++]));
  }
}

}  // namespace foretell
