// Layouts against those that torch 2.15 gives (its own `stride()`), as tables.
#include "graph/strides.h"

#include <gtest/gtest.h>

#include <vector>

namespace foretell {
namespace {

struct Layout {
  Shape shape;
  Shape strides;
};

Value ValueOf(const Layout& layout) {
  Value value;
  value.shape = layout.shape;
  value.strides = layout.strides;
  return value;
}

struct ViewCase {
  Shape shape;
  Shape strides;
  Shape wanted;
  Shape result;  // strides of x.view(wanted)
  bool is_view;  // false where view() raises
};

const ViewCase kViews[] = {
    {{2, 3, 4}, {12, 4, 1}, {24}, {1}, true},
    {{2, 3, 4}, {12, 4, 1}, {2, 12}, {12, 1}, true},
    {{2, 3, 4}, {12, 4, 1}, {6, 4}, {4, 1}, true},
    {{2, 3, 4}, {12, 4, 1}, {6, 4}, {4, 1}, true},
    {{2, 3, 4}, {12, 4, 1}, {2, 3, 4, 1}, {12, 4, 1, 1}, true},
    {{2, 3, 4}, {12, 1, 3}, {24}, {}, false},
    {{2, 3, 4}, {12, 1, 3}, {2, 12}, {}, false},
    {{2, 3, 4}, {12, 1, 3}, {6, 4}, {}, false},
    {{2, 3, 4}, {12, 1, 3}, {6, 4}, {}, false},
    {{2, 3, 4}, {12, 1, 3}, {2, 3, 4, 1}, {12, 1, 3, 3}, true},
    {{2, 8, 4, 16}, {512, 16, 128, 1}, {1024}, {}, false},
    {{2, 8, 4, 16}, {512, 16, 128, 1}, {2, 512}, {}, false},
    {{2, 8, 4, 16}, {512, 16, 128, 1}, {16, 64}, {}, false},
    {{2, 8, 4, 16}, {512, 16, 128, 1}, {64, 16}, {}, false},
    {{2, 8, 4, 16},
     {512, 16, 128, 1},
     {2, 8, 4, 16, 1},
     {512, 16, 128, 1, 1},
     true},
    {{1, 8, 4, 16}, {512, 16, 128, 1}, {512}, {}, false},
    {{1, 8, 4, 16}, {512, 16, 128, 1}, {1, 512}, {}, false},
    {{1, 8, 4, 16}, {512, 16, 128, 1}, {8, 64}, {}, false},
    {{1, 8, 4, 16}, {512, 16, 128, 1}, {32, 16}, {}, false},
    {{1, 8, 4, 16},
     {512, 16, 128, 1},
     {1, 8, 4, 16, 1},
     {128, 16, 128, 1, 1},
     true},
    {{2, 1, 4, 16}, {64, 16, 16, 1}, {128}, {1}, true},
    {{2, 1, 4, 16}, {64, 16, 16, 1}, {2, 64}, {64, 1}, true},
    {{2, 1, 4, 16}, {64, 16, 16, 1}, {2, 64}, {64, 1}, true},
    {{2, 1, 4, 16}, {64, 16, 16, 1}, {8, 16}, {16, 1}, true},
    {{2, 1, 4, 16},
     {64, 16, 16, 1},
     {2, 1, 4, 16, 1},
     {64, 64, 16, 1, 1},
     true},
    {{4, 6}, {1, 4}, {24}, {}, false},
    {{4, 6}, {1, 4}, {4, 6}, {1, 4}, true},
    {{4, 6}, {1, 4}, {24, 1}, {}, false},
    {{4, 6}, {1, 4}, {4, 6}, {1, 4}, true},
    {{4, 6}, {1, 4}, {4, 6, 1}, {1, 4, 4}, true},
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {30}, {1}, true},
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {2, 15}, {15, 1}, true},
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {6, 5}, {5, 1}, true},
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {6, 5}, {5, 1}, true},
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {2, 3, 1, 5, 1}, {15, 5, 5, 1, 1}, true}};

TEST(Strides, ViewsAreTorchs) {
  for (const ViewCase& c : kViews) {
    const auto strides = ViewStrides(ValueOf({c.shape, c.strides}), c.wanted);
    ASSERT_EQ(strides.has_value(), c.is_view)
        << c.shape.ToString() << c.strides.ToString() << c.wanted.ToString();
    if (strides) {
      EXPECT_EQ(strides->ToString(), c.result.ToString())
          << c.shape.ToString() << c.strides.ToString() << c.wanted.ToString();
    }
  }
}

