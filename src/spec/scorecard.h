// Figures of accuracy as plain rows: of comparisons with truth, and what others
// publish of their own tools.
//
// Keys of figures are those of a scored group ("median", "p90", "share_equal").
#ifndef FORETELL_SPEC_SCORECARD_H_
#define FORETELL_SPEC_SCORECARD_H_

#include <cstdint>
#include <map>
#include <string>

namespace foretell {

struct ScorecardLine {
  std::string kind;  // "formula" or "device"
  std::string set;   // "vllm_memory"
  std::string group;
  int64_t rows = 0;  // of the file
  int64_t scored = 0;
  std::map<std::string, double> figures;
};

struct PeerFigure {
  std::string quantity;
  std::string figure;  // as it is published: "median 16.5 %"
  std::string by;
  std::string cases;
  std::string evidence;
  std::string source;  // where and when it was read
};

}  // namespace foretell

#endif  // FORETELL_SPEC_SCORECARD_H_
