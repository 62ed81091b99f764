#include "models/layers/axis_rope.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/rope.h"

namespace foretell {
namespace {

// The first axis's angles, over which the others write theirs.
Tensor Recompose(const Tensor& angles, std::span<const int64_t> sections) {
  const Tensor first = Select(angles, 0, 0);
  for (int axis = 1; axis < 3; ++axis) {
    const int64_t end = 3 * sections[static_cast<size_t>(axis)];
    const Tensor own = Slice(Select(angles, 0, axis), 2, axis, end, 3);
    CopyInto(Slice(first, 2, axis, end, 3), own);
  }
  return Cat2(first, first, -1);
}

// Each axis's angles of its own dims, one axis beside the other.
Tensor Compose(const Tensor& angles, std::span<const int64_t> sections) {
  const auto parts = [&] {
    std::vector<Tensor> out;
    const Shape sizes(sections);
    int axis = 0;
    for (const Tensor& part : SplitSizes(angles, sizes, 3)) {
      out.push_back(Select(part, 0, axis % 3));
      ++axis;
    }
    return Cat(out, -1);
  };
  const Tensor joined = parts();
  return Cat2(joined, joined, -1);
}

}  // namespace

std::vector<int64_t> ReadRopeSections(const ConfigView& config,
                                      std::vector<int64_t> otherwise) {
  const ConfigView rope = RopeSettings(config);
  // The class interleaves whatever it says.
  rope.Ignore({"mrope_interleaved"});
  if (rope.object() == nullptr) return otherwise;
  const auto stated = rope.IntegerList({"mrope_section"});
  if (!stated) return otherwise;
  const auto is_size = [](int64_t size) {
    return size >= 0 && size <= kLargestSize;
  };
  if (stated->size() < 3 || !std::ranges::all_of(*stated, is_size)) {
    rope.Problem("mrope_section", "does not give three sizes",
                 "write three whole numbers");
    return otherwise;
  }
  return *stated;
}

AxisPositions PlaceOnAxes(Tensor positions, int64_t batch, bool has_text) {
  positions = View(std::move(positions), {1, 1, -1});
  if (!has_text) return {{}, Expand(std::move(positions), {3, batch, -1})};
  positions = Expand(std::move(positions), {4, batch, -1});
  AxisPositions out;
  out.text = Select(positions, 0, 0);
  out.axes =
      Slice(std::move(positions), 0, 1, std::numeric_limits<int64_t>::max());
  return out;
}

std::pair<Tensor, Tensor> AxisAngles(const Tensor& positions,
                                     const Tensor& frequencies,
                                     std::span<const int64_t> sections,
                                     bool side_by_side, DType dtype) {
  const Tensor each = Expand(positions, {3, -1, -1});
  const Tensor angles =
      Mul(To(Unsqueeze(each, 3), DType::kFloat32), frequencies);
  Tensor cosines = MulScalar(Cos(angles), 1.0);
  Tensor sines = MulScalar(Sin(angles), 1.0);
  const auto recompose = side_by_side ? Compose : Recompose;
  sines = recompose(sines, sections);
  cosines = recompose(cosines, sections);
  const Tensor cosines_out = To(cosines, dtype);
  return {cosines_out, To(sines, dtype)};
}

}  // namespace foretell
