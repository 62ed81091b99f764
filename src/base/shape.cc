#include "base/shape.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"

namespace foretell {

Shape::Shape(std::initializer_list<int64_t> dims)
    : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) {
  for (const int64_t extent : dims) Append(extent);
}

int64_t Shape::operator[](int axis) const {
  if (axis < 0) axis += rank_;
  FORETELL_CHECK(axis >= 0 && axis < rank_, "axis out of range");
  return dims_[static_cast<size_t>(axis)];
}

void Shape::Set(int axis, int64_t extent) {
  if (axis < 0) axis += rank_;
  FORETELL_CHECK(axis >= 0 && axis < rank_, "axis out of range");
  dims_[static_cast<size_t>(axis)] = extent;
}

void Shape::Append(int64_t extent) {
  FORETELL_CHECK(rank_ < kMaxDims, "more than eight dims");
  dims_[static_cast<size_t>(rank_++)] = extent;
}

std::optional<int64_t> Shape::Elements() const {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t extent : dims()) empty = empty || extent == 0;
  if (empty) return 0;
  for (const int64_t extent : dims()) {
    const auto product = CheckedMul(count, extent);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

std::string Shape::ToString() const {
  std::string out = "[";
  for (const int64_t extent : dims()) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(extent);
  }
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  return std::ranges::equal(a.dims(), b.dims());
}

}  // namespace foretell
