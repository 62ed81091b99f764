// `foretell gpus` and `foretell gpu`: the cards that the catalogue knows, and
// one of them with all its figures.
//
// In: cards, words that each listed one's id, name, aliases, maker or
// architecture must hold, and which were measured. Out: those that match, in
// the order given.
#ifndef FORETELL_ANSWERS_GPUS_H_
#define FORETELL_ANSWERS_GPUS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/device.h"
#include "spec/timed_device.h"

namespace foretell {

struct GpusRequest {
  std::vector<std::string> words;
  std::vector<Device> devices;
  std::vector<std::string> measured;  // ids of those with kernel times
};

struct GpusRow {
  Device device;
  bool is_measured = false;
};

struct GpusAnswer {
  std::vector<GpusRow> rows;
  int64_t measured = 0;
};

GpusAnswer AnswerGpus(const GpusRequest& request);

// One kind of kernel whose times are known.
struct MeasuredKind {
  std::string kind;
  int64_t points = 0;
  double median_error = 0;  // of shapes that the fit did not see
  double p90_error = 0;
};

struct GpuAnswer {
  Device device;
  std::string kernels_source;  // empty: not measured
  std::string kernels_date;
  std::vector<MeasuredKind> kinds;
};

GpuAnswer AnswerGpu(const TimedDevice& timed);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_GPUS_H_
