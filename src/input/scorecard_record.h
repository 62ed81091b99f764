// The figures of accuracy that were measured last, and those that others
// publish, as they were when the program was built (data/scorecard.jsonl,
// data/peer_accuracy.jsonl).
//
// Out: rows in the files' order. A row that cannot be read is a fault of the
// build, found by a test.
#ifndef FORETELL_INPUT_SCORECARD_RECORD_H_
#define FORETELL_INPUT_SCORECARD_RECORD_H_

#include <string>
#include <vector>

#include "spec/scorecard.h"

namespace foretell {

struct ScorecardRecord {
  std::string date;  // the day on which all of them were measured
  std::vector<ScorecardLine> lines;
};

ScorecardRecord LastScorecard();

std::vector<PeerFigure> PeerFigures();

}  // namespace foretell

#endif  // FORETELL_INPUT_SCORECARD_RECORD_H_
