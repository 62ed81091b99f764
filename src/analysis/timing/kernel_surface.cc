#include "analysis/timing/kernel_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"

namespace foretell {
namespace {

constexpr size_t kMostFeatures = 256;
// What the interval grows by. An octave beyond what was measured: with all
// beyond a size held back on the H100, nine of ten errors grew by 0.05 (a
// prefill's length) to 0.25 (a decode's batch), by 0.1 for products; more is
// told of sums of both. Another framework's kernels: 14 % (README of the
// tables, 5.3).
constexpr double kAnOctave = 0.15;
constexpr double kFrameworks = 0.14;
// A dtype that was not measured: by its work, at another one's efficiency.
constexpr double kDtypes = 0.5;

double ValueOf(const KernelProduct& product, const KernelVariables& v) {
  double out = 1;
  for (const KernelVariable factor : product.multiplied) out *= v[factor];
  for (const KernelVariable factor : product.divided) out /= v[factor];
  return out;
}

// Of tiles, a multiprocessor's share.
double TilesOf(const KernelFeature& feature, const KernelVariables& v) {
  double out = 1;
  for (size_t i = 0; i < feature.products.size(); ++i) {
    const double value = ValueOf(feature.products[i], v);
    out *=
        i < feature.units.size() ? std::ceil(value / feature.units[i]) : value;
  }
  return out / v[KernelVariable::kSm];
}

double ValueOf(const KernelFeature& feature, const KernelSeries& series,
               const KernelVariables& v) {
  // The logarithm of nothing lies below all others.
  constexpr double kLeast = 1e-9;
  switch (feature.kind) {
    case KernelFeatureKind::kSeries:
      return series.place;
    case KernelFeatureKind::kCode:
      return static_cast<double>(series.words[feature.word]);
    case KernelFeatureKind::kLog:
      return std::log2(std::max(ValueOf(feature.products[0], v), kLeast));
    case KernelFeatureKind::kLogOfOneMore:
      return std::log2(1 + ValueOf(feature.products[0], v));
    case KernelFeatureKind::kPad: {
      const double value = ValueOf(feature.products[0], v);
      const double unit = feature.units[0];
      return value / (std::ceil(value / unit) * unit);
    }
    case KernelFeatureKind::kModulo:
      return std::fmod(ValueOf(feature.products[0], v), feature.units[0]);
    case KernelFeatureKind::kTiles:
      return std::log2(TilesOf(feature, v));
    case KernelFeatureKind::kWaves: {
      const double tiles = TilesOf(feature, v);
      return tiles / std::ceil(tiles);
    }
  }
  return 0;
}

double SumOf(const TreeSum& sum,
             const std::array<float, kMostFeatures>& features) {
  double out = 0;
  for (const uint32_t start : sum.starts) {
    const TreeNode* const first = sum.nodes.data() + start;
    const TreeNode* node = first;
    while (node->feature >= 0) {
      const auto feature = static_cast<size_t>(node->feature);
      node = features[feature] <= node->value ? node + 1 : first + node->right;
    }
    out += static_cast<double>(node->value);
  }
  return out;
}

// "1.3.0rc20" as {1, 3, 0, 20}.
std::vector<int> NumbersOf(std::string_view version) {
  std::vector<int> out;
  bool in_number = false;
  for (const char c : version) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !in_number) out.push_back(0);
    if (digit) out.back() = std::min(out.back() * 10 + (c - '0'), 100'000'000);
    in_number = digit;
  }
  return out;
}

// How far a series lies from what is asked; smaller is nearer, compared in
// order.
struct Distance {
  int dtypes = 0;     // words that tell a number's form, or what it does
  int framework = 0;  // 1: another one
  int distribution = 0;
  int kernel = 0;
  int model = 0;
  const std::string* version = nullptr;
  int64_t points = 0;  // negative: more are nearer
};

