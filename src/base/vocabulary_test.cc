// Dtypes, shapes, places, errors and near names: the small words of `base`.
#include <gtest/gtest.h>

#include <array>

#include "base/check.h"
#include "base/dtype.h"
#include "base/input_error.h"
#include "base/nearest.h"
#include "base/place.h"
#include "base/shape.h"

namespace foretell {
namespace {

TEST(DType, EveryNameIsReadBack) {
  for (const DTypeRow& row : AllDTypes()) {
    EXPECT_EQ(ParseDType(row.name), row.dtype) << row.name;
    EXPECT_EQ(ParseDType(row.short_name), row.dtype) << row.short_name;
    EXPECT_EQ(&Describe(row.dtype), &row) << row.name;
  }
  EXPECT_EQ(ParseDType("torch.bfloat16"), DType::kBFloat16);
  EXPECT_EQ(ParseDType("half"), DType::kFloat16);
  EXPECT_EQ(ParseDType("bfloat"), std::nullopt);
}

TEST(Shape, CountsItsElements) {
  EXPECT_EQ((Shape{}.Elements()), 1);
  EXPECT_EQ((Shape{3, 4}.Elements()), 12);
  EXPECT_EQ((Shape{int64_t{1} << 40, 0}.Elements()), 0);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40}.Elements()),
            std::nullopt);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40, 0}.Elements()), 0);
}

TEST(Shape, IndexesFromBothEnds) {
  const Shape shape = {2, 3, 5};
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape.ToString(), "[2, 3, 5]");
  EXPECT_THROW(shape[3], InternalError);
}

TEST(InputError, PrintsPlaceCaretAndCure) {
  InputError error;
  error.place = {
      "config.json", 3, 20, "hidden_size", "\"hidden_size\": \"big\"", 15};
  error.what = "is a string, not a size";
  error.cure = "write a whole number";
  EXPECT_EQ(ToString(error),
            "error: config.json:3:20 (hidden_size): is a string, not a size\n"
            "  \"hidden_size\": \"big\"\n"
            "                 ^\n"
            "cure: write a whole number\n");
}

TEST(InputErrors, HoldAtLeastOne) {
  EXPECT_THROW(InputErrors(std::vector<InputError>()), InternalError);
}

TEST(NearestNames, ToleratesSlips) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("ab", "ba"), 1);
  EXPECT_EQ(EditDistance("ABC", "abc"), 0);
  constexpr std::array<std::string_view, 3> kNames = {"model", "models",
                                                      "verify"};
  EXPECT_EQ(NearestNames("modle", kNames),
            (std::vector<std::string>{"model", "models"}));
  EXPECT_TRUE(NearestNames("zzzzzzzz", kNames).empty());
}

}  // namespace
}  // namespace foretell
