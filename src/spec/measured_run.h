// A run that the user measured: the command line of Foretell that predicts it,
// what was measured, and what is needed to tell whether another case is alike.
//
// Units are the ends of the figures' names (answers/calibration.h lists them);
// values are finite and above zero.
#ifndef FORETELL_SPEC_MEASURED_RUN_H_
#define FORETELL_SPEC_MEASURED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace foretell {

// What a case is, as far as runs are compared by it.
struct RunFacts {
  std::string command;    // "speed", "train"
  std::string model;      // as the configuration calls itself
  std::string card;       // the catalogue's name of the card
  std::string manner;     // engine, or method of training
  double parameters = 0;  // of the model; 0 where they are not known
  int64_t cards = 1;      // all of them
  friend bool operator==(const RunFacts&, const RunFacts&) = default;
};

struct RunFigure {
  std::string name;  // "tpot_ms": its unit is the name's end
  double value = 0;  // measured, above zero
};

struct MeasuredRun {
  int64_t id = 0;                // 0 before it is kept
  std::string added;             // UTC, "2026-12-01T02:04:00Z"
  std::vector<std::string> job;  // words after the program's name
  RunFacts facts;
  std::vector<RunFigure> figures;
  std::string note;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_MEASURED_RUN_H_
