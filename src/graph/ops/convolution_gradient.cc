#include "graph/ops/convolution_gradient.h"

#include <utility>
#include <vector>

#include "graph/ops/convolution.h"

namespace foretell {

void GradientOfConvolution(Gradient& g) {
  const ConvolutionSteps steps = {.stride = g.Sizes(0),
                                  .padding = g.Sizes(1),
                                  .dilation = g.Sizes(2),
                                  .groups = g.Integer(3)};
  Shape wanted;
  for (size_t i = 0; i < 3; ++i) {
    wanted.Append(i < g.input_count() && g.Needs(i) ? 1 : 0);
  }
  std::vector<Tensor> gradients =
      ConvolutionBackward(g.grad(), g.input(0), g.input(1), steps, wanted);
  size_t next = 0;
  for (size_t i = 0; i < g.input_count(); ++i) {
    if (wanted[static_cast<int>(i)] != 0) {
      g.Give(i, std::move(gradients[next++]));
    }
  }
}

}  // namespace foretell
