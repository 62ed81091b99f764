#include "graph/ops/elementwise.h"

#include <array>

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

constexpr OperationRow kAdd = {
    "aten.add.Tensor", "x + y; y is a tensor or a number.", InferMaybeScalar};
constexpr OperationRow kSub = {
    "aten.sub.Tensor", "x - y; y is a tensor or a number.", InferMaybeScalar};
constexpr OperationRow kMul = {
    "aten.mul.Tensor", "x y; y is a tensor or a number.", InferMaybeScalar};
constexpr OperationRow kMulNumber = {"aten.mul.Scalar",
                                     "x y; y is a number.", InferUnary};
constexpr OperationRow kNeg = {"aten.neg.default", "-x.", InferUnary};
constexpr OperationRow kPow = {"aten.pow.Tensor_Scalar",
                               "x to the power of a number.", InferUnary};
constexpr OperationRow kRsqrt = {"aten.rsqrt.default", "1 / sqrt(x).",
                                 InferUnary, nullptr, 0};
constexpr OperationRow kCos = {"aten.cos.default", "cos(x).", InferUnary};
constexpr OperationRow kSin = {"aten.sin.default", "sin(x).", InferUnary};
constexpr OperationRow kSilu = {"aten.silu.default", "x sigmoid(x).",
                                InferUnary};
constexpr OperationRow kToCopy = {"aten._to_copy.default",
                                  "x in another dtype.", InferToCopy};
constexpr OperationRow kEq = {"aten.eq.Scalar", "Whether x equals a number.",
                              InferCompare};
constexpr OperationRow kNe = {"aten.ne.Scalar",
                              "Whether x differs from a number.", InferCompare};
constexpr OperationRow kLe = {"aten.le.Tensor", "Whether x is at most y.",
                              InferCompare};
constexpr OperationRow kDiv = {
    "aten.div.Tensor", "x / y; y is a tensor or a number.", InferMaybeScalar};
constexpr OperationRow kFloorDivide = {
    "aten.floor_divide.default", "x / y, rounded down; y is a number.",
    InferUnary};
constexpr OperationRow kGt = {"aten.gt.Tensor", "Whether x is above y.",
                              InferCompare};
constexpr OperationRow kBitwiseAnd = {"aten.bitwise_and.Tensor",
                                      "x and y, bit by bit.", InferBinary};
constexpr OperationRow kAbs = {"aten.abs.default", "The absolute value.",
                               InferUnary};
constexpr OperationRow kLog = {"aten.log.default", "The natural logarithm.",
                               InferUnary};
constexpr OperationRow kMinimum = {"aten.minimum.default",
                                   "The smaller of x and y.", InferBinary};
constexpr OperationRow kClampTensor = {"aten.clamp.Tensor",
                                       "x between two tensors.", InferUnary};
constexpr OperationRow kLtScalar = {
    "aten.lt.Scalar", "Whether x is below a number.", InferCompare};
constexpr OperationRow kGtScalar = {
    "aten.gt.Scalar", "Whether x is above a number.", InferCompare};
constexpr OperationRow kGe = {"aten.ge.Tensor", "Whether x is at least y.",
                              InferCompare};
constexpr OperationRow kIsInf = {"aten.isinf.default", "Whether x is infinite.",
                                 InferCompare};
constexpr OperationRow kWhere = {
    "aten.where.self", "x where the condition holds, else y.", InferWhere};

constexpr std::array kRows = {
    &kAdd,         &kSub,      &kMul,      &kNeg,    &kPow,  &kRsqrt,
    &kCos,         &kSin,      &kSilu,     &kToCopy, &kEq,   &kNe,
    &kLe,          &kWhere,    &kDiv,      &kAbs,    &kLog,  &kMinimum,
    &kClampTensor, &kLtScalar, &kGtScalar, &kGe,     &kIsInf,
    &kFloorDivide, &kGt,       &kBitwiseAnd,
    &kMulNumber};

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

Tensor Add(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kAdd, {x, y});
}
Tensor AddScalar(const Tensor& x, double y) {
  return x.builder().Emit(kAdd, {x}, {y});
}
Tensor Sub(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kSub, {x, y});
}
Tensor SubScalar(const Tensor& x, double y) {
  return x.builder().Emit(kSub, {x}, {y});
}
Tensor Mul(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kMul, {x, y});
}
Tensor MulScalar(const Tensor& x, double y) {
  return x.builder().Emit(kMul, {x}, {y});
}
Tensor MulNumber(const Tensor& x, double y) {
  return x.builder().Emit(kMulNumber, {x}, {y});
}
Tensor Neg(const Tensor& x) { return x.builder().Emit(kNeg, {x}); }
Tensor PowScalar(const Tensor& x, double exponent) {
  return x.builder().Emit(kPow, {x}, {exponent});
}
Tensor Rsqrt(const Tensor& x) { return x.builder().Emit(kRsqrt, {x}); }
Tensor Cos(const Tensor& x) { return x.builder().Emit(kCos, {x}); }
Tensor Sin(const Tensor& x) { return x.builder().Emit(kSin, {x}); }
Tensor Silu(const Tensor& x) { return x.builder().Emit(kSilu, {x}); }

Tensor To(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.builder().Emit(kToCopy, {x}, {dtype});
}

Tensor Transfer(const Tensor& x) {
  return x.builder().Emit(kToCopy, {x}, {x.dtype()});
}
Tensor EqScalar(const Tensor& x, double y) {
  return x.builder().Emit(kEq, {x}, {y});
}
Tensor NeScalar(const Tensor& x, double y) {
  return x.builder().Emit(kNe, {x}, {y});
}
Tensor Le(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kLe, {x, y});
}
Tensor DivScalar(const Tensor& x, double y) {
  return x.builder().Emit(kDiv, {x}, {y});
}
Tensor FloorDivide(const Tensor& x, int64_t y) {
  return x.builder().Emit(kFloorDivide, {x}, {y});
}
Tensor Gt(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kGt, {x, y});
}
Tensor BitwiseAnd(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kBitwiseAnd, {x, y});
}
Tensor Abs(const Tensor& x) { return x.builder().Emit(kAbs, {x}); }
Tensor Log(const Tensor& x) { return x.builder().Emit(kLog, {x}); }
Tensor Minimum(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kMinimum, {x, y});
}
Tensor ClampBetween(const Tensor& x, const Tensor& least, const Tensor& most) {
  return x.builder().Emit(kClampTensor, {x, least, most});
}
Tensor LtScalar(const Tensor& x, double y) {
  return x.builder().Emit(kLtScalar, {x}, {y});
}
Tensor GtScalar(const Tensor& x, double y) {
  return x.builder().Emit(kGtScalar, {x}, {y});
}
Tensor Ge(const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kGe, {x, y});
}
Tensor IsInf(const Tensor& x) { return x.builder().Emit(kIsInf, {x}); }
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return x.builder().Emit(kWhere, {condition, x, y});
}

}  // namespace foretell
