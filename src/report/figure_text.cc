#include "report/figure_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <span>

#include "report/safe_text.h"

namespace foretell {
namespace {

struct Scale {
  double size;  // in the figure's unit
  std::string_view name;
};

// Whole numbers below 2^53 are exact in a double.
constexpr double kWhole = 9007199254740992;

constexpr double kKibi = 1024;
constexpr double kMebi = kKibi * 1024;
constexpr double kGibi = kMebi * 1024;

// Largest first. GiB is the largest for bytes, since cards are sold by it.
constexpr std::array<Scale, 3> kByteScales = {
    {{kGibi, "GiB"}, {kMebi, "MiB"}, {kKibi, "KiB"}}};
constexpr std::array<Scale, 3> kBytesPerTokenScales = {
    {{kGibi, "GiB/token"}, {kMebi, "MiB/token"}, {kKibi, "KiB/token"}}};
constexpr std::array<Scale, 6> kFlopScales = {{{1e18, "EFLOPs"},
                                               {1e15, "PFLOPs"},
                                               {1e12, "TFLOPs"},
                                               {1e9, "GFLOPs"},
                                               {1e6, "MFLOPs"},
                                               {1e3, "KFLOPs"}}};
constexpr std::array<Scale, 6> kSecondScales = {{{3600, "h"},
                                                 {60, "min"},
                                                 {1, "s"},
                                                 {1e-3, "ms"},
                                                 {1e-6, "µs"},
                                                 {1e-9, "ns"}}};

std::span<const Scale> ScalesOf(Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return kByteScales;
    case Unit::kBytesPerToken:
      return kBytesPerTokenScales;
    case Unit::kFlops:
      return kFlopScales;
    case Unit::kSeconds:
      return kSecondScales;
    case Unit::kCount:
    case Unit::kParameters:
    case Unit::kTokens:
      return {};
  }
  return {};
}

// The scale in which `value` is written, or one of size 1 in the unit's name.
Scale ScaleOf(Unit unit, double value) {
  // A value that four digits round up to the next scale is written in it.
  constexpr double kRoundsUp = 0.99995;
  for (const Scale& scale : ScalesOf(unit)) {
    if (std::abs(value) >= scale.size * kRoundsUp) return scale;
  }
  return {1, NameOf(unit)};
}

// Four significant digits, with separators where there are more places.
std::string FourDigits(double value) {
  constexpr double kPlain = 1e4;
  constexpr double kLargest = 9e18;  // below 2^63
  if (std::abs(value) < kPlain || !(std::abs(value) < kLargest)) {
    return fmt::format("{:.4g}", value);
  }
  const double step =
      std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
  return WithSeparators(static_cast<int64_t>(std::round(value / step) * step));
}

// `value` within `scale`, with the scale's name.
std::string Scaled(double value, const Scale& scale) {
  const std::string number = FourDigits(value / scale.size);
  if (scale.name.empty()) return number;
  return number + " " + std::string(scale.name);
}

std::string ScaledIfShorter(Unit unit, double value) {
  const Scale scale = ScaleOf(unit, value);
  return scale.size <= 1 ? "" : Scaled(value, scale);
}

// Whether the figure is one whole number that a record states, such as a
// published count: it keeps its digits, and its interval says nothing.
bool IsStated(const AnyFigure& figure) {
  const double value = *figure.value();
  return *figure.low() == value && *figure.high() == value &&
         std::floor(value) == value && std::abs(value) < kWhole;
}

std::string Interval(const AnyFigure& figure) {
  const Scale scale = ScaleOf(figure.unit(), *figure.value());
  return FourDigits(*figure.low() / scale.size) + " to " +
         Scaled(*figure.high(), scale);
}

FigureText WriteUnknown(const AnyFigure& figure) {
  FigureText out;
  out.note = fmt::format("missing: {}", fmt::join(figure.missing(), "; "));
  if (!figure.low()) {
    out.number = "unknown";
    return out;
  }
  const double part = *figure.low();
  if (std::floor(part) == part && std::abs(part) < kWhole) {
    out.number = "at least " + WithSeparators(static_cast<int64_t>(part));
    out.unit = NameOf(figure.unit());
    out.scaled = ScaledIfShorter(figure.unit(), part);
  } else {
    out.number = "at least " + Scaled(part, ScaleOf(figure.unit(), part));
  }
  return out;
}

}  // namespace

FigureText WriteFigure(const AnyFigure& figure) {
  FigureText out;
  switch (figure.provenance()) {
    case Provenance::kExact:
      out.number = WithSeparators(figure.exact());
      out.unit = NameOf(figure.unit());
      out.scaled = ScaledIfShorter(figure.unit(), *figure.value());
      return out;
    case Provenance::kMeasured:
      if (IsStated(figure)) {
        out.number = WithSeparators(static_cast<int64_t>(*figure.value()));
        out.unit = NameOf(figure.unit());
        out.scaled = ScaledIfShorter(figure.unit(), *figure.value());
        out.note = "measured";
        break;
      }
      out.number =
          Scaled(*figure.value(), ScaleOf(figure.unit(), *figure.value()));
      out.note = "measured, " + Interval(figure);
      break;
    case Provenance::kEstimated:
      out.number = "~" + Scaled(*figure.value(),
                                ScaleOf(figure.unit(), *figure.value()));
      out.note = Interval(figure);
      break;
    case Provenance::kUnknown:
      return WriteUnknown(figure);
  }
  if (!figure.source().empty()) out.note += "; " + figure.source();
  return out;
}

std::string FigureLine(const AnyFigure& figure, std::string_view label) {
  const FigureText text = WriteFigure(figure);
  std::string out = text.number;
  if (!text.unit.empty() && !NamesUnit(label, text.unit)) {
    out += " " + text.unit;
  }
  if (!text.scaled.empty()) out += " (" + text.scaled + ")";
  if (!text.note.empty()) out += " (" + text.note + ")";
  return Harmless(out);
}

bool NamesUnit(std::string_view label, std::string_view unit) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return !std::ranges::search(label, unit, same).empty();
}

std::string RealText(double value) { return fmt::format("{:.6g}", value); }

}  // namespace foretell