bool IsNearer(const Distance& a, const Distance& b, std::string_view version) {
  const auto whole = [](const Distance& d) {
    return std::tuple(d.dtypes, d.framework, d.distribution, d.kernel, d.model);
  };
  if (whole(a) != whole(b)) return whole(a) < whole(b);
  if (a.version != nullptr && b.version != nullptr &&
      *a.version != *b.version) {
    // The newest that is not newer than asked for, else the oldest.
    const std::vector<int> asked = NumbersOf(version);
    const std::vector<int> left = NumbersOf(*a.version);
    const std::vector<int> right = NumbersOf(*b.version);
    const bool left_newer = !version.empty() && left > asked;
    const bool right_newer = !version.empty() && right > asked;
    if (left_newer != right_newer) return right_newer;
    return left_newer ? left < right : left > right;
  }
  return a.points < b.points;
}

Distance DistanceOf(const KernelModel& model, const KernelSeries& series,
                    std::string_view framework, const KernelPoint& point) {
  Distance out;
  for (size_t i = 0; i < model.words.size(); ++i) {
    const std::string& name = model.words[i].name;
    const std::string& text = model.words[i].texts[series.words[i]];
    if (name == "framework") {
      out.framework = text == framework ? 0 : 1;
    } else if (name == "version") {
      out.version = &text;
    } else {
      const std::string_view asked = point.Word(name);
      if (asked.empty()) continue;
      const int differs = asked == text ? 0 : 1;
      if (name == "kernel") {
        out.kernel = differs;
      } else if (name == "model") {
        out.model = differs;
      } else if (name == "distribution") {
        out.distribution = differs;
      } else {
        out.dtypes += differs;
      }
    }
  }
  out.points = -series.points;
  return out;
}

// Octaves beyond the measured range, over all of its variables.
double OctavesOutside(const KernelModel& model, const KernelVariables& v) {
  double out = 0;
  for (const KernelRange& range : model.ranges) {
    const double value = v[range.variable];
    if (value < range.low) {
      out += std::log2((range.low + 1) / (value + 1));
    } else if (value > range.high) {
      out += std::log2((value + 1) / (range.high + 1));
    }
  }
  return out;
}

}  // namespace

SurfaceTime Evaluate(const KernelModel& model, std::string_view framework,
                     std::string_view version, const KernelPoint& point) {
  FORETELL_CHECK(!model.series.empty(), "a model without a series");
  FORETELL_CHECK(model.features.size() <= kMostFeatures, "too many features");
  SurfaceTime out;
  Distance nearest;
  for (const KernelSeries& series : model.series) {
    const Distance distance = DistanceOf(model, series, framework, point);
    if (out.series != nullptr && !IsNearer(distance, nearest, version)) {
      continue;
    }
    nearest = distance;
    out.series = &series;
  }
  FORETELL_CHECK(out.series != nullptr, "no nearest series");
  out.other_framework = nearest.framework != 0;
  out.other_dtype = nearest.dtypes != 0;
  const KernelVariables& v = point.numbers;
  double base = out.series->weights[0];
  double largest = base;
  for (size_t i = 0; i < model.basis.size(); ++i) {
    const double part = out.series->weights[i + 1] * ValueOf(model.basis[i], v);
    base += part;
    if (part > largest) {
      largest = part;
      out.largest_part = static_cast<int>(i);
    }
  }
  std::array<float, kMostFeatures> features;
  for (size_t i = 0; i < model.features.size(); ++i) {
    features[i] =
        static_cast<float>(ValueOf(model.features[i], *out.series, v));
  }
  const double centre = SumOf(model.centre, features);
  const double size = std::exp(SumOf(model.spread, features));
  out.octaves_outside = OctavesOutside(model, v);
  const double more = kAnOctave * out.octaves_outside +
                      (out.other_framework ? kFrameworks : 0) +
                      (out.other_dtype ? kDtypes : 0);
  out.us = base * std::exp(centre);
  out.low = out.us * std::exp(std::min(model.low * size, 0.0) - more);
  out.high = out.us * std::exp(std::max(model.high * size, 0.0) + more);
  return out;
}

}  // namespace foretell
