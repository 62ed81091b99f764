// How a figure is written for people, with an honest mark of how it is known.
//
//   exact      16,381,470,720 bytes (15.26 GiB)
//   measured   11.5 GiB (measured, 11.4 to 11.6 GiB; nvidia-smi)
//              8,190,735,360 parameters (measured; the hub's record)
//   estimated  ~11.5 GiB (10.9 to 12.1 GiB)         a 90 % interval
//   unknown    unknown (missing: the adapter's rank)
//              at least 3,072 bytes (missing: the adapter's rank)
//
// Exact figures keep all digits; what was measured or estimated has four.
// GiB is 2^30 bytes, GB is never printed. FLOPs scale by thousands.
#ifndef FORETELL_REPORT_FIGURE_TEXT_H_
#define FORETELL_REPORT_FIGURE_TEXT_H_

#include <string>
#include <string_view>

#include "base/figure.h"

namespace foretell {

// The parts of a written figure, so that tables can align digits.
struct FigureText {
  std::string number;  // "16,381,470,720", "~11.5 GiB", "unknown"
  std::string unit;    // "bytes"; empty where `number` has its own
  std::string scaled;  // "15.26 GiB"; empty where it says nothing new
  std::string note;    // "10.9 to 12.1 GiB", "missing: …"; may be empty
};

FigureText WriteFigure(const AnyFigure& figure);

// All on one line, harmless for a terminal. The unit is left out where
// `label` names it: "Parameters  8,190,735,360".
std::string FigureLine(const AnyFigure& figure, std::string_view label = "");

// Whether the label already says the unit, whatever its case.
bool NamesUnit(std::string_view label, std::string_view unit);

// Up to six significant digits: "0.25", "1.5e-07".
std::string RealText(double value);

}  // namespace foretell

#endif  // FORETELL_REPORT_FIGURE_TEXT_H_
