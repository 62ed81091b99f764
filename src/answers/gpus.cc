#include "answers/gpus.h"

#include <algorithm>
#include <string_view>

#include "base/lower_case.h"

namespace foretell {
namespace {

// All that a word may be a part of.
std::string WordsOf(const Device& device) {
  std::string out = device.id + "\n" + device.name + "\n" + device.vendor +
                    "\n" + device.arch + "\n" + device.form + "\n" +
                    device.memory_type;
  for (const std::string& alias : device.aliases) out += "\n" + alias;
  return Lower(out);
}

}  // namespace

GpusAnswer AnswerGpus(const GpusRequest& request) {
  GpusAnswer out;
  for (const Device& device : request.devices) {
    const std::string text = WordsOf(device);
    const bool fits =
        std::ranges::all_of(request.words, [&text](const std::string& word) {
          return text.find(Lower(word)) != std::string::npos;
        });
    if (!fits) continue;
    const bool measured = std::ranges::find(request.measured, device.id) !=
                          request.measured.end();
    out.rows.push_back({.device = device, .is_measured = measured});
    out.measured += measured ? 1 : 0;
  }
  return out;
}

GpuAnswer AnswerGpu(const TimedDevice& timed) {
  GpuAnswer out;
  out.device = timed.device;
  if (timed.own == nullptr) return out;
  out.kernels_source = timed.own->source;
  out.kernels_date = timed.own->date;
  for (const auto& [kind, model] : timed.own->models) {
    out.kinds.push_back({.kind = kind,
                         .points = model.points,
                         .median_error = model.median_error,
                         .p90_error = model.p90_error});
  }
  return out;
}

}  // namespace foretell
