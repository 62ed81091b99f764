#include "graph/ops/in_place.h"

#include <array>
#include <utility>
#include <vector>

#include "graph/ops/activations_gradient.h"
#include "graph/ops/elementwise_gradient.h"
#include "graph/ops/in_place_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferInPlace(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  for (size_t i = 1; i < args.input_count(); ++i) {
    const Shape& other = args.input(i).shape;
    if (BroadcastShapes(target.shape, other) != target.shape) {
      return other.ToString() + " does not go into " + target.shape.ToString();
    }
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

std::string InferSet(const OperationArguments& args,
                     std::vector<OperationOutput>& outputs) {
  const Value& source = args.input(1);
  outputs.push_back({source.shape, source.strides, source.dtype, 1});
  return "";
}

std::string InferIndexPut(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  const Shape& index = args.input(1).shape;
  if (target.shape.rank() == 0 || index.rank() != 1) {
    return index.ToString() + " does not index " + target.shape.ToString();
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

std::string InferScatter(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  const Shape& index = args.input(1).shape;
  if (target.shape.rank() != index.rank()) {
    return index.ToString() + " does not scatter into " +
           target.shape.ToString();
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

std::string InferIndexAdd(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  const Shape& index = args.input(1).shape;
  Shape rows = args.input(2).shape;
  const bool fits = rows.rank() == target.shape.rank() && rows.rank() > 0 &&
                    index == Shape{rows[0]};
  if (fits) rows.Set(0, target.shape[0]);
  if (!fits || !(rows == target.shape)) {
    return args.input(2).shape.ToString() + " at " + index.ToString() +
           " does not go into " + target.shape.ToString();
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

// The target is kept as it was.
constexpr Save kSavesFactors[] = {
    {.input = 1, .when = 1U << 0},
    {.input = 0, .when = 1U << 1, .copied = true}};
constexpr Save kSavesQuotient[] = {
    {.input = 1}, {.input = 0, .when = 1U << 1, .copied = true}};
constexpr Save kSavesTarget[] = {{.input = 0, .copied = true}};
constexpr Save kSavesMask[] = {{.input = 1}};
// The rows too: their sizes are asked of the tensor itself.
constexpr Save kSavesRows[] = {{.input = 1, .when = 1U << 2},
                               {.input = 2, .when = 1U << 2}};

constexpr OperationRow kAdd = {.name = "aten.add_.Tensor",
                               .doc = "x += y.",
                               .infer = InferInPlace,
                               .gradient = GradientOfAdd};
constexpr OperationRow kSub = {.name = "aten.sub_.Tensor",
                               .doc = "x -= y; y is a tensor or a number.",
                               .infer = InferInPlace,
                               .gradient = GradientOfSub};
constexpr OperationRow kDiv = {.name = "aten.div_.Tensor",
                               .doc = "x /= y.",
                               .infer = InferInPlace,
                               .saves = kSavesQuotient,
                               .gradient = GradientOfDiv};
constexpr OperationRow kClamp = {.name = "aten.clamp_.default",
                                 .doc = "x held between two numbers.",
                                 .infer = InferInPlace,
                                 .saves = kSavesTarget,
                                 .gradient = GradientOfClamp};
constexpr OperationRow kDivNumber = {.name = "aten.div_.Scalar",
                                     .doc = "x /= y; y is a number.",
                                     .infer = InferInPlace,
                                     .gradient = GradientOfDivNumber};
constexpr OperationRow kIndexPut = {
    .name = "aten.index_put_.default",
    .doc = "Values written at whole numbers along the first axis.",
    .infer = InferIndexPut};
constexpr OperationRow kMul = {.name = "aten.mul_.Tensor",
                               .doc = "x *= y.",
                               .infer = InferInPlace,
                               .saves = kSavesFactors,
                               .gradient = GradientOfMul};
constexpr OperationRow kUniform = {
    .name = "aten.uniform_.default",
    .doc = "Random numbers written over all elements.",
    .infer = InferInPlace,
    .gradient = GradientOfOverwritten};
constexpr OperationRow kExponential = {
    .name = "aten.exponential_.default",
    .doc = "Random numbers of an exponential distribution over all elements.",
    .infer = InferInPlace,
    .gradient = GradientOfOverwritten};
constexpr OperationRow kScatterAddInto = {
    .name = "aten.scatter_add_.default",
    .doc = "Values added to elements of x along an axis by an index.",
    .infer = InferInPlace,
    .differentiable = Differentiable::kNo};
constexpr Save kSavesIndex[] = {{.input = 1}};
constexpr OperationRow kScatterInto = {
    .name = "aten.scatter_.src",
    .doc = "Values written over elements of x along an axis by an index.",
    .infer = InferInPlace,
    .saves = kSavesIndex,
    .gradient = GradientOfScatterInto};
constexpr OperationRow kCopy = {.name = "aten.copy_.default",
                                .doc = "y written over the elements of x.",
                                .infer = InferInPlace,
                                .gradient = GradientOfCopyInto};
constexpr OperationRow kFill = {.name = "aten.fill_.Scalar",
                                .doc = "A number written over all elements.",
                                .infer = InferInPlace,
                                .gradient = GradientOfOverwritten};
constexpr OperationRow kMaskedFill = {
    .name = "aten.masked_fill_.Scalar",
    .doc = "A number written where a mask of the same extents is true.",
    .infer = InferInPlace,
    .saves = kSavesMask,
    .gradient = GradientOfMaskedFill};

constexpr OperationRow kLogicalAnd = {
    .name = "aten.logical_and_.default",
    .doc = "x and y, as truth values, written over x.",
    .infer = InferInPlace,
    .differentiable = Differentiable::kNo};

// Here of whole numbers only.
constexpr OperationRow kScatter = {
    .name = "aten.scatter_.value",
    .doc = "A number written at places along an axis.",
    .infer = InferScatter,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kIndexAdd = {
    .name = "aten.index_add_.default",
    .doc = "Rows added at whole numbers to those of x.",
    .infer = InferIndexAdd,
    .saves = kSavesRows,
    .gradient = GradientOfIndexAdd};

constexpr OperationRow kSet = {.name = "aten.set_.source_Tensor",
                               .doc = "x takes on the storage of y.",
                               .infer = InferSet,
                               .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kSet,
                              &kScatter,
                              &kIndexAdd,
                              &kLogicalAnd,
                              &kAdd,
                              &kSub,
                              &kCopy,
                              &kFill,
                              &kMaskedFill,
                              &kDiv,
                              &kIndexPut,
                              &kMul,
                              &kUniform,
                              &kClamp,
                              &kDivNumber,
                              &kExponential,
                              &kScatterAddInto,
                              &kScatterInto};

}  // namespace

std::span<const OperationRow* const> InPlaceOperations() { return kRows; }

Tensor AddInto(Tensor target, Tensor other) {
  return target.builder().Emit(kAdd, {std::move(target), std::move(other)});
}
Tensor MulInto(Tensor target, Tensor other) {
  return target.builder().Emit(kMul, {std::move(target), std::move(other)});
}
Tensor AddScalarInto(Tensor target, double number) {
  return target.builder().Emit(kAdd, {std::move(target)}, {number});
}
Tensor SubScalarInto(Tensor target, double number) {
  return target.builder().Emit(kSub, {std::move(target)}, {number});
}
Tensor DivScalarInto(Tensor target, double number) {
  return target.builder().Emit(kDiv, {std::move(target)}, {number});
}
Tensor MulScalarInto(Tensor target, double number) {
  return target.builder().Emit(kMul, {std::move(target)}, {number});
}
Tensor LogicalAndInto(Tensor target, Tensor other) {
  return target.builder().Emit(kLogicalAnd,
                               {std::move(target), std::move(other)});
}
Tensor FillUniform(Tensor target) {
  return target.builder().Emit(kUniform, {std::move(target)});
}
Tensor FillExponential(Tensor target) {
  return target.builder().Emit(kExponential, {std::move(target)});
}
Tensor ScatterAddInto(Tensor target, int axis, Tensor index, Tensor values) {
  return target.builder().Emit(
      kScatterAddInto, {std::move(target), std::move(index), std::move(values)},
      {int64_t{axis}});
}
Tensor ScatterInto(Tensor target, int axis, Tensor index, Tensor values) {
  return target.builder().Emit(
      kScatterInto, {std::move(target), std::move(index), std::move(values)},
      {int64_t{axis}});
}
Tensor ClampInto(Tensor target, double least, double most) {
  return target.builder().Emit(kClamp, {std::move(target)}, {least, most});
}
Tensor ClampInto(Tensor target, double least) {
  return target.builder().Emit(kClamp, {std::move(target)}, {least});
}
Tensor DivInto(Tensor target, Tensor other) {
  return target.builder().Emit(kDiv, {std::move(target), std::move(other)});
}
Tensor DivNumberInto(Tensor target, double number) {
  return target.builder().Emit(kDivNumber, {std::move(target)}, {number});
}
Tensor IndexPut(Tensor target, Tensor index, Tensor values) {
  return target.builder().Emit(
      kIndexPut, {std::move(target), std::move(index), std::move(values)});
}
Tensor ScatterValue(Tensor target, int axis, Tensor index, double value) {
  return target.builder().Emit(kScatter, {std::move(target), std::move(index)},
                               {int64_t{axis}, value});
}
Tensor IndexAdd(Tensor target, Tensor index, Tensor rows) {
  return target.builder().Emit(
      kIndexAdd, {std::move(target), std::move(index), std::move(rows)},
      {int64_t{0}});
}
Tensor SetTo(Tensor target, Tensor source) {
  return target.builder().Emit(kSet, {std::move(target), std::move(source)});
}
Tensor CopyInto(Tensor target, Tensor source) {
  return target.builder().Emit(kCopy, {std::move(target), std::move(source)});
}
Tensor FillWith(Tensor target, double value) {
  return target.builder().Emit(kFill, {std::move(target)}, {value});
}
Tensor FillWhere(Tensor target, Tensor mask, double value) {
  return target.builder().Emit(kMaskedFill,
                               {std::move(target), std::move(mask)}, {value});
}

}  // namespace foretell
