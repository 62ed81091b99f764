#include "models/layers/linear.h"

#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "models/layers/functional.h"

namespace foretell {

Linear::Linear(const Module& at, int64_t in, int64_t out, bool has_bias)
    : module(at), weight(at.Parameter("weight", {out, in})) {
  if (has_bias) bias = at.Parameter("bias", {out});
}

// F.linear folds the leading axes and decomposes to (add)mm on a matrix:
// torch 2.15, aten/src/ATen/native/Linear.cpp.
Tensor Linear::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Shape out = x.shape();
  if (out.rank() == 0) return x;  // the graph has failed already
  out.Set(-1, builder.Read(weight).size(0));
  if (out.rank() == 2) {
    const Tensor transposed = T(builder.Read(weight));
    return bias ? Addmm(builder.Read(*bias), x, transposed) : Mm(x, transposed);
  }
  if (bias && IsContiguous(builder.ValueOf(x.id()))) {
    // With a bias the rows are folded before the weight is transposed.
    const Tensor rows = View(x, {-1, x.size(-1)});
    const Tensor transposed = T(builder.Read(weight));
    return UnsafeView(Addmm(builder.Read(*bias), rows, transposed), out);
  }
  const Tensor transposed = T(builder.Read(weight));
  const auto multiply = [&] {
    return Mm(Reshape(x, {-1, x.size(-1)}), transposed);
  };
  const Tensor product = UnsafeView(multiply(), out);
  return bias ? Add(product, builder.Read(*bias)) : product;
}

Conv1D::Conv1D(const Module& at, int64_t in, int64_t out)
    : module(at),
      weight(at.Parameter("weight", {in, out})),
      bias(at.Parameter("bias", {out})) {}

Tensor Conv1D::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Shape out = x.shape();
  if (out.rank() == 0) return x;
  out.Set(-1, builder.Read(weight).size(1));
  const Tensor rows = View(x, {-1, x.size(-1)});
  return View(Addmm(builder.Read(bias), rows, builder.Read(weight)), out);
}

Embedding::Embedding(const Module& at, int64_t rows, int64_t width,
                     bool is_scaled)
    : module(at), weight(at.Parameter("weight", {rows, width})) {
  if (!is_scaled) return;
  at.Buffer("embed_scale", {}, at.builder().dtype(), false);
  scale = at.builder().graph().buffers.back().value;
}

Tensor Embedding::Forward(const Tensor& indices) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Tensor rows = EmbeddingOp(builder.Read(weight), indices);
  if (!scale) return rows;
  return Mul(std::move(rows), builder.Read(*scale));
}

}  // namespace foretell
