#include "graph/ops/elementwise.h"

#include <array>
#include <utility>

#include "graph/ops/activations_gradient.h"
#include "graph/ops/elementwise_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

// bool < whole numbers < floating point < complex, as Python's number tower.
int Category(DType dtype) {
  if (dtype == DType::kComplex64) return 3;
  if (dtype == DType::kBool) return 0;
  return Describe(dtype).is_floating ? 2 : 1;
}

// The dtype of an operation between tensors: those with dims decide before
// scalars ([]) of the same category (torch.result_type).
DType ResultType(const Value& a, const Value& b) {
  const bool a_counts = a.shape.rank() > 0;
  const bool b_counts = b.shape.rank() > 0;
  if (a_counts == b_counts || Category(a.dtype) != Category(b.dtype)) {
    return Category(a.dtype) >= Category(b.dtype)
               ? (Category(a.dtype) == Category(b.dtype)
                      ? PromoteTypes(a.dtype, b.dtype)
                      : a.dtype)
               : b.dtype;
  }
  return a_counts ? a.dtype : b.dtype;
}

std::string Elementwise(const OperationArguments& args, DType dtype,
                        Outputs& outputs) {
  Shape shape = args.input(0).shape;
  for (size_t i = 1; i < args.input_count(); ++i) {
    if (args.input(i).shape == shape) continue;
    const auto joined = BroadcastShapes(shape, args.input(i).shape);
    if (!joined) {
      return shape.ToString() + " and " + args.input(i).shape.ToString() +
             " do not broadcast";
    }
    shape = *joined;
  }
  outputs.push_back(
      {shape, ElementwiseStrides(args.inputs(), shape), dtype, -1});
  return "";
}

std::string InferUnary(const OperationArguments& args, Outputs& outputs) {
  return Elementwise(args, args.input(0).dtype, outputs);
}

std::string InferBinary(const OperationArguments& args, Outputs& outputs) {
  return Elementwise(args, ResultType(args.input(0), args.input(1)), outputs);
}

std::string InferCompare(const OperationArguments& args, Outputs& outputs) {
  return Elementwise(args, DType::kBool, outputs);
}

std::string InferWhere(const OperationArguments& args, Outputs& outputs) {
  return Elementwise(args, ResultType(args.input(1), args.input(2)), outputs);
}

std::string InferToCopy(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = Elementwise(args, args.Type(0), outputs);
  if (reason.empty() && args.attribute_count() > 1 && args.Flag(1)) {
    outputs[0].strides = ContiguousStrides(outputs[0].shape);
  }
  return reason;
}

std::string InferMaybeScalar(const OperationArguments& args, Outputs& outputs) {
  return args.input_count() == 2 ? InferBinary(args, outputs)
                                 : InferUnary(args, outputs);
}

// Whole numbers give a fraction.
std::string InferDivide(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = InferMaybeScalar(args, outputs);
  if (reason.empty() && !Describe(outputs[0].dtype).is_floating) {
    outputs[0].dtype = DType::kFloat32;
  }
  return reason;
}

// Each factor for the gradient of the other.
constexpr Save kSavesFactors[] = {{.input = 1, .when = 1U << 0},
                                  {.input = 0, .when = 1U << 1}};
constexpr Save kSavesQuotient[] = {{.input = 1}, {.input = 0, .when = 1U << 1}};
constexpr Save kSavesBoth[] = {{.input = 1}, {.input = 0}};
constexpr Save kSavesRange[] = {{.input = 2}, {.input = 1}, {.input = 0}};
constexpr Save kSavesMask[] = {{.input = 1}};

constexpr OperationRow kAdd = {.name = "aten.add.Tensor",
                               .doc = "x + y; y is a tensor or a number.",
                               .infer = InferMaybeScalar,
                               .gradient = GradientOfAdd};
constexpr OperationRow kSub = {.name = "aten.sub.Tensor",
                               .doc = "x - y; y is a tensor or a number.",
                               .infer = InferMaybeScalar,
                               .gradient = GradientOfSub};
