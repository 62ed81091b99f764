#include "report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/figure.h"
#include "report/figure_text.h"
#include "report/present_step.h"
#include "report/safe_text.h"
#include "report/timeline.h"

namespace foretell {
namespace {

// The page, in pixels; the plot lies within these margins.
constexpr double kWidth = 960;
constexpr double kHeight = 540;
constexpr double kLeft = 84;
constexpr double kRight = 24;
constexpr double kTop = 92;
constexpr double kBottom = 112;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;

struct Layer {
  MemoryKind kind;
  // Of Okabe and Ito's set and shades of it, told apart with any eyes.
  std::string_view colour;
};

// From the ground up: what stays the longest lies lowest.
constexpr std::array<Layer, kMemoryKinds> kLayers = {{
    {MemoryKind::kParameters, "#4477aa"},
    {MemoryKind::kBuffers, "#77aadd"},
    {MemoryKind::kInputs, "#99bbcc"},
    {MemoryKind::kStates, "#228833"},
    {MemoryKind::kGradients, "#88bb44"},
    {MemoryKind::kCache, "#66ccbb"},
    {MemoryKind::kKept, "#ddaa33"},
    {MemoryKind::kRecomputed, "#bb8866"},
    {MemoryKind::kReturned, "#aa4499"},
    {MemoryKind::kTemporary, "#cc5555"},
}};

constexpr std::string_view kStyle =
    "text{font:13px system-ui,sans-serif;fill:#1c2733}"
    ".title{font-size:17px;font-weight:600}"
    ".small{font-size:12px;fill:#52606d}"
    ".page{fill:#ffffff}"
    ".grid{stroke:#d5dbe1;stroke-width:1}"
    ".phase{stroke:#52606d;stroke-width:1;stroke-dasharray:4 4}"
    ".peak{fill:none;stroke:#1c2733;stroke-width:1.5}"
    ".halo{stroke:#ffffff;stroke-width:4;stroke-linejoin:round;"
    "paint-order:stroke}"
    "@media(prefers-color-scheme:dark){"
    "text{fill:#e6ebf0}.small{fill:#a9b4bf}.page{fill:#14191f}"
    ".grid{stroke:#313a44}.phase{stroke:#a9b4bf}.peak{stroke:#e6ebf0}"
    ".halo{stroke:#14191f}}";

// At most this many characters of a name that somebody else chose.
std::string Shortened(const std::string& text, size_t width) {
  std::string harmless = Harmless(text);
  if (DisplayWidth(harmless) <= width) return harmless;
  return Wrap(harmless, width - 1).front() + "…";
}

std::string Size(double bytes) {
  return WriteFigure(
             AnyFigure::Estimated(Unit::kBytes, bytes, bytes, bytes, ""))
      .number.substr(1);
}

// The peak with all digits that its own unit has room for.
std::string PeakSize(int64_t bytes) {
  const FigureText text = WriteFigure(AnyFigure::Exact(Unit::kBytes, bytes));
  return text.scaled.empty() ? text.number + " bytes" : text.scaled;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline), points_(timeline.points) {
    for (const MemoryPoint& point : points_) {
      highest_ = std::max(highest_, SumOf(point.bytes));
    }
    ChooseScale();
  }

  std::string Draw() {
    Open();
    Grid();
    Areas();
    Parts();
    Peak();
    Legend();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  // The first step of 1, 2 or 5 of a power of two thousand-like units that
  // gives at most six lines.
  void ChooseScale() {
    constexpr double kMostLines = 6;
    double unit = 1;
    while (static_cast<double>(highest_) / unit >= 1024 && unit < 1e9) {
      unit *= 1024;
    }
    double step = unit;
    const double wanted = static_cast<double>(highest_) / kMostLines;
    constexpr std::array<double, 3> kSteps = {1, 2, 5};
    double ten = unit / 1000;
    bool found = false;
    while (!found) {
      for (const double one : kSteps) {
        if (one * ten < wanted) continue;
        step = one * ten;
        found = true;
        break;
      }
      ten *= 10;
    }
    step_ = step;
    // Room for what stands at the peak.
    top_ = std::max(static_cast<double>(highest_) * 1.08, step);
  }

  double X(uint32_t operation) const {
    const double all = std::max(1.0, static_cast<double>(timeline_.operations));
    return kLeft + kPlotWidth * static_cast<double>(operation) / all;
  }
  double Y(int64_t bytes) const {
    return kTop + kPlotHeight * (1 - static_cast<double>(bytes) / top_);
  }

  void Text(double x, double y, std::string_view attributes,
            const std::string& text) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y,
                        attributes, XmlText(text));
  }

