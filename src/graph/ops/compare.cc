#include "graph/ops/compare.h"

#include <array>
#include <utility>

#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferCompare(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value* const inputs[] = {&args.input(0)};
  const Shape& shape = args.input(0).shape;
  outputs.push_back(
      {shape, ElementwiseStrides(inputs, shape), DType::kBool, -1});
  return "";
}

constexpr OperationRow kGeScalar = {.name = "aten.ge.Scalar",
                                    .doc = "Whether x is at least a number.",
                                    .infer = InferCompare,
                                    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kGeScalar};

}  // namespace

std::span<const OperationRow* const> CompareOperations() { return kRows; }

Tensor GeScalar(Tensor x, double y) {
  return x.builder().Emit(kGeScalar, {std::move(x)}, {y});
}

}  // namespace foretell
