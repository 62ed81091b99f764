#include "graph/ops/elementwise.h"

#include <array>
#include <utility>

#include "graph/ops/activations_gradient.h"
#include "graph/ops/elementwise_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

// bool < whole numbers < floating point, as Python's number tower.
int Category(DType dtype) {
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
  std::vector<const Value*> inputs;
  for (size_t i = 0; i < args.input_count(); ++i) {
    inputs.push_back(&args.input(i));
    const auto joined = BroadcastShapes(shape, args.input(i).shape);
    if (!joined) {
      return shape.ToString() + " and " + args.input(i).shape.ToString() +
             " do not broadcast";
    }
    shape = *joined;
  }
  outputs.push_back({shape, ElementwiseStrides(inputs, shape), dtype, -1});
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
  return Elementwise(args, args.Type(0), outputs);
}

std::string InferMaybeScalar(const OperationArguments& args, Outputs& outputs) {
  return args.input_count() == 2 ? InferBinary(args, outputs)
                                 : InferUnary(args, outputs);
}

// Each factor for the gradient of the other.
constexpr Save kSavesFactors[] = {{.input = 1, .when = 1U << 0},
                                  {.input = 0, .when = 1U << 1}};
constexpr Save kSavesQuotient[] = {{.input = 1}, {.input = 0, .when = 1U << 1}};
constexpr Save kSavesBoth[] = {{.input = 1}, {.input = 0}};
constexpr Save kSavesMask[] = {{.input = 1}};

constexpr OperationRow kAdd = {"aten.add.Tensor",
                               "x + y; y is a tensor or a number.",
                               InferMaybeScalar,
                               nullptr,
                               {},
                               GradientOfAdd};
constexpr OperationRow kSub = {"aten.sub.Tensor",
                               "x - y; y is a tensor or a number.",
                               InferMaybeScalar,
                               nullptr,
                               {},
                               GradientOfSub};
constexpr OperationRow kMul = {
    "aten.mul.Tensor", "x y; y is a tensor or a number.",
    InferMaybeScalar,  nullptr,
    kSavesFactors,     GradientOfMul};
constexpr OperationRow kMulNumber = {
    "aten.mul.Scalar",  "x y; y is a number.", InferUnary, nullptr, {},
    GradientOfMulNumber};
constexpr OperationRow kNeg = {
    "aten.neg.default", "-x.", InferUnary, nullptr, {}, GradientOfNeg};
constexpr OperationRow kPow = {"aten.pow.Tensor_Scalar",
                               "x to the power of a number.",
                               InferUnary,
                               nullptr,
                               kSavesInput,
                               GradientOfPow};
constexpr OperationRow kRsqrt = {"aten.rsqrt.default", "1 / sqrt(x).",
                                 InferUnary,           nullptr,
                                 kSavesResult,         GradientOfRsqrt};
constexpr OperationRow kCos = {"aten.cos.default", "cos(x).",
                               InferUnary,         nullptr,
                               kSavesInput,        GradientOfCos};
constexpr OperationRow kSin = {"aten.sin.default", "sin(x).",
                               InferUnary,         nullptr,
                               kSavesInput,        GradientOfSin};
constexpr OperationRow kSilu = {"aten.silu.default", "x sigmoid(x).",
                                InferUnary,          nullptr,
                                kSavesInput,         GradientOfSilu};
constexpr OperationRow kToCopy = {
    "aten._to_copy.default", "x in another dtype.", InferToCopy, nullptr, {},
    GradientOfToCopy};
constexpr OperationRow kEq = {
    "aten.eq.Scalar", "Whether x equals a number.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kNe = {"aten.ne.Scalar",
                              "Whether x differs from a number.",
                              InferCompare,
                              nullptr,
                              {},
                              nullptr,
                              Differentiable::kNo};
constexpr OperationRow kLe = {
    "aten.le.Tensor", "Whether x is at most y.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kDiv = {
    "aten.div.Tensor", "x / y; y is a tensor or a number.",
    InferMaybeScalar,  nullptr,
    kSavesQuotient,    GradientOfDiv};
constexpr OperationRow kDivNumber = {
    "aten.div.Scalar",  "x / y; y is a number.", InferUnary, nullptr, {},
    GradientOfDivNumber};
constexpr OperationRow kExp = {"aten.exp.default", "e to the power of x.",
                               InferUnary,         nullptr,
                               kSavesResult,       GradientOfExp};
