#include "models/layers/dropout.h"

#include <fmt/format.h>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/fused.h"

namespace foretell {

Tensor ApplyDropout(const Tensor& x, double probability) {
  if (probability <= 0 || !x.builder().execution().training) return x;
  if (probability < 1) return NativeDropout(x, probability);
  // Everything is dropped: a product with one zero.
  return Mul(x, Zeros(x.builder(), {}, x.dtype()));
}

Tensor Dropout::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  return ApplyDropout(x, probability);
}

double ReadDropout(const ConfigView& config, std::string_view key,
                   double otherwise) {
  const double probability = config.Real({key}, otherwise);
  if (probability >= 0 && probability <= 1) return probability;
  config.Find("model/dropout", Severity::kBlock, key,
              fmt::format("{} is {}, which is no probability",
                          config.PathOf(key), probability),
              "torch.nn.Dropout refuses what lies outside 0 to 1, so the model "
              "is not built",
              fmt::format("\"{}\": {}", key, otherwise));
  return otherwise;
}

}  // namespace foretell
