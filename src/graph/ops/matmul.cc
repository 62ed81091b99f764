#include "graph/ops/matmul.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "graph/ops/matmul_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string Disagree(const Value& a, const Value& b) {
  return a.shape.ToString() + " and " + b.shape.ToString() + " do not multiply";
}

// `a` and `b` are the places of the two factors among the inputs.
std::string Product(const OperationArguments& args, size_t a_at, size_t b_at,
                    int rank, Outputs& outputs) {
  const Value& a = args.input(a_at);
  const Value& b = args.input(b_at);
  if (a.shape.rank() != rank || b.shape.rank() != rank ||
      a.shape[-1] != b.shape[-2] || a.dtype != b.dtype ||
      (rank == 3 && a.shape[0] != b.shape[0])) {
    return Disagree(a, b);
  }
  Shape shape = a.shape;
  shape.Set(-1, b.shape[-1]);
  outputs.push_back({shape, ContiguousStrides(shape), a.dtype, -1});
  return "";
}

std::string InferMm(const OperationArguments& args, Outputs& outputs) {
  return Product(args, 0, 1, 2, outputs);
}

std::string AddedProduct(const OperationArguments& args, int rank,
                         Outputs& outputs) {
  const std::string reason = Product(args, 1, 2, rank, outputs);
  if (!reason.empty()) return reason;
  const Shape& bias = args.input(0).shape;
  const auto joined = BroadcastShapes(bias, outputs[0].shape);
  if (!joined || !(*joined == outputs[0].shape)) {
    return "a bias of " + bias.ToString() + " does not fit " +
           outputs[0].shape.ToString();
  }
  return "";
}

std::string InferAddmm(const OperationArguments& args, Outputs& outputs) {
  return AddedProduct(args, 2, outputs);
}

std::string InferBaddbmm(const OperationArguments& args, Outputs& outputs) {
  return AddedProduct(args, 3, outputs);
}

std::string InferBmm(const OperationArguments& args, Outputs& outputs) {
  return Product(args, 0, 1, 3, outputs);
}

// Rows of either factor begin at a multiple of 16 bytes, or it is refused.
std::string CheckAlignment(const Value& factor) {
  const int rank = factor.shape.rank();
  const int64_t row =
      std::max(factor.strides[rank - 1], factor.strides[rank - 2]);
  if (row * BytesOf(factor.dtype) % 16 == 0) return "";
  return "rows of " + std::to_string(row) +
         " elements are no multiple of 16 bytes";
}

// torch 2.15, aten/src/ATen/native/cuda/GroupedBlas.cpp: a row of the result
// begins at a multiple of 16 bytes. Groups of rows meet a factor each; groups
// of columns and of rows give a product each.
std::string InferGroupedMm(const OperationArguments& args, Outputs& outputs) {
  const Value& a = args.input(0);
  const Value& b = args.input(1);
  const Shape& offsets = args.input(2).shape;
  const bool is_each = b.shape.rank() == 3;
  if (a.shape.rank() != 2 || (!is_each && b.shape.rank() != 2) ||
      a.shape[1] != b.shape[-2] || a.dtype != b.dtype || offsets.rank() != 1 ||
      (is_each && offsets[0] != b.shape[0])) {
    return Disagree(a, b);
  }
  for (const Value* factor : {&a, &b}) {
    const std::string reason = CheckAlignment(*factor);
    if (!reason.empty()) return reason;
  }
  const Shape product = {a.shape[0], b.shape[-1]};
  const int64_t step = std::max<int64_t>(1, 16 / BytesOf(a.dtype));
  const int64_t padded = (product[1] + step - 1) / step * step;
  if (is_each) {
    outputs.push_back({product, {padded, 1}, a.dtype, -1});
    return "";
  }
  const auto size = CheckedMul(product[0], padded);
  if (!size) return "a product past 2^63 - 1";
  outputs.push_back(
      {{offsets[0], product[0], product[1]}, {*size, padded, 1}, a.dtype, -1});
  return "";
}

