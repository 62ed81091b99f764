// The extents of a tensor, and how many elements they make.
//
// A shape holds up to eight dims (PyTorch's models here use at most six).
// Extents are zero or more; the element count is checked against 2^63.
#ifndef FORETELL_BASE_SHAPE_H_
#define FORETELL_BASE_SHAPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace foretell {

class Shape {
 public:
  static constexpr int kMaxDims = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  // `axis` counts from the end where negative, as in PyTorch.
  int64_t operator[](int axis) const;
  void Set(int axis, int64_t extent);
  void Append(int64_t extent);
  std::span<const int64_t> dims() const& {
    return {dims_.data(), static_cast<size_t>(rank_)};
  }
  // Of a temporary, whose extents would be gone.
  std::span<const int64_t> dims() const&& = delete;

  // The product of the extents; nothing where it passes 2^63 - 1.
  std::optional<int64_t> Elements() const;

  // "[1, 64, 2048]", as PyTorch prints it.
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<int64_t, kMaxDims> dims_ = {};
  int rank_ = 0;
};

}  // namespace foretell

#endif  // FORETELL_BASE_SHAPE_H_
