#include "graph/ops/attention_gradient.h"

#include <utility>
#include <vector>

#include "graph/ops/attention.h"

namespace foretell {
namespace {

void GiveAll(Gradient& g, std::vector<Tensor> gradients) {
  for (size_t i = 0; i < g.input_count() && i < gradients.size(); ++i) {
    g.Give(i, std::move(gradients[i]));
  }
}

}  // namespace

void GradientOfCudnnAttention(Gradient& g) {
  std::vector<Tensor> inputs = {g.grad(),    g.input(0),  g.input(1),
                                g.input(2),  g.output(0), g.output(1),
                                g.output(2), g.output(3)};
  if (g.input_count() > 3) inputs.push_back(g.input(3));
  GiveAll(g, CudnnAttentionBackward(inputs));
}

void GradientOfEfficientAttention(Gradient& g) {
  std::vector<Tensor> inputs = {g.grad(), g.input(0), g.input(1), g.input(2)};
  const bool has_bias = g.input_count() > 3;
  if (has_bias) inputs.push_back(g.input(3));
  for (size_t output = 0; output < 4; ++output) {
    inputs.push_back(g.output(output));
  }
  GiveAll(g, EfficientAttentionBackward(inputs, has_bias && g.Needs(3)));
}

void GradientOfFlashAttention(Gradient& g) {
  const Tensor inputs[] = {g.grad(),    g.input(0),  g.input(1),  g.input(2),
                           g.output(0), g.output(1), g.output(2), g.output(3)};
  GiveAll(g, FlashAttentionBackward(inputs));
}

}  // namespace foretell
