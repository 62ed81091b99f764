// A number that says how it is known: `Figure`, its provenance and arithmetic.
//
// Every quantity that Foretell prints is one of
//   exact      derived; equal to what the framework itself would report
//   measured   read from a device or a published record, with an interval
//   estimated  a model's answer, with a 90 % interval
//   unknown    with what is missing; never zero
// Arithmetic keeps the weakest: exact + estimated = estimated, and a sum with
// an unknown term is unknown but keeps its known part ("at least 3 GiB").
// Intervals add end to end, which is the cautious choice: errors of terms may
// be correlated. Integers stay integers; past 2^63 - 1 a result is unknown.
//
//   Bytes weights = Bytes::Exact(16'381'470'720);
//   Bytes total = weights + Bytes::Unknown("the adapter's rank");
//   total.ToString();  // "at least 16,381,470,720 bytes"
#ifndef FORETELL_BASE_FIGURE_H_
#define FORETELL_BASE_FIGURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {

enum class Provenance : uint8_t { kExact, kMeasured, kEstimated, kUnknown };

std::string_view NameOf(Provenance provenance);  // "exact", "measured", …

enum class Unit : uint8_t {
  kCount,  // of layers, tensors, heads
  kParameters,
  kBytes,
  kBytesPerToken,
  kTokens,
  kFlops,  // a multiply-add is two
  kSeconds,
};

std::string_view NameOf(Unit unit);  // "parameters", "bytes", …

// 12345678 -> "12,345,678".
std::string WithSeparators(int64_t value);

// A figure whose unit is known at run time; what reports are made of.
class AnyFigure {
 public:
  // `source` says where it comes from, in a few words: "config.json",
  // "hub record of 2026-05". May be empty.
  static AnyFigure Exact(Unit unit, int64_t value, std::string source = "");
  // Exact where the checked computation gave a value, else unknown.
  static AnyFigure Exact(Unit unit, std::optional<int64_t> value,
                         std::string source = "");
  // `low` and `high` bound the value; what fell outside is not `measured`.
  static AnyFigure Measured(Unit unit, double value, double low, double high,
                            std::string source);
  // `low` and `high` are the ends of the 90 % interval.
  static AnyFigure Estimated(Unit unit, double value, double low, double high,
                             std::string source);
  static AnyFigure Unknown(Unit unit, std::string missing);

  Unit unit() const { return unit_; }
  Provenance provenance() const { return provenance_; }
  bool is_exact() const { return provenance_ == Provenance::kExact; }
  bool is_unknown() const { return provenance_ == Provenance::kUnknown; }

  // The value of an exact figure; a check fails on any other.
  int64_t exact() const;
  // Best value; for an unknown figure its known part, where it has one.
  std::optional<double> value() const;
  // The ends of the interval; an exact figure's are its value. Nothing where
  // that end is unknown.
  std::optional<double> low() const;
  std::optional<double> high() const;

  // What is missing, one entry per unknown term; empty unless unknown.
  const std::vector<std::string>& missing() const { return missing_; }
  const std::string& source() const { return source_; }

  AnyFigure Plus(const AnyFigure& other) const;  // units must agree
  AnyFigure Times(int64_t factor) const;         // factor is zero or more
  AnyFigure In(Unit unit) const;  // the same number, read in another unit

  // "8,190,735,360 parameters", "between 1.2e9 and 1.6e9 bytes (estimated)",
  // "at least 3,072 bytes", "unknown (the adapter's rank)".
  std::string ToString() const;

  friend bool operator==(const AnyFigure&, const AnyFigure&) = default;

 private:
  Unit unit_ = Unit::kCount;
  Provenance provenance_ = Provenance::kExact;
  int64_t exact_ = 0;  // where exact, or the exact known part of an unknown
  double value_ = 0;   // where measured, estimated, or an inexact known part
  double low_ = 0;
  double high_ = 0;
  bool has_part_ = true;       // an unknown figure may have no known part
  bool part_is_exact_ = true;  // the known part is `exact_`
  std::vector<std::string> missing_;
  std::string source_;
};

// A figure whose unit is part of its type, so that bytes and FLOPs never add.
template <Unit U>
class Figure {
 public:
  Figure() : any_(AnyFigure::Exact(U, int64_t{0})) {}
  explicit Figure(const AnyFigure& any) : any_(any.In(U)) {}

  static Figure Exact(int64_t value, std::string source = "") {
    return Figure(AnyFigure::Exact(U, value, std::move(source)));
  }
  static Figure Exact(std::optional<int64_t> value, std::string source = "") {
    return Figure(AnyFigure::Exact(U, value, std::move(source)));
  }
  static Figure Measured(double value, double low, double high,
                         std::string source) {
    return Figure(AnyFigure::Measured(U, value, low, high, std::move(source)));
  }
  static Figure Estimated(double value, double low, double high,
                          std::string source) {
    return Figure(AnyFigure::Estimated(U, value, low, high, std::move(source)));
  }
  static Figure Unknown(std::string missing) {
    return Figure(AnyFigure::Unknown(U, std::move(missing)));
  }

  const AnyFigure& any() const { return any_; }
  Provenance provenance() const { return any_.provenance(); }
  bool is_exact() const { return any_.is_exact(); }
  bool is_unknown() const { return any_.is_unknown(); }
  int64_t exact() const { return any_.exact(); }
  std::string ToString() const { return any_.ToString(); }

  friend Figure operator+(const Figure& a, const Figure& b) {
    return Figure(a.any_.Plus(b.any_));
  }
  Figure& operator+=(const Figure& other) { return *this = *this + other; }
  friend Figure operator*(const Figure& a, int64_t factor) {
    return Figure(a.any_.Times(factor));
  }
  friend Figure operator*(int64_t factor, const Figure& a) {
    return a * factor;
  }
  friend bool operator==(const Figure&, const Figure&) = default;

 private:
  AnyFigure any_;
};

using Count = Figure<Unit::kCount>;
using Parameters = Figure<Unit::kParameters>;
using Bytes = Figure<Unit::kBytes>;
using BytesPerToken = Figure<Unit::kBytesPerToken>;
using Tokens = Figure<Unit::kTokens>;
using Flops = Figure<Unit::kFlops>;
using Seconds = Figure<Unit::kSeconds>;

}  // namespace foretell

#endif  // FORETELL_BASE_FIGURE_H_
