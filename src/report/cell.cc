#include "report/cell.h"

namespace foretell {
namespace {

template <typename T, typename V>
const T& Get(const V& value) {
  const T* held = std::get_if<T>(&value);
  FORETELL_CHECK(held != nullptr, "a cell holds another type");
  return *held;
}

}  // namespace

bool Cell::Is(CellType type) const {
  switch (type) {
    case CellType::kText:
      return std::holds_alternative<std::string>(value_);
    case CellType::kInteger:
      return std::holds_alternative<int64_t>(value_);
    case CellType::kReal:
      return std::holds_alternative<double>(value_);
    case CellType::kFlag:
      return std::holds_alternative<bool>(value_);
    case CellType::kFigure:
      return std::holds_alternative<AnyFigure>(value_);
    case CellType::kTexts:
      return std::holds_alternative<std::vector<std::string>>(value_);
  }
  return false;
}

const std::string& Cell::text() const { return Get<std::string>(value_); }
int64_t Cell::integer() const { return Get<int64_t>(value_); }
double Cell::real() const { return Get<double>(value_); }
bool Cell::flag() const { return Get<bool>(value_); }
const AnyFigure& Cell::figure() const { return Get<AnyFigure>(value_); }
const std::vector<std::string>& Cell::texts() const {
  return Get<std::vector<std::string>>(value_);
}

}  // namespace foretell
