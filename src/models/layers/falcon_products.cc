#include "models/layers/falcon_products.h"

#include "graph/autocast.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"
#include "models/layers/adapted_linear.h"

namespace foretell {
namespace {

// torch.matmul of [..., k] and a matrix [k, n].
Tensor TimesMatrix(const Tensor& given, const Tensor& given_matrix) {
  Tensor x = given;
  Tensor matrix = given_matrix;
  const AutocastCall call(x.builder(), AutocastPolicy::kLower, {&x, &matrix});
  Shape out = x.shape();
  if (out.rank() < 3) return Mm(x, matrix);
  out.Set(-1, matrix.size(1));
  const Tensor rows = Reshape(x, {-1, x.size(-1)});
  return UnsafeView(Mm(rows, matrix), out);
}

}  // namespace

Tensor FalconLinear::Forward(const Tensor& x) const {
  Builder& builder = linear.module.builder();
  return RunLinear(linear.module, x, [&] {
    const auto multiply = [&] {
      const Tensor turned = Permute(builder.Read(linear.weight), {1, 0});
      return TimesMatrix(x, turned);
    };
    const Tensor product = multiply();
    return linear.bias ? Add(product, builder.Read(*linear.bias)) : product;
  });
}

Tensor SpreadMatmul(const Tensor& given_left, const Tensor& given_right) {
  Tensor a = given_left;
  Tensor b = given_right;
  const AutocastCall call(a.builder(), AutocastPolicy::kLower, {&a, &b});
  if (a.shape().rank() != 4 || b.shape().rank() != 4) {
    a.builder().Fail("matmul of " + a.shape().ToString() + " and " +
                     b.shape().ToString());
    return a;
  }
  Shape out = a.shape();
  out.Set(-1, b.size(-1));
  const Shape spread = {a.size(0), a.size(1), b.size(2), b.size(3)};
  const Tensor left =
      Reshape(Expand(a, a.shape()), {-1, a.size(-2), a.size(-1)});
  const Tensor right = Reshape(Expand(b, spread), {-1, b.size(-2), b.size(-1)});
  return UnsafeView(Bmm(left, right), out);
}

}  // namespace foretell