// transformers 5.23, integrations/moe.py (_grouped_mm_fallback): a product for
// each group, written to one result.
std::string InferGroupedFallback(const OperationArguments& args,
                                 Outputs& outputs) {
  const Value& a = args.input(0);
  const Value& b = args.input(1);
  const Shape& offsets = args.input(2).shape;
  if (a.shape.rank() != 2 || b.shape.rank() != 3 || a.shape[1] != b.shape[1] ||
      a.dtype != b.dtype || offsets.rank() != 1 || offsets[0] != b.shape[0]) {
    return Disagree(a, b);
  }
  const Shape product = {a.shape[0], b.shape[2]};
  outputs.push_back({product, ContiguousStrides(product), a.dtype, -1});
  return "";
}

// zeros_like of both factors, which are dense.
std::string InferGroupedFallbackBackward(const OperationArguments& args,
                                         Outputs& outputs) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Value& factor = args.input(i);
    outputs.push_back({factor.shape, factor.strides, factor.dtype, -1});
  }
  return "";
}

// torch 2.15, aten/src/ATen/native/BatchLinearAlgebra.cpp.
std::string InferSolve(const OperationArguments& args, Outputs& outputs) {
  const Value& a = args.input(0);
  const Value& b = args.input(1);
  const int rank = b.shape.rank();
  bool fits = rank >= 2 && a.shape.rank() == rank && a.dtype == b.dtype &&
              a.shape[-1] == a.shape[-2] && a.shape[-1] == b.shape[-2];
  for (int axis = 0; fits && axis < rank - 2; ++axis) {
    fits = a.shape[axis] == b.shape[axis];
  }
  if (!fits) return Disagree(a, b);
  const auto swapped = [](Shape shape) {
    const int64_t last = shape[-1];
    shape.Set(-1, shape[-2]);
    shape.Set(-2, last);
    return shape;
  };
  outputs.push_back(
      {b.shape, swapped(ContiguousStrides(swapped(b.shape))), b.dtype, -1});
  return "";
}

// 2 x (elements of the result) x (the contracted extent).
std::optional<int64_t> ProductFlops(const Value& a, const Value& out) {
  const auto elements = out.shape.Elements();
  const auto products =
      elements ? CheckedMul(*elements, a.shape[-1]) : std::nullopt;
  return products ? CheckedMul(*products, 2) : std::nullopt;
}

std::optional<int64_t> FlopsOfMm(std::span<const Value> in,
                                 std::span<const Value> out) {
  return ProductFlops(in[0], out[0]);
}

std::optional<int64_t> FlopsOfAddmm(std::span<const Value> in,
                                    std::span<const Value> out) {
  return ProductFlops(in[1], out[0]);
}

// Groups share the contracted extent, or the rows: never more than one pass.
std::optional<int64_t> FlopsOfGroupedMm(std::span<const Value> in,
                                        std::span<const Value>) {
  const Shape& a = in[0].shape;
  const auto elements = CheckedMul(a[0], a[1]);
  const auto products =
      elements ? CheckedMul(*elements, in[1].shape[-1]) : std::nullopt;
  return products ? CheckedMul(*products, 2) : std::nullopt;
}

// Each factor for the gradient of the other.
constexpr Save kSavesFactors[] = {{.input = 1, .when = 1U << 0},
                                  {.input = 0, .when = 1U << 1}};
constexpr Save kSavesLaterFactors[] = {{.input = 1, .when = 1U << 2},
                                       {.input = 2, .when = 1U << 1}};
constexpr Save kSavesTriangle[] = {{.input = 0}, {.output = 0}};
// The offsets are an attribute of the context.
constexpr Save kSavesFallback[] = {
    {.input = 0}, {.input = 1}, {.input = 2, .attached = true}};
constexpr Save kSavesGroups[] = {
    {.input = 1, .when = 1U << 0}, {.input = 2}, {.input = 0, .when = 1U << 1}};

constexpr OperationRow kMm = {.name = "aten.mm.default",
                              .doc = "[m, k] x [k, n] -> [m, n].",
                              .infer = InferMm,
                              .flops = FlopsOfMm,
                              .saves = kSavesFactors,
                              .gradient = GradientOfMm,
                              .autocast = AutocastPolicy::kLower};
constexpr OperationRow kAddmm = {
    .name = "aten.addmm.default",
    .doc = "A bias plus [m, k] x [k, n] -> [m, n].",
    .infer = InferAddmm,
    .flops = FlopsOfAddmm,
    .saves = kSavesLaterFactors,
    .gradient = GradientOfAddmm,
    .autocast = AutocastPolicy::kLower};
