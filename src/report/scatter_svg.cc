#include "report/scatter_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "base/figure.h"
#include "report/timeline_svg.h"

namespace foretell {
namespace {

// Pixels. A panel is a square plot with room for its title and its numbers.
constexpr double kPlot = 212;
constexpr double kLeft = 46;
constexpr double kTop = 44;
constexpr double kCellWidth = kLeft + kPlot + 22;
constexpr double kCellHeight = kTop + kPlot + 46;
constexpr double kHead = 88;
constexpr size_t kColumns = 4;

constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#1c2733}"
    ".title{font-size:17px;font-weight:600}"
    ".name{font-weight:600}"
    ".small{font-size:11px;fill:#52606d}"
    ".page{fill:#ffffff}.plot{fill:#f6f8fa}"
    ".grid{stroke:#d5dbe1;stroke-width:1}"
    ".equal{stroke:#52606d;stroke-width:1.2}"
    ".band{fill:#52606d;fill-opacity:.1}"
    ".held,.missed,.plain{fill:none;stroke-width:3.4;stroke-linecap:round;"
    "stroke-opacity:.75}"
    ".held{stroke:#0072b2}.missed{stroke:#d55e00}.plain{stroke:#6b7682}"
    "@media(prefers-color-scheme:dark){"
    "text{fill:#e6ebf0}.small{fill:#a9b4bf}.page{fill:#14191f}"
    ".plot{fill:#1b2229}.grid{stroke:#313a44}.equal{stroke:#a9b4bf}"
    ".band{fill:#a9b4bf}.held{stroke:#56b4e9}.missed{stroke:#e69f00}"
    ".plain{stroke:#a9b4bf}}";

struct Kind {
  std::string_view style;
  std::string_view words;
};

// Covered, not covered, without an interval.
constexpr std::array<Kind, 3> kKinds = {{
    {"held", "the 90 % interval holds the measurement"},
    {"missed", "it does not"},
    {"plain", "no interval was stated"},
}};

size_t KindOf(const ScorePoint& point) {
  if (!point.covered) return 2;
  return *point.covered ? 0 : 1;
}

// "0.01", "10", "1M": a power of ten as an axis shows it.
std::string Power(int exponent) {
  constexpr std::array<std::string_view, 6> kSuffixes = {"",  "k", "M",
                                                         "G", "T", "P"};
  if (exponent < -3) return fmt::format("1e{}", exponent);
  if (exponent < 0) return fmt::format("{:g}", std::pow(10, exponent));
  const auto step = static_cast<size_t>(exponent / 3);
  if (step >= kSuffixes.size()) return fmt::format("1e{}", exponent);
  return fmt::format("{:.0f}{}", std::pow(10, exponent % 3), kSuffixes[step]);
}

class Panel {
 public:
  Panel(const ScorePanel& panel, double x, double y)
      : panel_(panel), left_(x + kLeft), top_(y + kTop) {
    double least = panel.points.front().measured;
    double most = least;
    for (const ScorePoint& point : panel.points) {
      least = std::min({least, point.measured, point.predicted});
      most = std::max({most, point.measured, point.predicted});
    }
    // Both axes alike, so that the diagonal is where both agree.
    low_ = std::log10(least) - kMargin;
    high_ = std::max(std::log10(most) + kMargin, low_ + 4 * kMargin);
  }

  std::string Draw() {
    Text(left_, top_ - 22, "class=\"name\"", panel_.quantity);
    Text(left_, top_ - 7, "class=\"small\"",
         fmt::format("{}: {} points, median {:.2g} % off", panel_.set,
                     panel_.points.size(), panel_.median_error * 100));
    out_ += fmt::format(
        "<rect class=\"plot\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" "
        "height=\"{}\"/>\n",
        left_, top_, kPlot, kPlot);
    Grid();
    Band();
    Points();
    Text(left_ + kPlot / 2, top_ + kPlot + 32,
         "text-anchor=\"middle\" class=\"small\"", "measured");
    return std::move(out_);
  }

 private:
  static constexpr double kMargin = 0.1;  // of a power of ten

  double At(double exponent) const {
    return (exponent - low_) / (high_ - low_) * kPlot;
  }
  double X(double exponent) const { return left_ + At(exponent); }
  double Y(double exponent) const { return top_ + kPlot - At(exponent); }