struct ElementwiseCase {
  std::vector<Layout> inputs;
  Shape shape;
  Shape strides;
};

// The sum of the inputs, or the negative of a single one.
const ElementwiseCase kElementwise[] = {
    {{{{2, 8, 4, 16}, {512, 16, 128, 1}}, {{1, 1, 4, 16}, {64, 64, 16, 1}}},
     {2, 8, 4, 16},
     {512, 16, 128, 1}},
    {{{{1, 1, 4, 16}, {64, 64, 16, 1}}, {{2, 8, 4, 16}, {512, 16, 128, 1}}},
     {2, 8, 4, 16},
     {512, 16, 128, 1}},
    {{{{2, 8, 4, 16}, {512, 16, 128, 1}}}, {2, 8, 4, 16}, {512, 16, 128, 1}},
    {{{{2, 8, 4, 16}, {512, 16, 128, 1}}, {{2, 8, 4, 16}, {512, 16, 128, 1}}},
     {2, 8, 4, 16},
     {512, 16, 128, 1}},
    {{{{2, 8, 4, 16}, {512, 64, 16, 1}}, {{2, 8, 4, 16}, {512, 16, 128, 1}}},
     {2, 8, 4, 16},
     {512, 64, 16, 1}},
    {{{{2, 8, 4, 16}, {512, 16, 128, 1}}, {{2, 8, 4, 16}, {512, 64, 16, 1}}},
     {2, 8, 4, 16},
     {512, 16, 128, 1}},
    {{{{4, 3}, {1, 4}}}, {4, 3}, {1, 4}},
    {{{{1, 1, 4, 1}, {4, 4, 1, 1}}, {{1, 1, 1, 4}, {4, 4, 4, 1}}},
     {1, 1, 4, 4},
     {16, 16, 4, 1}},
    {{{{2, 3, 2}, {12, 4, 2}}}, {2, 3, 2}, {6, 2, 1}},
    {{{{4, 5, 3}, {0, 3, 1}}}, {4, 5, 3}, {15, 3, 1}},
    {{{{5, 6}, {1, 0}}, {{5, 6}, {6, 1}}}, {5, 6}, {6, 1}},
    {{{{5, 6}, {1, 5}}, {{5, 1}, {1, 1}}}, {5, 6}, {1, 5}},
    {{{{2, 2, 8}, {32, 8, 1}}}, {2, 2, 8}, {16, 8, 1}},
    {{{{1, 8, 4, 16}, {512, 16, 128, 1}}}, {1, 8, 4, 16}, {512, 16, 128, 1}},
    {{{{2, 8, 1, 16}, {128, 16, 128, 1}}}, {2, 8, 1, 16}, {128, 16, 16, 1}}};

TEST(Strides, ElementwiseResultsAreTorchs) {
  for (const ElementwiseCase& c : kElementwise) {
    std::vector<Value> values;
    std::vector<const Value*> inputs;
    Shape shape = c.inputs[0].shape;
    for (const Layout& input : c.inputs) {
      values.push_back(ValueOf(input));
      const auto joined = BroadcastShapes(shape, input.shape);
      ASSERT_TRUE(joined.has_value());
      shape = *joined;
    }
    for (const Value& value : values) inputs.push_back(&value);
    EXPECT_EQ(shape.ToString(), c.shape.ToString());
    EXPECT_EQ(ElementwiseStrides(inputs, shape).ToString(),
              c.strides.ToString())
        << values[0].shape.ToString() << values[0].strides.ToString();
  }
}

TEST(Strides, SizesResolve) {
  EXPECT_EQ(ResolveSizes({2, 3, 4}, {2, -1})->ToString(), "[2, 12]");
  EXPECT_EQ(ResolveSizes({2, 3, 4}, {24})->ToString(), "[24]");
  EXPECT_FALSE(ResolveSizes({2, 3, 4}, {5, -1}).has_value());
  EXPECT_FALSE(ResolveSizes({2, 3, 4}, {-1, -1}).has_value());
  EXPECT_FALSE(ResolveSizes({2, 3, 4}, {23}).has_value());
  EXPECT_FALSE(ResolveSizes({0, 3}, {0, -1}).has_value());
}

}  // namespace
}  // namespace foretell
