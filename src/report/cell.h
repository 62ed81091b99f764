// One value of a report: a text, a number, a flag, a figure or a list.
//
// What a presenter puts in and a renderer takes out. A missing value is an
// empty cell, allowed only where the column says so; what is not known is a
// figure.
#ifndef FORETELL_REPORT_CELL_H_
#define FORETELL_REPORT_CELL_H_

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/figure.h"
#include "report/shape.h"

namespace foretell {

// Converts from what presenters hold. A literal becomes a text and never a
// flag, which is why the constructors are spelled out.
class Cell {
 public:
  // No value: only where the column is optional.
  Cell() = default;
  // NOLINTBEGIN(google-explicit-constructor): rows read as lists of values.
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(bool flag) : value_(flag) {}
  template <std::integral I>
  Cell(I number) : value_(static_cast<int64_t>(number)) {
    FORETELL_CHECK(std::in_range<int64_t>(number),
                   "an integer past 2^63 - 1 in a report");
  }
  Cell(double number) : value_(number) {}
  Cell(AnyFigure figure) : value_(std::move(figure)) {}
  template <Unit U>
  Cell(const Figure<U>& figure) : value_(figure.any()) {}
  Cell(std::vector<std::string> texts) : value_(std::move(texts)) {}
  // NOLINTEND(google-explicit-constructor)

  bool empty() const { return value_.index() == 0; }
  bool Is(CellType type) const;

  // Each fails a check where the cell holds another type.
  const std::string& text() const;
  int64_t integer() const;
  double real() const;
  bool flag() const;
  const AnyFigure& figure() const;
  const std::vector<std::string>& texts() const;

  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::variant<std::monostate, std::string, int64_t, double, bool, AnyFigure,
               std::vector<std::string>>
      value_;
};

}  // namespace foretell

#endif  // FORETELL_REPORT_CELL_H_