constexpr OperationRow kBaddbmm = {
    .name = "aten.baddbmm.default",
    .doc = "A tensor plus [b, m, k] x [b, k, n] -> [b, m, n].",
    .infer = InferBaddbmm,
    .flops = FlopsOfAddmm,
    .saves = kSavesLaterFactors,
    .gradient = GradientOfBaddbmm,
    .autocast = AutocastPolicy::kLower};
constexpr OperationRow kGroupedMm = {
    .name = "aten._grouped_mm.default",
    .doc = "Groups of rows [m, k], each times its own of [g, k, n] -> [m, n].",
    .infer = InferGroupedMm,
    .flops = FlopsOfGroupedMm,
    .saves = kSavesGroups,
    .gradient = GradientOfGroupedMm};
// PyTorch's counter knows no FLOPs of either: they are operators of another
// library.
constexpr OperationRow kGroupedFallback = {
    .name = "transformers.grouped_mm_fallback.default",
    .doc =
        "Groups of rows [m, k], each times its own of [g, k, n] -> [m, n], "
        "where the card has no grouped product.",
    .infer = InferGroupedFallback,
    .saves = kSavesFallback,
    .gradient = GradientOfGroupedFallback};
constexpr OperationRow kGroupedFallbackBackward = {
    .name = "transformers.grouped_mm_fallback_backward.default",
    .doc = "The gradients of both factors of a product in groups.",
    .infer = InferGroupedFallbackBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kBmm = {.name = "aten.bmm.default",
                               .doc = "[b, m, k] x [b, k, n] -> [b, m, n].",
                               .infer = InferBmm,
                               .flops = FlopsOfMm,
                               .saves = kSavesFactors,
                               .gradient = GradientOfBmm,
                               .autocast = AutocastPolicy::kLower};

constexpr OperationRow kSolveTriangular = {
    .name = "aten.linalg_solve_triangular.default",
    .doc = "What a triangle multiplies to get b.",
    .infer = InferSolve,
    .saves = kSavesTriangle,
    .gradient = GradientOfSolveTriangular};

constexpr std::array kRows = {&kSolveTriangular, &kMm,
                              &kAddmm,           &kBmm,
                              &kBaddbmm,         &kGroupedMm,
                              &kGroupedFallback, &kGroupedFallbackBackward};

}  // namespace

std::span<const OperationRow* const> MatmulOperations() { return kRows; }

Tensor Mm(Tensor a, Tensor b) {
  return a.builder().Emit(kMm, {std::move(a), std::move(b)});
}

Tensor Addmm(Tensor bias, Tensor a, Tensor b) {
  return a.builder().Emit(kAddmm,
                          {std::move(bias), std::move(a), std::move(b)});
}

Tensor Baddbmm(Tensor bias, Tensor a, Tensor b, double alpha) {
  return a.builder().Emit(
      kBaddbmm, {std::move(bias), std::move(a), std::move(b)}, {alpha});
}

Tensor GroupedMm(Tensor rows, Tensor factors, Tensor offsets) {
  return rows.builder().Emit(
      kGroupedMm, {std::move(rows), std::move(factors), std::move(offsets)});
}

Tensor GroupedFallback(Tensor rows, Tensor factors, Tensor offsets) {
  return rows.builder().Emit(
      kGroupedFallback,
      {std::move(rows), std::move(factors), std::move(offsets)});
}

std::pair<Tensor, Tensor> GroupedFallbackBackward(Tensor rows, Tensor factors,
                                                  Tensor offsets, Tensor grad) {
  Builder& builder = rows.builder();
  const Tensor inputs[] = {std::move(rows), std::move(factors),
                           std::move(offsets), std::move(grad)};
  std::vector<Tensor> both =
      builder.EmitMany(kGroupedFallbackBackward, inputs, {});
  return {std::move(both[0]), std::move(both[1])};
}

Tensor Bmm(Tensor a, Tensor b) {
  return a.builder().Emit(kBmm, {std::move(a), std::move(b)});
}

Tensor SolveTriangular(Tensor a, Tensor b, bool upper) {
  return a.builder().Emit(kSolveTriangular, {std::move(a), std::move(b)},
                          {upper});
}

}  // namespace foretell
