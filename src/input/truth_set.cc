#include "input/truth_set.h"

#include <utility>

#include "input/config_finder.h"
#include "input/recording.h"
#include "input/trace.h"

namespace foretell {

TruthSet LoadTruthSet(const std::string& path,
                      const std::optional<std::string>& configs_dir) {
  TruthSet out;
  out.source = path;
  ConfigFinder finder(path, configs_dir);
  for (Recording& recording : LoadRecordings(path)) {
    const FoundConfig& found = finder.Find(recording.config);
    TruthCase one;
    if (found.config) one.config = *found.config;
    one.no_config = found.why;
    if (one.config) ApplyOverrides(recording.edits, one.config->root);
    one.recording = std::move(recording);
    out.cases.push_back(std::move(one));
  }
  return out;
}

TraceCase LoadTraceCase(const std::string& path,
                        const std::optional<std::string>& configs_dir) {
  TraceCase out;
  out.source = path;
  out.trace = LoadTrace(path);
  ConfigFinder finder(path, configs_dir);
  const FoundConfig& found = finder.Find(out.trace.config);
  if (found.config) out.config = *found.config;
  out.no_config = found.why;
  return out;
}

}  // namespace foretell
