// `foretell verify`: whether what is derived equals what PyTorch recorded.
//
// The rules of comparison are those of the recordings' own description: a row
// may be left out only for what it lacks, never for being wrong, and every
// reason is counted.
#ifndef FORETELL_ANSWERS_VERIFY_H_
#define FORETELL_ANSWERS_VERIFY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/recording.h"
#include "spec/trace.h"

namespace foretell {

// How many rows had a figure, and how near the derived one came.
struct FieldTally {
  int64_t n = 0;
  int64_t equal = 0;
  int64_t within_0_5pct = 0;
  int64_t within_1pct = 0;
};

struct ClassTally {
  int64_t n = 0;      // rows compared
  int64_t equal = 0;  // rows equal in every field
};

struct VerifyDifference {
  int64_t line = 0;  // of the recording's file
  std::string config;
  std::string class_name;
  std::string field;
  std::string what;  // the first difference, both sides
};

struct VerifyAnswer {
  std::string source;
  int64_t rows = 0;
  int64_t compared = 0;
  int64_t refused = 0;      // of the compared: refused, so equal in nothing
  int64_t unsupported = 0;  // classes without a family
  int64_t error_rows = 0;   // PyTorch gave an error
  int64_t error_rows_refused = 0;  // of these: refused or blocked here too
  int64_t claimed_exact = 0;
  int64_t wrong_claims = 0;
  std::map<std::string, int64_t> left_out;  // by reason
  std::map<std::string, FieldTally> fields;
  std::map<std::string, ClassTally> by_class;
  std::map<std::string, int64_t> unsupported_classes;
  std::vector<VerifyDifference> differences;  // at most kMostDifferences

  bool AllEqual() const;
};

inline constexpr size_t kMostDifferences = 50;

VerifyAnswer AnswerVerify(const TruthSet& truth);

// One recorded trace, operator by operator: the figure "operators".
VerifyAnswer AnswerVerify(const TraceCase& truth);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_VERIFY_H_
