// A file of recordings, one JSON object a line, as tools/pytorch writes them.
//
// In: the lines of params.jsonl, or of steps.jsonl and its kin, whose rows
// list no tensors (`has_tensors` is then false). Out: one Recording per line,
// in order; blank lines are passed over. So are keys that a Recording has no
// place for: rows of steps hold more.
//
// `indices` is kept as the row has it: ranges ("0-23 x 0"), or, where the row
// lists tuples because they are no product of ranges, that list in the
// spelling of analysis/parameters.h ("[[0, 1], [2, 0]]").
//
// Throws InputErrors, at most twenty, each with its line.
#ifndef FORETELL_INPUT_RECORDING_H_
#define FORETELL_INPUT_RECORDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/recording.h"

namespace foretell {

// The largest file of recordings that is read, and the most rows: past the
// known ones (7 MB, 800 rows) by far.
inline constexpr int64_t kRecordingFileBytes = int64_t{128} << 20;
inline constexpr size_t kMostRecordings = 100'000;

std::vector<Recording> LoadRecordings(const std::string& path);

// A pure function of the text.
std::vector<Recording> ParseRecordings(const std::string& text,
                                       const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_RECORDING_H_
