// Where measured runs are kept: one SQLite file of the user.
//
// In: the file's path. Out: runs in the order in which they were added.
// `Add` returns once the run is on the disk: a kill or a loss of power after
// that loses nothing, one before it leaves the file as it was. Several
// processes may write at once; a writer waits for the others, at most half a
// minute.
//
// The file is not trusted: one of another program, of a newer Foretell, with
// views or triggers, or with fields of absurd size is refused with InputErrors
// that name it. A file that is absent holds no runs, and only `Add` makes it.
#ifndef FORETELL_INPUT_SOURCE_RUNS_H_
#define FORETELL_INPUT_SOURCE_RUNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/measured_run.h"

namespace foretell {

// FORETELL_RUNS, else foretell/runs.sqlite in XDG_DATA_HOME or
// ~/.local/share. Nothing where none of these is set.
std::optional<std::string> UsualRunStore();

class RunStore {
 public:
  explicit RunStore(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // Keeps the run, stamped with the time now; returns its number.
  int64_t Add(const MeasuredRun& run) const;
  // The newest kMostRunsRead; of one command and one card where named.
  std::vector<MeasuredRun> Runs(const std::string& command = {},
                                const std::string& card = {}) const;
  // Whether there was one.
  bool Remove(int64_t id) const;

 private:
  std::string path_;
};

// A prediction looks at no more.
inline constexpr int kMostRunsRead = 10'000;

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_RUNS_H_
