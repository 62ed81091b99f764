#include "graph/ops/foreach.h"

#include <array>
#include <initializer_list>
#include <string>

#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

// Inputs are `lists` lists of one length, which agree in shape.
std::string CheckLists(const OperationArguments& args, size_t lists) {
  const size_t length = args.input_count() / lists;
  if (length * lists != args.input_count()) return "lists of unequal lengths";
  for (size_t i = length; i < args.input_count(); ++i) {
    const Shape& first = args.input(i % length).shape;
    if (args.input(i).shape == first) continue;
    return args.input(i).shape.ToString() + " stands beside " +
           first.ToString();
  }
  return "";
}

std::string InferOneList(const OperationArguments&, Outputs&) { return ""; }

std::string InferTwoLists(const OperationArguments& args, Outputs&) {
  return CheckLists(args, 2);
}

std::string InferThreeLists(const OperationArguments& args, Outputs&) {
  return CheckLists(args, 3);
}

// The last input goes to each of the others.
std::string InferListAndTensor(const OperationArguments& args, Outputs&) {
  const Shape& other = args.input(args.input_count() - 1).shape;
  if (other.Elements() == 1) return "";
  return other.ToString() + " is not one element";
}

std::string InferUnary(const OperationArguments& args, Outputs& outputs) {
  outputs.reserve(args.input_count());
  for (size_t i = 0; i < args.input_count(); ++i) {
    const Value& x = args.input(i);
    const Value* const inputs[] = {&x};
    outputs.push_back(
        {x.shape, ElementwiseStrides(inputs, x.shape), x.dtype, -1});
  }
  return "";
}

// Four lists of the parameters' shapes, then the counts of steps: [] each.
std::string InferFusedAdamW(const OperationArguments& args, Outputs&) {
  constexpr size_t kLists = 5;
  const size_t length = args.input_count() / kLists;
  if (length * kLists != args.input_count()) return "lists of unequal lengths";
  for (size_t i = length; i < args.input_count(); ++i) {
    const Shape& shape = args.input(i).shape;
    const bool is_step = i >= (kLists - 1) * length;
    if (is_step ? shape.rank() == 0 : shape == args.input(i % length).shape) {
      continue;
    }
    return shape.ToString() + " stands beside " +
           args.input(i % length).shape.ToString();
  }
  return "";
}

constexpr OperationRow kAddNumber = {"aten._foreach_add_.Scalar",
                                     "A number added to each tensor of a list.",
                                     InferOneList,
                                     nullptr,
                                     {},
                                     nullptr,
                                     Differentiable::kNo};
constexpr OperationRow kAddTensor = {
    "aten._foreach_add_.Tensor",
    "One tensor of one element added to each tensor of a list.",
    InferListAndTensor,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kMulNumber = {
    "aten._foreach_mul_.Scalar",
    "Each tensor of a list multiplied by a number.",
    InferOneList,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kDivNumbers = {
    "aten._foreach_div_.ScalarList",
    "Each tensor of a list divided by a number of its own.",
    InferOneList,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kLerp = {
    "aten._foreach_lerp_.Scalar",
    "x + weight (y - x) over each x of a list, with its y of another.",
    InferTwoLists,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kAddcmul = {
    "aten._foreach_addcmul_.Scalar",
    "x + value y z over each x of a list, with its y and z of two others.",
    InferThreeLists,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kAddcdiv = {
    "aten._foreach_addcdiv_.ScalarList",
    "x + number y / z over each x of a list, with its own number.",
    InferThreeLists,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kSqrt = {"aten._foreach_sqrt.default",
                                "The square root of each tensor of a list.",
                                InferUnary,
                                nullptr,
                                {},
                                nullptr,
                                Differentiable::kNo};
constexpr OperationRow kFusedAdamW = {
    "aten._fused_adamw_.default",
    "AdamW over lists: parameters, gradients, both averages, counts of steps.",
    InferFusedAdamW,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};

constexpr std::array kRows = {&kAddNumber,  &kAddTensor, &kMulNumber,
                              &kDivNumbers, &kLerp,      &kAddcmul,
                              &kAddcdiv,    &kSqrt,      &kFusedAdamW};

// Nothing is executed over empty lists.
void EmitOverLists(const OperationRow& row,
                   std::initializer_list<TensorList> lists,
                   std::initializer_list<Attribute> attributes = {}) {
  const TensorList& first = *lists.begin();
  if (first.empty()) return;
  Builder& builder = first.front().builder();
  const auto with = std::span(attributes.begin(), attributes.size());
  if (lists.size() == 1) {
    builder.EmitMany(row, first, with);
    return;
  }
  std::vector<Tensor> inputs;
  size_t count = 0;
  for (const TensorList& list : lists) count += list.size();
  inputs.reserve(count);
  for (const TensorList& list : lists) {
    inputs.insert(inputs.end(), list.begin(), list.end());
  }
  builder.EmitMany(row, inputs, with);
}

}  // namespace

std::span<const OperationRow* const> ForeachOperations() { return kRows; }

void ForeachAddNumberInto(TensorList targets, double number) {
  EmitOverLists(kAddNumber, {targets}, {number});
}

void ForeachAddInto(TensorList targets, const Tensor& other) {
  EmitOverLists(kAddTensor, {targets, TensorList(&other, 1)});
}

void ForeachMulNumberInto(TensorList targets, double number) {
  EmitOverLists(kMulNumber, {targets}, {number});
}

void ForeachDivNumbersInto(TensorList targets) {
  EmitOverLists(kDivNumbers, {targets});
}

void ForeachLerpInto(TensorList targets, TensorList ends, double weight) {
  EmitOverLists(kLerp, {targets, ends}, {weight});
}

void ForeachAddcmulInto(TensorList targets, TensorList x, TensorList y,
                        double value) {
  EmitOverLists(kAddcmul, {targets, x, y}, {value});
}

void ForeachAddcdivInto(TensorList targets, TensorList x, TensorList y) {
  EmitOverLists(kAddcdiv, {targets, x, y});
}

std::vector<Tensor> ForeachSqrt(TensorList x) {
  if (x.empty()) return {};
  std::vector<Tensor> roots = x.front().builder().EmitMany(kSqrt, x, {});
  // Where the graph has failed, as many as were asked for all the same.
  if (roots.size() != x.size()) {
    const Tensor any = roots.front();
    roots.resize(x.size(), any);
  }
  return roots;
}

void FusedAdamW(TensorList lists) { EmitOverLists(kFusedAdamW, {lists}); }

}  // namespace foretell
