#include "graph/autocast.h"

#include <gtest/gtest.h>

#include <string_view>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"

namespace foretell {
namespace {

constexpr DType kHalf = DType::kBFloat16;
constexpr DType kFull = DType::kFloat32;

class AutocastTest : public testing::Test {
 protected:
  Tensor Weight(const Shape& shape) {
    return builder_.Read(builder_.AddParameter(builder_.root(), "w", shape));
  }
  Tensor Activation(const Shape& shape) { return Ones(builder_, shape, kFull); }
  int64_t Count(std::string_view name) const {
    int64_t count = 0;
    for (const Operation& operation : graph_.operations) {
      if (operation.row->name == name) ++count;
    }
    return count;
  }
  // How often a value that `name` made was dropped.
  int64_t Drops(std::string_view name) const {
    int64_t count = 0;
    for (const Step& step : graph_.steps) {
      if (step.kind != Step::Kind::kDrop) continue;
      for (const Operation& operation : graph_.operations) {
        if (operation.row->name != name) continue;
        for (const ValueId id : graph_.OutputsOf(operation)) {
          if (id.index == step.index) ++count;
        }
      }
    }
    return count;
  }

  Graph graph_;
  Builder builder_{graph_, kFull};
};

constexpr std::string_view kCast = "aten._to_copy.default";

TEST_F(AutocastTest, OffChangesNothing) {
  const Tensor product = Mm(Activation({2, 4}), Weight({4, 8}));
  EXPECT_EQ(product.dtype(), kFull);
  EXPECT_EQ(Count(kCast), 0);
}

TEST_F(AutocastTest, ProductsRunInTheLowerPrecision) {
  const AutocastScope scope(builder_, kHalf);
  const Tensor product = Mm(Activation({2, 4}), Weight({4, 8}));
  EXPECT_EQ(product.dtype(), kHalf);
  EXPECT_EQ(Count(kCast), 2);
}

TEST_F(AutocastTest, AParameterIsCastOnceAndKeptToTheEnd) {
  const Tensor weight = Weight({4, 4});
  {
    const AutocastScope scope(builder_, kHalf);
    const Tensor x = Activation({2, 4});
    { const Tensor once = Mm(x, weight); }
    {
      // Switching autocast off inside does not end the outer context.
      const AutocastScope off(builder_, std::nullopt);
      EXPECT_EQ(Mm(x, weight).dtype(), kFull);
    }
    { const Tensor again = Mm(x, weight); }
    // The parameter once, the activation for each product; both of its copies
    // went with the records of the products.
    EXPECT_EQ(Count(kCast), 3);
    EXPECT_EQ(Drops(kCast), 2);
  }
  EXPECT_EQ(Drops(kCast), 3);
}

TEST_F(AutocastTest, AFrozenParameterIsCastEachTime) {
  const Tensor weight = Weight({4, 4});
  graph_.values[weight.id().index].requires_grad = false;
  const AutocastScope scope(builder_, kHalf);
  const Tensor x = Activation({2, 4});
  { const Tensor once = Mm(x, weight); }
  { const Tensor again = Mm(x, weight); }
  EXPECT_EQ(Count(kCast), 4);
  EXPECT_EQ(Drops(kCast), 4);
}

TEST_F(AutocastTest, PowersAndSumsRunInFloat32) {
  const AutocastScope scope(builder_, kHalf);
  const Tensor half = Ones(builder_, {2, 4}, kHalf);
  EXPECT_EQ(PowScalar(half, 2).dtype(), kFull);
  EXPECT_EQ(Count(kCast), 1);
  // A sum is told its result's dtype and casts nothing.
  EXPECT_EQ(SumOver(half, -1, false).dtype(), kFull);
  EXPECT_EQ(Count(kCast), 1);
  EXPECT_EQ(SoftmaxOp(half, -1).dtype(), kFull);
  EXPECT_EQ(SoftmaxAsIs(half, -1).dtype(), kHalf);
  EXPECT_EQ(Neg(half).dtype(), kHalf);
}

TEST_F(AutocastTest, Float16IsReadBySoftmaxItself) {
  const AutocastScope scope(builder_, DType::kFloat16);
  const Tensor half = Ones(builder_, {2, 4}, DType::kFloat16);
  EXPECT_EQ(SoftmaxOp(half, -1).dtype(), kFull);
  EXPECT_EQ(Count(kCast), 0);
}

TEST_F(AutocastTest, ACallRunsInsideWithoutIt) {
  const AutocastScope scope(builder_, kHalf);
  Tensor x = Activation({2, 4});
  {
    const AutocastCall call(builder_, AutocastPolicy::kLower, {&x});
    EXPECT_EQ(x.dtype(), kHalf);
    EXPECT_FALSE(builder_.execution().autocast.has_value());
  }
  EXPECT_EQ(builder_.execution().autocast, kHalf);
}

}  // namespace
}  // namespace foretell
