// Every operation says what its backward executes, or that it has none.
#include "graph/operation_row.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

namespace foretell {
namespace {

// Rows that have a derivative in PyTorch which nothing has needed so far, and
// why. The backward of a model that needs one is refused by the row's name.
const std::map<std::string_view, std::string_view>& WithoutRule() {
  static const std::map<std::string_view, std::string_view> rows = {
      {"aten.addcdiv_.default", "updates parameters under no_grad"},
      {"aten.addcmul_.default", "updates an optimizer's states"},
      {"aten.lerp_.Scalar", "updates an optimizer's states"},
      {"aten.linalg_vector_norm.default", "measures an optimizer's update"},
      {"aten.pow.Scalar", "makes slopes and frequencies of positions"},
      {"aten.pow.Tensor_Tensor", "makes slopes of positions"},
      {"aten.reciprocal.default", "makes frequencies of positions"},
      {"aten.rsqrt_.default", "scales an optimizer's update"},
      {"aten.abs.default",
       "taken of distances, in whole numbers, and of "
       "router scores outside autograd"},
      {"aten.index_put_.default", "writes whole numbers"},
      {"aten.max.default", "taken of positions, in whole numbers"},
  };
  return rows;
}

TEST(OperationRow, EachHasAGradientOrNone) {
  for (const OperationRow* row : AllOperations()) {
    const bool has_none = row->differentiable == Differentiable::kNo;
    if (WithoutRule().contains(row->name)) {
      EXPECT_TRUE(!has_none && row->gradient == nullptr)
          << row->name << " has a rule; take it off the list";
      continue;
    }
    EXPECT_NE(row->gradient != nullptr, has_none)
        << row->name << " has neither a gradient rule nor none, or both";
    if (has_none) {
      EXPECT_TRUE(row->saves.empty()) << row->name;
    }
  }
}

TEST(OperationRow, EachSaveNamesOneOperand) {
  for (const OperationRow* row : AllOperations()) {
    for (const Save& save : row->saves) {
      EXPECT_NE(save.input < 0, save.output < 0) << row->name;
      EXPECT_FALSE(save.copied && save.input != 0)
          << row->name << ": only what is written over is copied";
    }
  }
}

}  // namespace
}  // namespace foretell