constexpr OperationRow kEqTensor = {
    "aten.eq.Tensor", "Whether x equals y.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kLt = {
    "aten.lt.Tensor", "Whether x is below y.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kMaskedFill = {"aten.masked_fill.Scalar",
                                      "A number where a mask is true, else x.",
                                      InferUnary,
                                      nullptr,
                                      kSavesMask,
                                      GradientOfMaskedFill};
constexpr OperationRow kFloorDivide = {"aten.floor_divide.default",
                                       "x / y, rounded down; y is a number.",
                                       InferUnary,
                                       nullptr,
                                       {},
                                       nullptr,
                                       Differentiable::kNo};
constexpr OperationRow kGt = {
    "aten.gt.Tensor", "Whether x is above y.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kBitwiseAnd = {"aten.bitwise_and.Tensor",
                                      "x and y, bit by bit.",
                                      InferBinary,
                                      nullptr,
                                      {},
                                      nullptr,
                                      Differentiable::kNo};
constexpr OperationRow kAbs = {"aten.abs.default", "The absolute value.",
                               InferUnary};
constexpr OperationRow kLog = {"aten.log.default", "The natural logarithm.",
                               InferUnary,         nullptr,
                               kSavesInput,        GradientOfLog};
constexpr OperationRow kMinimum = {"aten.minimum.default",
                                   "The smaller of x and y.",
                                   InferBinary,
                                   nullptr,
                                   kSavesBoth,
                                   GradientOfMinimum};
constexpr OperationRow kClampTensor = {"aten.clamp.Tensor",
                                       "x between two tensors.", InferUnary};
constexpr OperationRow kLtScalar = {"aten.lt.Scalar",
                                    "Whether x is below a number.",
                                    InferCompare,
                                    nullptr,
                                    {},
                                    nullptr,
                                    Differentiable::kNo};
constexpr OperationRow kGtScalar = {"aten.gt.Scalar",
                                    "Whether x is above a number.",
                                    InferCompare,
                                    nullptr,
                                    {},
                                    nullptr,
                                    Differentiable::kNo};
constexpr OperationRow kGe = {
    "aten.ge.Tensor", "Whether x is at least y.", InferCompare, nullptr, {},
    nullptr,          Differentiable::kNo};
constexpr OperationRow kIsInf = {"aten.isinf.default",
                                 "Whether x is infinite.",
                                 InferCompare,
                                 nullptr,
                                 {},
                                 nullptr,
                                 Differentiable::kNo};
constexpr OperationRow kWhere = {
    "aten.where.self", "x where the condition holds, else y.",
    InferWhere,        nullptr,
    kSavesInput,       GradientOfWhere};

constexpr std::array kRows = {
    &kAdd,        &kSub,       &kMul,       &kNeg,         &kPow,
    &kRsqrt,      &kCos,       &kSin,       &kSilu,        &kToCopy,
    &kEq,         &kNe,        &kLe,        &kWhere,       &kDiv,
    &kAbs,        &kLog,       &kMinimum,   &kClampTensor, &kLtScalar,
    &kGtScalar,   &kGe,        &kIsInf,     &kFloorDivide, &kGt,
    &kBitwiseAnd, &kMulNumber, &kDivNumber, &kExp,         &kEqTensor,
    &kLt,         &kMaskedFill};

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

Tensor Transfer(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kToCopy, {std::move(x)}, {dtype});
}
Tensor EqScalar(Tensor x, double y) {
  return x.builder().Emit(kEq, {std::move(x)}, {y});
}
Tensor NeScalar(Tensor x, double y) {
  return x.builder().Emit(kNe, {std::move(x)}, {y});
}
Tensor Le(Tensor x, Tensor y) {
  return x.builder().Emit(kLe, {std::move(x), std::move(y)});
}
Tensor Eq(Tensor x, Tensor y) {
  return x.builder().Emit(kEqTensor, {std::move(x), std::move(y)});
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
Tensor Abs(Tensor x) { return x.builder().Emit(kAbs, {std::move(x)}); }
Tensor Exp(Tensor x) { return x.builder().Emit(kExp, {std::move(x)}); }
Tensor Log(Tensor x) { return x.builder().Emit(kLog, {std::move(x)}); }
Tensor Minimum(Tensor x, Tensor y) {
  return x.builder().Emit(kMinimum, {std::move(x), std::move(y)});
}
Tensor ClampBetween(Tensor x, Tensor least, Tensor most) {
  return x.builder().Emit(kClampTensor,
                          {std::move(x), std::move(least), std::move(most)});
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
