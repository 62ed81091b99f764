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

// torch 2.15, aten/src/ATen/native/cuda/GroupedBlas.cpp: a row of the result
// begins at a multiple of 16 bytes.
std::string InferGroupedMm(const OperationArguments& args, Outputs& outputs) {
  const Value& rows = args.input(0);
  const Value& factors = args.input(1);
  const Value& offsets = args.input(2);
  if (rows.shape.rank() != 2 || factors.shape.rank() != 3 ||
      rows.shape[1] != factors.shape[1] || rows.dtype != factors.dtype ||
      !(offsets.shape == Shape{factors.shape[0]})) {
    return Disagree(rows, factors);
  }
  // Rows of either factor begin at a multiple of 16 bytes, or it is refused.
  for (const Value* factor : {&rows, &factors}) {
    const int rank = factor->shape.rank();
    const int64_t row =
        std::max(factor->strides[rank - 1], factor->strides[rank - 2]);
    if (row * BytesOf(factor->dtype) % 16 != 0) {
      return "rows of " + std::to_string(row) +
             " elements are no multiple of 16 bytes";
    }
  }
  const Shape shape = {rows.shape[0], factors.shape[2]};
  const int64_t step = std::max<int64_t>(1, 16 / BytesOf(rows.dtype));
  const int64_t padded = (shape[1] + step - 1) / step * step;
  outputs.push_back({shape, {padded, 1}, rows.dtype, -1});
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

// Each factor for the gradient of the other.
constexpr Save kSavesFactors[] = {{.input = 1, .when = 1U << 0},
                                  {.input = 0, .when = 1U << 1}};
constexpr Save kSavesLaterFactors[] = {{.input = 1, .when = 1U << 2},
                                       {.input = 2, .when = 1U << 1}};
constexpr Save kSavesGroups[] = {
    {.input = 1, .when = 1U << 0}, {.input = 2}, {.input = 0, .when = 1U << 1}};

constexpr OperationRow kMm = {"aten.mm.default", "[m, k] x [k, n] -> [m, n].",
                              InferMm,           FlopsOfMm,
                              kSavesFactors,     GradientOfMm};
constexpr OperationRow kAddmm = {
    "aten.addmm.default", "A bias plus [m, k] x [k, n] -> [m, n].",
    InferAddmm,           FlopsOfAddmm,
    kSavesLaterFactors,   GradientOfAddmm};
constexpr OperationRow kBaddbmm = {
    "aten.baddbmm.default", "A tensor plus [b, m, k] x [b, k, n] -> [b, m, n].",
    InferBaddbmm,           FlopsOfAddmm,
    kSavesLaterFactors,     GradientOfBaddbmm};
constexpr OperationRow kGroupedMm = {
    "aten._grouped_mm.default",
    "Groups of rows [m, k], each times its own of [g, k, n] -> [m, n].",
    InferGroupedMm,
    FlopsOfMm,
    kSavesGroups,
    GradientOfGroupedMm};
constexpr OperationRow kBmm = {
    "aten.bmm.default", "[b, m, k] x [b, k, n] -> [b, m, n].",
    InferBmm,           FlopsOfMm,
    kSavesFactors,      GradientOfBmm};

constexpr std::array kRows = {&kMm, &kAddmm, &kBmm, &kBaddbmm, &kGroupedMm};

}  // namespace

std::span<const OperationRow* const> MatmulOperations() { return kRows; }

Tensor Mm(Tensor a, Tensor b) {
  return a.builder().Emit(kMm, {std::move(a), std::move(b)});
}

Tensor Addmm(Tensor bias, Tensor a, Tensor b) {
  return a.builder().Emit(kAddmm,
                          {std::move(bias), std::move(a), std::move(b)});
}

Tensor Baddbmm(Tensor bias, Tensor a, Tensor b) {
  return a.builder().Emit(kBaddbmm,
                          {std::move(bias), std::move(a), std::move(b)});
}

Tensor GroupedMm(Tensor rows, Tensor factors, Tensor offsets) {
  return rows.builder().Emit(
      kGroupedMm, {std::move(rows), std::move(factors), std::move(offsets)});
}

Tensor Bmm(Tensor a, Tensor b) {
  return a.builder().Emit(kBmm, {std::move(a), std::move(b)});
}

}  // namespace foretell