  void Line(double x1, double y1, double x2, double y2,
            std::string_view style) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "class=\"{}\"/>\n",
        x1, y1, x2, y2, style);
  }

  void Open() {
    const std::string name = Shortened(timeline_.name, 60);
    const std::string verdict = fmt::format("{}: {}{} at the peak", name,
                                            timeline_.is_exact ? "" : "about ",
                                            PeakSize(timeline_.peak));
    out_ += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
        "width=\"{0}\" height=\"{1}\" role=\"img\">\n"
        "<!-- {2} -->\n<title>{3}</title>\n<desc>{4}</desc>\n"
        "<style>{5}</style>\n"
        "<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n",
        kWidth, kHeight, timeline_.mark, XmlText(verdict),
        XmlText(DescribeMoment(timeline_.peak_at, timeline_.operations)),
        kStyle);
    Text(kLeft, 30, "class=\"title\"", verdict);
    Text(kLeft, 51, "class=\"small\"",
         Shortened(timeline_.class_name + ", " + timeline_.setting, 130));
  }

  void Grid() {
    const int lines = static_cast<int>(top_ / step_);
    for (int line = 0; line <= lines; ++line) {
      const double at = step_ * line;
      const double y = kTop + kPlotHeight * (1 - at / top_);
      Line(kLeft, y, kLeft + kPlotWidth, y, "grid");
      Text(kLeft - 8, y + 4, "text-anchor=\"end\" class=\"small\"",
           at == 0 ? "0" : Size(at));
    }
    Text(kLeft + kPlotWidth, kTop + kPlotHeight + 20,
         "text-anchor=\"end\" class=\"small\"",
         WithSeparators(timeline_.operations) + " operations");
    Text(kLeft, kTop + kPlotHeight + 20, "class=\"small\"", "0");
  }

  // A layer between what lies under it and itself, points that change nothing
  // left out.
  void Areas() {
    std::vector<int64_t> under(points_.size());
    for (const Layer& layer : kLayers) {
      std::vector<int64_t> over = under;
      const auto kind = static_cast<size_t>(layer.kind);
      bool is_seen = false;
      for (size_t i = 0; i < points_.size(); ++i) {
        over[i] += points_[i].bytes[kind];
        is_seen = is_seen || points_[i].bytes[kind] > 0;
      }
      if (is_seen) Area(layer, under, over);
      under = std::move(over);
    }
  }

  void Area(const Layer& layer, const std::vector<int64_t>& under,
            const std::vector<int64_t>& over) {
    shown_.push_back(layer);
    std::string path = "M" + Outline(over, false) + "L" + Outline(under, true);
    out_ +=
        fmt::format("<path d=\"{}Z\" fill=\"{}\"><title>{}</title></path>\n",
                    path, layer.colour, NameOf(layer.kind));
  }

  std::string Outline(const std::vector<int64_t>& heights,
                      bool backward) const {
    std::string out;
    const size_t count = heights.size();
    const auto y = [&](size_t i) {
      return fmt::format("{:.1f}", Y(heights[i]));
    };
    const auto add = [&](double x, const std::string& text) {
      out += fmt::format("{}{:.1f} {}", out.empty() ? "" : " ", x, text);
    };
    // The first point holds from the start of the axis on.
    if (!backward) add(kLeft, y(0));
    for (size_t n = 0; n < count; ++n) {
      const size_t i = backward ? count - 1 - n : n;
      const bool is_flat =
          i > 0 && i + 1 < count && y(i) == y(i - 1) && y(i) == y(i + 1);
      if (!is_flat) add(X(points_[i].operation), y(i));
    }
    if (backward) add(kLeft, y(0));
    return out;
  }

  // Each part's name stands at its start, in a second line where the one
  // before reaches as far.
  void Parts() {
    constexpr double kLetter = 6.5;
    double taken = 0;
    bool is_low = false;
    for (const TimelinePart& part : timeline_.parts) {
      const double x = X(part.first);
      if (part.first > 0) Line(x, kTop - 16, x, kTop + kPlotHeight, "phase");
      const double width = kLetter * static_cast<double>(part.name.size()) + 8;
      const bool fits = x + width < kWidth - kRight;
      is_low = !is_low && x < taken;
      taken = x + width;
      Text(fits ? x + 4 : x - 4, is_low ? kTop + 8 : kTop - 6,
           fits ? "class=\"small\"" : "text-anchor=\"end\" class=\"small\"",
           part.name);
    }
  }

  void Peak() {
    const auto at = std::ranges::max_element(
        points_, {}, [](const MemoryPoint& one) { return SumOf(one.bytes); });
    const double x = X(at->operation);
    const double y = Y(SumOf(at->bytes));
    out_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"peak\"/>\n", x, y);
    const bool to_left = x > kLeft + kPlotWidth / 2;
    const StepMoment& moment = timeline_.peak_at;
    std::string text = "peak " + PeakSize(timeline_.peak);
    if (!moment.operation.empty()) text += ": " + moment.operation;
    if (!moment.module.empty()) text += ", " + moment.module;
    Text(to_left ? x - 10 : x + 10, y - 4,
         to_left ? "text-anchor=\"end\" class=\"halo\"" : "class=\"halo\"",
         Shortened(text, 90));
  }

  void Legend() {
    constexpr double kColumn = 213;
    constexpr size_t kColumns = 4;
    for (size_t i = 0; i < shown_.size(); ++i) {
      const double x = kLeft + kColumn * static_cast<double>(i % kColumns);
      const size_t row = i / kColumns;
      const double y = kHeight - 70 + 22 * static_cast<double>(row);
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" "
          "fill=\"{}\"/>\n",
          x, y, shown_[i].colour);
      Text(x + 18, y + 10.5, "", std::string(NameOf(shown_[i].kind)));
    }
  }

  const Timeline& timeline_;
  const std::vector<MemoryPoint>& points_;
  int64_t highest_ = 0;
  double step_ = 1;  // between two lines of the grid, in bytes
  double top_ = 1;   // of the axis
  std::vector<Layer> shown_;
  std::string out_;
};

}  // namespace

std::string XmlText(std::string_view text) {
  std::string out;
  for (const char c : Harmless(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string TimelineSvg(const Timeline& timeline) {
  return Picture(timeline).Draw();
}

}  // namespace foretell
