#include "front/run_gpus.h"

#include <string>
#include <vector>

#include "answers/gpus.h"
#include "base/input_error.h"
#include "input/device_catalogue.h"
#include "input/device_row.h"
#include "input/kernel_coefficients.h"
#include "input/timed_device.h"
#include "report/present_gpus.h"

namespace foretell {
namespace {

Device DeviceOf(const Invocation& invocation) {
  // "rtx 4090" may come as two words.
  std::string name;
  for (const std::string& word : invocation.Arguments("CARD")) {
    name += (name.empty() ? "" : " ") + word;
  }
  const auto file = invocation.Text("device");
  if (name.empty() == !file.has_value()) {
    InputError error;
    error.place.source = "command line";
    error.what = file ? "a card and --device are given" : "no card is given";
    error.cure = "write a card such as h100, or --device FILE";
    throw InputErrors(std::move(error));
  }
  if (file) return LoadDeviceFile(*file);
  Place place;
  place.source = "command line";
  return FindDevice(name, place);
}

}  // namespace

CommandRow GpusCommand() {
  return {
      .name = "gpus",
      .summary = "which accelerators are known by name",
      .description =
          "Lists the accelerators whose id, name, maker, architecture, form "
          "or memory holds every given word; all of them where none is given. "
          "Peaks are dense, in TFLOPS.",
      .arguments = {{.name = "WORD",
                     .doc = "A part of an id, a name, a maker, an "
                            "architecture, in any case.",
                     .optional = true,
                     .repeatable = true}},
      .examples = {{"foretell gpus", "The whole catalogue."},
                   {"foretell gpus blackwell gddr7",
                    "Those that both words fit."}},
      .shape = GpusShape,
      .run = RunGpus};
}

CommandRow GpuCommand() {
  return {
      .name = "gpu",
      .summary = "what is known of an accelerator",
      .description =
          "Tells all figures of one accelerator with their sources: memory, "
          "peaks by type, links, power, prices, and which kernels' times were "
          "measured on it, with the error of what is predicted from them.",
      .arguments = {{.name = "CARD",
                     .doc = "Its name as people write it: h100, rtx-4090, "
                            "\"NVIDIA A10\".",
                     .optional = true,
                     .repeatable = true}},
      .options = {{.name = "device",
                   .value = "FILE",
                   .doc = "A card that the catalogue lacks: a JSON object "
                          "with name, memory_gb_nominal, mem_bandwidth_gbs, "
                          "dense_tflops and what else a row of "
                          "data/accelerators.jsonl may have.",
                   .completion = Completion::kPath}},
      .examples = {{"foretell gpu h100", "An H100 SXM."},
                   {"foretell gpu --device ./card.json",
                    "A card of one's own description, checked."}},
      .shape = GpuShape,
      .run = RunGpu};
}

Outcome RunGpus(const Invocation& invocation) {
  GpusRequest request;
  request.words = invocation.Arguments("WORD");
  request.devices = AllDevices();
  request.measured = MeasuredCards();
  return {.document = PresentGpus(AnswerGpus(request))};
}

Outcome RunGpu(const Invocation& invocation) {
  return {.document = PresentGpu(AnswerGpu(WithTimes(DeviceOf(invocation))))};
}

}  // namespace foretell
