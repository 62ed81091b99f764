#include "models/layers/einsum.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// The order of the axes that both operands are brought into: the output's
// letters, then the letters that are summed over, by the alphabet.
std::string CommonLetters(std::string_view left, std::string_view right,
                          std::string_view output) {
  std::string out(output);
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const bool is_used = left.find(letter) != std::string_view::npos ||
                         right.find(letter) != std::string_view::npos;
    if (is_used && out.find(letter) == std::string::npos) out += letter;
  }
  return out;
}

// All axes in the common order; those that the operand lacks have extent 1.
Tensor Spread(Tensor operand, std::string_view own, std::string_view common) {
  Shape order;
  auto next = static_cast<int64_t>(own.size());
  for (const char letter : common) {
    const size_t at = own.find(letter);
    if (at != std::string_view::npos) {
      order.Append(static_cast<int64_t>(at));
    } else {
      operand = Unsqueeze(operand, static_cast<int>(next));
      order.Append(next++);
    }
  }
  return Permute(operand, order);
}

// Axes of one part, and the product of their extents.
struct Part {
  std::vector<int> axes;
  int64_t elements = 1;
  void Add(int axis, int64_t extent) {
    axes.push_back(axis);
    elements = CheckedMul(elements, extent).value_or(0);
  }
};

Shape Joined(std::initializer_list<const Part*> parts) {
  Shape out;
  for (const Part* part : parts) {
    for (const int axis : part->axes) out.Append(axis);
  }
  return out;
}

// sumproduct_pair: left and right have the same axes; those from `first_summed`
// on that both have are summed over and stay as 1.
Tensor SumOfProducts(Tensor left, Tensor right, int first_summed) {
  Part both;
  Part only_left;
  Part only_right;
  Part summed;
  const int rank = left.shape().rank();
  for (int axis = 0; axis < rank; ++axis) {
    const bool in_left = left.size(axis) != 1;
    const bool in_right = right.size(axis) != 1;
    if (axis >= first_summed && in_left && in_right) {
      summed.Add(axis, left.size(axis));
    } else if (in_left && in_right) {
      both.Add(axis, left.size(axis));
    } else if (in_left) {
      only_left.Add(axis, left.size(axis));
    } else {
      only_right.Add(axis, right.size(axis));
    }
  }
  if (summed.axes.empty()) return Mul(left, right);
  // The product then comes in the order of the output.
  const bool swaps = !only_left.axes.empty() && !only_right.axes.empty() &&
                     only_right.axes.back() < only_left.axes.front();
  if (swaps) {
    std::swap(left, right);
    std::swap(only_left, only_right);
  }
  Shape out;
  for (const int axis : both.axes) out.Append(left.size(axis));
  for (const int axis : only_left.axes) out.Append(left.size(axis));
  for (size_t i = 0; i < summed.axes.size(); ++i) out.Append(1);
  for (const int axis : only_right.axes) out.Append(right.size(axis));
  const Shape order = Joined({&both, &only_left, &summed, &only_right});
  Shape back = order;
  for (int at = 0; at < order.rank(); ++at) {
    back.Set(static_cast<int>(order[at]), at);
  }
  left = Reshape(Permute(left, order),
                 {both.elements, only_left.elements, summed.elements});
  right =
      Reshape(Permute(right, Joined({&both, &summed, &only_right, &only_left})),
              {both.elements, summed.elements, only_right.elements});
  return Permute(View(Bmm(left, right), out), back);
}

}  // namespace

Tensor Einsum(std::string_view equation, const Tensor& left,
              const Tensor& right) {
  Builder& builder = left.builder();
  const size_t comma = equation.find(',');
  const size_t arrow = equation.find("->");
  const std::string_view of_left = equation.substr(0, comma);
  const std::string_view of_right =
      equation.substr(comma + 1, arrow - comma - 1);
  const std::string_view of_output = equation.substr(arrow + 2);
  if (left.shape().rank() != static_cast<int>(of_left.size()) ||
      right.shape().rank() != static_cast<int>(of_right.size())) {
    builder.Fail("einsum " + std::string(equation) + " of " +
                 left.shape().ToString() + " and " + right.shape().ToString());
    return left;
  }
  const std::string common = CommonLetters(of_left, of_right, of_output);
  const Tensor a = Spread(left, of_left, common);
  const Tensor b = Spread(right, of_right, common);
  const Tensor product =
      SumOfProducts(a, b, static_cast<int>(of_output.size()));
  if (!builder.failure().empty()) return product;
  Shape kept;
  for (size_t axis = 0; axis < of_output.size(); ++axis) {
    kept.Append(product.size(static_cast<int>(axis)));
  }
  return common.size() == of_output.size() ? product : View(product, kept);
}

}  // namespace foretell
