#include "graph/ops/complex_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/complex.h"
#include "graph/ops/views.h"
#include "graph/strides.h"

namespace foretell {
namespace {

Tensor RowMajor(const Tensor& x) {
  const Value& value = x.builder().ValueOf(x.id());
  if (value.strides == ContiguousStrides(value.shape)) return x;
  return CloneContiguous(x);
}

}  // namespace

void GradientOfViewAsComplex(Gradient& g) {
  g.Give(0, ViewAsReal(RowMajor(g.grad())));
}
void GradientOfViewAsReal(Gradient& g) {
  g.Give(0, ViewAsComplex(RowMajor(g.grad())));
}
void GradientOfConj(Gradient& g) { g.Give(0, Conj(g.grad())); }

}  // namespace foretell
