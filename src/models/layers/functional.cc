#include "models/layers/functional.h"

#include <limits>

#include "graph/autocast.h"
#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"
#include "graph/strides.h"

namespace foretell {

Tensor Contiguous(const Tensor& x) {
  return IsContiguous(x.builder().ValueOf(x.id())) ? x : CloneContiguous(x);
}

Tensor ApplyLinear(const Tensor& given, const Tensor& weight,
                   const Tensor& bias) {
  Tensor x = given;
  Tensor factor = weight;
  Tensor offset = bias;
  const AutocastCall call(x.builder(), AutocastPolicy::kLower,
                          {&x, &factor, &offset});
  Shape out = x.shape();
  if (out.rank() == 0) return x;  // the graph has failed already
  out.Set(-1, factor.size(0));
  if (out.rank() == 2) {
    const Tensor transposed = T(factor);
    return offset.empty() ? Mm(x, transposed) : Addmm(offset, x, transposed);
  }
  if (!offset.empty() && IsContiguous(x.builder().ValueOf(x.id()))) {
    // With a bias the rows are folded before the weight is transposed.
    const Tensor rows = View(x, {-1, x.size(-1)});
    const Tensor transposed = T(factor);
    return UnsafeView(Addmm(offset, rows, transposed), out);
  }
  const Tensor transposed = T(factor);
  // A copy of the rows lives until their product is seen in its own extents.
  const auto multiply = [&] {
    const Tensor rows = Reshape(x, {-1, x.size(-1)});
    return UnsafeView(Mm(rows, transposed), out);
  };
  const Tensor product = multiply();
  return offset.empty() ? product : Add(product, offset);
}

Tensor Matmul(const Tensor& given_left, const Tensor& given_right) {
  Tensor a = given_left;
  Tensor b = given_right;
  const AutocastCall call(a.builder(), AutocastPolicy::kLower, {&a, &b});
  const int rank = a.shape().rank();
  if (rank < 3 || b.shape().rank() != rank) {
    a.builder().Fail("matmul of " + a.shape().ToString() + " and " +
                     b.shape().ToString());
    return a;
  }
  // Leading axes of extent 1 widen to the other's.
  Shape wide_a = a.shape();
  Shape wide_b = b.shape();
  for (int axis = 0; axis + 2 < rank; ++axis) {
    if (wide_a[axis] == 1) wide_a.Set(axis, wide_b[axis]);
    if (wide_b[axis] == 1) wide_b.Set(axis, wide_a[axis]);
  }
  Shape out = wide_a;
  out.Set(-1, b.size(-1));
  const Shape rows = {-1, a.size(-2), a.size(-1)};
  const Shape columns = {-1, b.size(-2), b.size(-1)};
  const Tensor left = Reshape(Expand(a, wide_a), rows);
  const Tensor right = Reshape(Expand(b, wide_b), columns);
  return UnsafeView(Bmm(left, right), out);
}

// A factor that is trained is not expanded, for the sake of its gradient: the
// batch is folded into the rows of the transposed product instead (should_fold,
// which transposes for a look of its own).
Tensor MatrixTimesBatch(const Tensor& given, const Tensor& given_batch) {
  Builder& builder = given.builder();
  Tensor matrix = given;
  Tensor batch = given_batch;
  const AutocastCall call(builder, AutocastPolicy::kLower, {&matrix, &batch});
  if (matrix.shape().rank() != 2 || batch.shape().rank() != 3) {
    builder.Fail("matmul of " + matrix.shape().ToString() + " and " +
                 batch.shape().ToString());
    return batch;
  }
  Transpose(batch, -2, -1);
  const int64_t rows = matrix.size(0);
  if (!builder.ValueOf(matrix.id()).requires_grad) {
    const Shape out = {batch.size(0), rows, batch.size(2)};
    const Shape left_sizes = {batch.size(0), rows, matrix.size(1)};
    const Tensor left = Reshape(Expand(matrix, left_sizes), left_sizes);
    const Tensor right =
        Reshape(Expand(batch, batch.shape()), {-1, batch.size(1), out[2]});
    return UnsafeView(Bmm(left, right), out);
  }
  const Tensor turned = Transpose(batch, -2, -1);
  const Tensor factor = T(matrix);
  const Tensor folded =
      Reshape(turned, {turned.size(0) * turned.size(1), turned.size(2)});
  const Tensor output =
      UnsafeView(Mm(folded, factor), {turned.size(0), turned.size(1), rows});
  return Contiguous(Transpose(output, -2, -1));
}

Tensor Cat2(const Tensor& x, const Tensor& y, int axis) {
  const Tensor parts[] = {x, y};
  return Cat(parts, axis);
}

Tensor SoftCap(Tensor x, double limit) {
  x = DivScalar(x, limit);
  x = Tanh(x);
  return MulScalar(x, limit);
}

Tensor RepeatEach(const Tensor& x, int64_t times) {
  const int rank = x.shape().rank();
  Shape spread = x.shape();
  spread.Append(times);
  Shape out = x.shape();
  if (rank == 0) return x;  // the graph has failed already
  out.Set(-1, x.size(-1) * times);
  return View(CloneContiguous(Expand(Unsqueeze(x, rank), spread)), out);
}

Tensor SliceRange(const Tensor& x, int axis, int64_t start, int64_t end) {
  const bool is_whole = start == 0 && end == x.size(axis);
  return is_whole ? Alias(x) : Slice(x, axis, start, end);
}

double SmallestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return -65504;
    case DType::kBFloat16:
      return -3.3895313892515355e+38;
    case DType::kFloat64:
      return std::numeric_limits<double>::lowest();
    default:
      return std::numeric_limits<float>::lowest();
  }
}

}  // namespace foretell