  void Text(double x, double y, std::string_view how, std::string_view text) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y,
                        how, XmlText(text));
  }

  void Grid() {
    const int first = static_cast<int>(std::ceil(low_));
    const int last = static_cast<int>(std::floor(high_));
    // At most six lines.
    const int step = (last - first) / 6 + 1;
    for (int at = first; at <= last; at += step) {
      out_ += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}v{2}M{3:.1f} "
          "{4:.1f}h{2}\"/>\n",
          X(at), top_, kPlot, left_, Y(at));
      Text(X(at), top_ + kPlot + 15, "text-anchor=\"middle\" class=\"small\"",
           Power(at));
      Text(left_ - 6, Y(at) + 4, "text-anchor=\"end\" class=\"small\"",
           Power(at));
    }
  }

  // Within a factor of two, clipped to the plot.
  void Band() {
    const double two = std::min(std::log10(2), high_ - low_);
    out_ += fmt::format(
        "<path class=\"band\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}L{:.1f} "
        "{:.1f}V{:.1f}L{:.1f} {:.1f}Z\"/>\n",
        X(low_), Y(low_ + two), X(high_ - two), Y(high_), X(high_), X(high_),
        Y(high_ - two), Y(high_ - two), X(low_ + two), Y(low_));
    out_ += fmt::format(
        "<path class=\"equal\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", X(low_),
        Y(low_), X(high_), Y(high_));
  }

  // A point is a line of no length with round ends, which takes a dozen bytes.
  void Points() {
    constexpr double kTenths = 10;
    for (size_t kind = kKinds.size(); kind-- > 0;) {
      std::set<std::pair<int64_t, int64_t>> seen;
      std::string path;
      for (const ScorePoint& point : panel_.points) {
        if (KindOf(point) != kind) continue;
        const double x = X(std::log10(point.measured));
        const double y = Y(std::log10(point.predicted));
        if (!seen.emplace(std::llround(x * kTenths), std::llround(y * kTenths))
                 .second) {
          continue;
        }
        path += fmt::format("M{:.1f} {:.1f}h0", x, y);
      }
      if (path.empty()) continue;
      out_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", kKinds[kind].style,
                          path);
    }
  }

  const ScorePanel& panel_;
  double left_;
  double top_;
  double low_ = 0;  // of both axes, as powers of ten
  double high_ = 0;
  std::string out_;
};

std::string Legend() {
  std::string out;
  double x = kLeft;
  for (const Kind& kind : kKinds) {
    out += fmt::format(
        "<path class=\"{}\" style=\"stroke-width:8\" d=\"M{:.1f} 56h0\"/>\n"
        "<text x=\"{:.1f}\" y=\"60\" class=\"small\">{}</text>\n",
        kind.style, x + 4, x + 14, kind.words);
    constexpr double kLetter = 6.2;
    x += 40 + kLetter * static_cast<double>(kind.words.size());
  }
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"60\" class=\"small\">shaded: within a factor of "
      "two; upwards: predicted</text>\n",
      x);
  return out;
}

}  // namespace

std::string ScatterSvg(std::span<const ScorePanel> panels,
                       std::string_view title) {
  const size_t columns = std::clamp<size_t>(panels.size(), 1, kColumns);
  const size_t rows = (panels.size() + columns - 1) / columns;
  // The legend's line is as wide as three panels.
  const double width =
      kCellWidth * static_cast<double>(std::max<size_t>(columns, 3)) + 20;
  const double height = kHead + kCellHeight * static_cast<double>(rows) + 10;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" role=\"img\">\n<!-- {2} -->\n"
      "<title>{3}</title>\n<style>{4}</style>\n"
      "<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n"
      "<text x=\"{5}\" y=\"30\" class=\"title\">{3}</text>\n",
      width, height, kScatterMark, XmlText(title), kStyle, kLeft);
  out += Legend();
  for (size_t i = 0; i < panels.size(); ++i) {
    const size_t row = i / columns;
    const double x = kCellWidth * static_cast<double>(i % columns);
    const double y = kHead + kCellHeight * static_cast<double>(row) - 10;
    out += Panel(panels[i], x, y).Draw();
  }
  out += "</svg>\n";
  return out;
}

}  // namespace foretell
