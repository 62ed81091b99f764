#include "base/figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"

namespace foretell {
namespace {

constexpr char kOverflow[] = "the result passes 2^63 - 1";

std::string Rounded(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

std::string_view NameOf(Provenance provenance) {
  switch (provenance) {
    case Provenance::kExact:
      return "exact";
    case Provenance::kMeasured:
      return "measured";
    case Provenance::kEstimated:
      return "estimated";
    case Provenance::kUnknown:
      return "unknown";
  }
  FailCheck(__FILE__, __LINE__, "provenance", "provenance without a name");
}

std::string_view NameOf(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "";
    case Unit::kParameters:
      return "parameters";
    case Unit::kBytes:
      return "bytes";
    case Unit::kBytesPerToken:
      return "bytes/token";
    case Unit::kTokens:
      return "tokens";
    case Unit::kFlops:
      return "FLOPs";
    case Unit::kSeconds:
      return "seconds";
  }
  FailCheck(__FILE__, __LINE__, "unit", "unit without a name");
}

std::string WithSeparators(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

AnyFigure AnyFigure::Exact(Unit unit, int64_t value, std::string source) {
  AnyFigure out;
  out.unit_ = unit;
  out.exact_ = value;
  out.source_ = std::move(source);
  return out;
}

AnyFigure AnyFigure::Exact(Unit unit, std::optional<int64_t> value,
                           std::string source) {
  if (!value) return Unknown(unit, kOverflow);
  return Exact(unit, *value, std::move(source));
}

AnyFigure AnyFigure::Measured(Unit unit, double value, double low, double high,
                              std::string source) {
  FORETELL_CHECK(low <= value && value <= high, "interval without its value");
  AnyFigure out;
  out.unit_ = unit;
  out.provenance_ = Provenance::kMeasured;
  out.part_is_exact_ = false;
  out.value_ = value;
  out.low_ = low;
  out.high_ = high;
  out.source_ = std::move(source);
  return out;
}

AnyFigure AnyFigure::Estimated(Unit unit, double value, double low, double high,
                               std::string source) {
  AnyFigure out = Measured(unit, value, low, high, std::move(source));
  out.provenance_ = Provenance::kEstimated;
  return out;
}

AnyFigure AnyFigure::Unknown(Unit unit, std::string missing) {
  AnyFigure out;
  out.unit_ = unit;
  out.provenance_ = Provenance::kUnknown;
  out.has_part_ = false;
  out.missing_.push_back(std::move(missing));
  return out;
}

int64_t AnyFigure::exact() const {
  FORETELL_CHECK(is_exact(), "exact() of a figure that is not exact");
  return exact_;
}

std::optional<double> AnyFigure::value() const {
  if (!has_part_) return std::nullopt;
  return part_is_exact_ ? static_cast<double>(exact_) : value_;
}

std::optional<double> AnyFigure::low() const {
  if (!has_part_) return std::nullopt;
  return part_is_exact_ ? static_cast<double>(exact_) : low_;
}

std::optional<double> AnyFigure::high() const {
  if (is_unknown()) return std::nullopt;
  return part_is_exact_ ? static_cast<double>(exact_) : high_;
}

AnyFigure AnyFigure::Plus(const AnyFigure& other) const {
  FORETELL_CHECK(unit_ == other.unit_, "a sum of two units");
  AnyFigure out;
  out.unit_ = unit_;
  out.provenance_ = std::max(provenance_, other.provenance_);
  out.missing_ = missing_;
  out.missing_.insert(out.missing_.end(), other.missing_.begin(),
                      other.missing_.end());
  out.source_ = source_ == other.source_ ? source_ : "";
  if (!has_part_ || !other.has_part_) {
    const AnyFigure& known = has_part_ ? *this : other;
    out.has_part_ = known.has_part_;
    out.part_is_exact_ = known.part_is_exact_;
    out.exact_ = known.exact_;
    out.value_ = known.value_;
    out.low_ = known.low_;
    out.high_ = known.high_;
    return out;
  }
  if (part_is_exact_ && other.part_is_exact_) {
    const auto sum = CheckedAdd(exact_, other.exact_);
    if (sum) {
      out.exact_ = *sum;
      return out;
    }
    out = Unknown(unit_, kOverflow);
    return out;
  }
  out.part_is_exact_ = false;
  out.value_ = *value() + *other.value();
  out.low_ = *low() + *other.low();
  const auto high_of = [](const AnyFigure& figure) {
    return figure.part_is_exact_ ? static_cast<double>(figure.exact_)
                                 : figure.high_;
  };
  out.high_ = high_of(*this) + high_of(other);
  return out;
}

AnyFigure AnyFigure::Times(int64_t factor) const {
  FORETELL_CHECK(factor >= 0, "a figure times a negative factor");
  AnyFigure out = *this;
  if (part_is_exact_) {
    const auto product = CheckedMul(exact_, factor);
    if (!product) return Unknown(unit_, kOverflow);
    out.exact_ = *product;
  }
  const auto times = static_cast<double>(factor);
  out.value_ *= times;
  out.low_ *= times;
  out.high_ *= times;
  return out;
}

AnyFigure AnyFigure::In(Unit unit) const {
  AnyFigure out = *this;
  out.unit_ = unit;
  return out;
}

std::string AnyFigure::ToString() const {
  const std::string unit =
      NameOf(unit_).empty() ? "" : " " + std::string(NameOf(unit_));
  const std::string number =
      part_is_exact_ ? WithSeparators(exact_) : Rounded(value_);
  switch (provenance_) {
    case Provenance::kExact:
      return number + unit;
    case Provenance::kMeasured:
    case Provenance::kEstimated:
      return fmt::format("{}{} ({}, {} to {})", number, unit,
                         NameOf(provenance_), Rounded(low_), Rounded(high_));
    case Provenance::kUnknown:
      break;
  }
  if (!has_part_) {
    return fmt::format("unknown ({})", fmt::join(missing_, "; "));
  }
  return fmt::format("at least {}{} (unknown: {})",
                     part_is_exact_ ? number : Rounded(low_), unit,
                     fmt::join(missing_, "; "));
}

}  // namespace foretell