constexpr OperationRow kMul = {.name = "aten.mul.Tensor",
                               .doc = "x y; y is a tensor or a number.",
                               .infer = InferMaybeScalar,
                               .saves = kSavesFactors,
                               .gradient = GradientOfMul};
constexpr OperationRow kAddNumber = {.name = "aten.add.Scalar",
                                     .doc = "x + y; y is a number.",
                                     .infer = InferUnary,
                                     .gradient = GradientOfAdd};
constexpr OperationRow kMulNumber = {.name = "aten.mul.Scalar",
                                     .doc = "x y; y is a number.",
                                     .infer = InferUnary,
                                     .gradient = GradientOfMulNumber};
constexpr OperationRow kNeg = {.name = "aten.neg.default",
                               .doc = "-x.",
                               .infer = InferUnary,
                               .gradient = GradientOfNeg};
constexpr OperationRow kPow = {.name = "aten.pow.Tensor_Scalar",
                               .doc = "x to the power of a number.",
                               .infer = InferUnary,
                               .saves = kSavesInput,
                               .gradient = GradientOfPow,
                               .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kRsqrt = {.name = "aten.rsqrt.default",
                                 .doc = "1 / sqrt(x).",
                                 .infer = InferUnary,
                                 .saves = kSavesResult,
                                 .gradient = GradientOfRsqrt,
                                 .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kCos = {.name = "aten.cos.default",
                               .doc = "cos(x).",
                               .infer = InferUnary,
                               .saves = kSavesInput,
                               .gradient = GradientOfCos};
constexpr OperationRow kSin = {.name = "aten.sin.default",
                               .doc = "sin(x).",
                               .infer = InferUnary,
                               .saves = kSavesInput,
                               .gradient = GradientOfSin};
constexpr OperationRow kSilu = {.name = "aten.silu.default",
                                .doc = "x sigmoid(x).",
                                .infer = InferUnary,
                                .saves = kSavesInput,
                                .gradient = GradientOfSilu};
constexpr OperationRow kToCopy = {.name = "aten._to_copy.default",
                                  .doc = "x in another dtype.",
                                  .infer = InferToCopy,
                                  .gradient = GradientOfToCopy};
constexpr OperationRow kEq = {.name = "aten.eq.Scalar",
                              .doc = "Whether x equals a number.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kNe = {.name = "aten.ne.Scalar",
                              .doc = "Whether x differs from a number.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kLe = {.name = "aten.le.Tensor",
                              .doc = "Whether x is at most y.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kDiv = {.name = "aten.div.Tensor",
                               .doc = "x / y; y is a tensor or a number.",
                               .infer = InferDivide,
                               .saves = kSavesQuotient,
                               .gradient = GradientOfDiv};
constexpr OperationRow kDivNumber = {.name = "aten.div.Scalar",
                                     .doc = "x / y; y is a number.",
                                     .infer = InferUnary,
                                     .gradient = GradientOfDivNumber};
constexpr OperationRow kExp = {.name = "aten.exp.default",
                               .doc = "e to the power of x.",
                               .infer = InferUnary,
                               .saves = kSavesResult,
                               .gradient = GradientOfExp,
                               .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kExpm1 = {.name = "aten.expm1.default",
                                 .doc = "e to the power of x, less 1.",
                                 .infer = InferUnary,
                                 .saves = kSavesResult,
                                 .gradient = GradientOfExpm1,
                                 .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kEqTensor = {.name = "aten.eq.Tensor",
                                    .doc = "Whether x equals y.",
                                    .infer = InferCompare,
                                    .differentiable = Differentiable::kNo};
constexpr OperationRow kLt = {.name = "aten.lt.Tensor",
                              .doc = "Whether x is below y.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kMaskedFill = {
    .name = "aten.masked_fill.Scalar",
    .doc = "A number where a mask is true, else x.",
    .infer = InferUnary,
    .saves = kSavesMask,
    .gradient = GradientOfMaskedFill};
constexpr OperationRow kFloorDivide = {
    .name = "aten.floor_divide.default",
    .doc = "x / y, rounded down; y is a number.",
    .infer = InferUnary,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kGt = {.name = "aten.gt.Tensor",
                              .doc = "Whether x is above y.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kBitwiseAnd = {.name = "aten.bitwise_and.Tensor",
                                      .doc = "x and y, bit by bit.",
                                      .infer = InferBinary,
                                      .differentiable = Differentiable::kNo};
constexpr OperationRow kBitwiseOr = {.name = "aten.bitwise_or.Tensor",
                                     .doc = "x or y, bit by bit.",
                                     .infer = InferBinary,
                                     .differentiable = Differentiable::kNo};
constexpr OperationRow kAbs = {.name = "aten.abs.default",
                               .doc = "The absolute value.",
                               .infer = InferUnary};
constexpr OperationRow kLog = {.name = "aten.log.default",
                               .doc = "The natural logarithm.",
                               .infer = InferUnary,
                               .saves = kSavesInput,
                               .gradient = GradientOfLog,
                               .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kMinimum = {.name = "aten.minimum.default",
                                   .doc = "The smaller of x and y.",
                                   .infer = InferBinary,
                                   .saves = kSavesBoth,
                                   .gradient = GradientOfMinimum};
constexpr OperationRow kClampTensor = {.name = "aten.clamp.Tensor",
                                       .doc = "x between two tensors.",
                                       .infer = InferUnary,
                                       .saves = kSavesRange,
                                       .gradient = GradientOfClampTensor};
constexpr OperationRow kLogicalOr = {.name = "aten.logical_or.default",
                                     .doc = "Whether x or y is true.",
                                     .infer = InferCompare,
                                     .differentiable = Differentiable::kNo};
constexpr OperationRow kLogicalAnd = {.name = "aten.logical_and.default",
                                      .doc = "Whether x and y are true.",
                                      .infer = InferCompare,
                                      .differentiable = Differentiable::kNo};
constexpr OperationRow kLtScalar = {.name = "aten.lt.Scalar",
                                    .doc = "Whether x is below a number.",
                                    .infer = InferCompare,
                                    .differentiable = Differentiable::kNo};
constexpr OperationRow kGtScalar = {.name = "aten.gt.Scalar",
                                    .doc = "Whether x is above a number.",
                                    .infer = InferCompare,
                                    .differentiable = Differentiable::kNo};
constexpr OperationRow kGe = {.name = "aten.ge.Tensor",
                              .doc = "Whether x is at least y.",
                              .infer = InferCompare,
                              .differentiable = Differentiable::kNo};
constexpr OperationRow kIsInf = {.name = "aten.isinf.default",
                                 .doc = "Whether x is infinite.",
                                 .infer = InferCompare,
                                 .differentiable = Differentiable::kNo};
constexpr OperationRow kWhere = {.name = "aten.where.self",
                                 .doc = "x where the condition holds, else y.",
                                 .infer = InferWhere,
                                 .saves = kSavesInput,
                                 .gradient = GradientOfWhere};
constexpr OperationRow kSign = {.name = "aten.sign.default",
                                .doc = "-1, 0 or 1, as x is, in its dtype.",
                                .infer = InferUnary,
                                .differentiable = Differentiable::kNo};
constexpr OperationRow kCeil = {.name = "aten.ceil.default",
                                .doc = "x, rounded up.",
                                .infer = InferUnary,
                                .differentiable = Differentiable::kNo};
constexpr OperationRow kFloor = {.name = "aten.floor.default",
                                 .doc = "x, rounded down.",
                                 .infer = InferUnary,
                                 .differentiable = Differentiable::kNo};
constexpr OperationRow kBitwiseNot = {.name = "aten.bitwise_not.default",
                                      .doc = "x, bit by bit the other way.",
                                      .infer = InferUnary,
                                      .differentiable = Differentiable::kNo};
constexpr OperationRow kLeScalar = {.name = "aten.le.Scalar",
                                    .doc = "Whether x is at most a number.",
                                    .infer = InferCompare,
                                    .differentiable = Differentiable::kNo};
constexpr OperationRow kRsubScalar = {.name = "aten.rsub.Scalar",
                                      .doc = "y - x; y is a number.",
                                      .infer = InferUnary,
                                      .gradient = GradientOfNeg};

constexpr std::array kRows = {
    &kAdd,         &kSub,      &kMul,        &kNeg,         &kPow,
    &kRsqrt,       &kCos,      &kSin,        &kSilu,        &kToCopy,
    &kEq,          &kNe,       &kLe,         &kWhere,       &kDiv,
    &kAbs,         &kLog,      &kMinimum,    &kClampTensor, &kLogicalOr,
    &kLogicalAnd,  &kLtScalar, &kGtScalar,   &kGe,          &kIsInf,
    &kFloorDivide, &kGt,       &kBitwiseAnd, &kBitwiseOr,   &kMulNumber,
    &kDivNumber,   &kExp,      &kEqTensor,   &kLt,          &kMaskedFill,
    &kSign,        &kCeil,     &kBitwiseNot, &kLeScalar,    &kRsubScalar,
    &kFloor,       &kExpm1,    &kAddNumber};

}  // namespace

std::span<const OperationRow* const> ElementwiseOperations() { return kRows; }

DType PromoteTypes(DType a, DType b) {
  if (a == b) return a;
  const int bits_a = Describe(a).bits;
  const int bits_b = Describe(b).bits;
  // float16 with bfloat16: neither holds the other.
  if (bits_a == bits_b && Describe(a).is_floating) return DType::kFloat32;
  return bits_a > bits_b ? a : b;
}

Tensor Add(Tensor x, Tensor y) {
  return x.builder().Emit(kAdd, {std::move(x), std::move(y)});
}
Tensor AddScalar(Tensor x, double y) {
  return x.builder().Emit(kAdd, {std::move(x)}, {y});
}
Tensor Sub(Tensor x, Tensor y) {
  return x.builder().Emit(kSub, {std::move(x), std::move(y)});
}
Tensor SubScalar(Tensor x, double y) {
  return x.builder().Emit(kSub, {std::move(x)}, {y});
}
Tensor Mul(Tensor x, Tensor y) {
  return x.builder().Emit(kMul, {std::move(x), std::move(y)});
}
Tensor MulScalar(Tensor x, double y) {
  return x.builder().Emit(kMul, {std::move(x)}, {y});
}
Tensor MulNumber(Tensor x, double y) {
  return x.builder().Emit(kMulNumber, {std::move(x)}, {y});
}
Tensor AddNumber(Tensor x, double y) {
  return x.builder().Emit(kAddNumber, {std::move(x)}, {y});
}
Tensor RsubScalar(Tensor x, double y) {
  return x.builder().Emit(kRsubScalar, {std::move(x)}, {y});
}
Tensor Sign(Tensor x) { return x.builder().Emit(kSign, {std::move(x)}); }
Tensor Ceil(Tensor x) { return x.builder().Emit(kCeil, {std::move(x)}); }
Tensor Floor(Tensor x) { return x.builder().Emit(kFloor, {std::move(x)}); }
Tensor Expm1(Tensor x) { return x.builder().Emit(kExpm1, {std::move(x)}); }
Tensor BitwiseNot(Tensor x) {
  return x.builder().Emit(kBitwiseNot, {std::move(x)});
}
Tensor LeScalar(Tensor x, double y) {
  return x.builder().Emit(kLeScalar, {std::move(x)}, {y});
}
Tensor Neg(Tensor x) { return x.builder().Emit(kNeg, {std::move(x)}); }
Tensor PowScalar(Tensor x, double exponent) {
  return x.builder().Emit(kPow, {std::move(x)}, {exponent});
}
Tensor Rsqrt(Tensor x) { return x.builder().Emit(kRsqrt, {std::move(x)}); }
Tensor Cos(Tensor x) { return x.builder().Emit(kCos, {std::move(x)}); }
Tensor Sin(Tensor x) { return x.builder().Emit(kSin, {std::move(x)}); }
Tensor Silu(Tensor x) { return x.builder().Emit(kSilu, {std::move(x)}); }

Tensor To(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.builder().Emit(kToCopy, {std::move(x)}, {dtype});
}

Tensor ToContiguous(Tensor x, DType dtype) {
  const bool is_same =
      x.dtype() == dtype && !LooksChannelsLast(x.builder().ValueOf(x.id()));
  if (is_same) return x;
  return x.builder().Emit(kToCopy, {std::move(x)}, {dtype, true});
}

Tensor Transfer(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kToCopy, {std::move(x)}, {dtype});
}
Tensor EqScalar(Tensor x, double y) {
  return x.builder().Emit(kEq, {std::move(x)}, {y});
}
Tensor Eq(Tensor x, Tensor y) {
  return x.builder().Emit(kEqTensor, {std::move(x), std::move(y)});
}
Tensor NeScalar(Tensor x, double y) {
  return x.builder().Emit(kNe, {std::move(x)}, {y});
}
Tensor Le(Tensor x, Tensor y) {
  return x.builder().Emit(kLe, {std::move(x), std::move(y)});
}
Tensor Lt(Tensor x, Tensor y) {
  return x.builder().Emit(kLt, {std::move(x), std::move(y)});
}
Tensor Div(Tensor x, Tensor y) {
  return x.builder().Emit(kDiv, {std::move(x), std::move(y)});
}
Tensor DivScalar(Tensor x, double y) {
  return x.builder().Emit(kDiv, {std::move(x)}, {y});
}
Tensor DivNumber(Tensor x, double y) {
  return x.builder().Emit(kDivNumber, {std::move(x)}, {y});
}
Tensor FloorDivide(Tensor x, int64_t y) {
  return x.builder().Emit(kFloorDivide, {std::move(x)}, {y});
}
Tensor Gt(Tensor x, Tensor y) {
  return x.builder().Emit(kGt, {std::move(x), std::move(y)});
}
Tensor BitwiseAnd(Tensor x, Tensor y) {
  return x.builder().Emit(kBitwiseAnd, {std::move(x), std::move(y)});
}
Tensor BitwiseOr(Tensor x, Tensor y) {
  return x.builder().Emit(kBitwiseOr, {std::move(x), std::move(y)});
}
Tensor Abs(Tensor x) { return x.builder().Emit(kAbs, {std::move(x)}); }
Tensor Exp(Tensor x) { return x.builder().Emit(kExp, {std::move(x)}); }
Tensor Log(Tensor x) { return x.builder().Emit(kLog, {std::move(x)}); }
Tensor Minimum(Tensor x, Tensor y) {
  return x.builder().Emit(kMinimum, {std::move(x), std::move(y)});
}
Tensor LogicalOr(Tensor x, Tensor y) {
  return x.builder().Emit(kLogicalOr, {std::move(x), std::move(y)});
}
Tensor LogicalAnd(Tensor x, Tensor y) {
  return x.builder().Emit(kLogicalAnd, {std::move(x), std::move(y)});
}
Tensor ClampBetween(Tensor x, Tensor least, Tensor most) {
  return x.builder().Emit(kClampTensor,
                          {std::move(x), std::move(least), std::move(most)});
}
Tensor ClampFrom(Tensor x, Tensor least) {
  // The table's row is that of two bounds, whose backward this one has not.
  static constexpr OperationRow kRow = {
      .name = "aten.clamp.Tensor",
      .doc = "x, or a tensor where that is more.",
      .infer = InferBinary,
      .differentiable = Differentiable::kNo};
  return x.builder().Emit(kRow, {std::move(x), std::move(least)});
}
Tensor LtScalar(Tensor x, double y) {
  return x.builder().Emit(kLtScalar, {std::move(x)}, {y});
}
Tensor GtScalar(Tensor x, double y) {
  return x.builder().Emit(kGtScalar, {std::move(x)}, {y});
}
Tensor Ge(Tensor x, Tensor y) {
  return x.builder().Emit(kGe, {std::move(x), std::move(y)});
}
Tensor IsInf(Tensor x) { return x.builder().Emit(kIsInf, {std::move(x)}); }
Tensor Where(Tensor condition, Tensor x, Tensor y) {
  return x.builder().Emit(kWhere,
                          {std::move(condition), std::move(x), std::move(y)});
}

Tensor MaskedFill(Tensor x, Tensor mask, double value) {
  return x.builder().Emit(kMaskedFill, {std::move(x), std::move(mask)},
                          {value});
}

}  // namespace foretell
