// One row of data/accelerators.jsonl: what it holds, and how a line is read.
//
// The form is made by tools/devices/convert.py, whose KEYS name the members;
// only `id`, `name`, `vendor`, `arch` and `form` must be there.
//
// What the runtime reports as a card's total, in GiB, is `torch_total_gib`
// where a log of it is known. Where only the driver's figure is (nvidia-smi),
// the runtime's is smaller by what the driver keeps and, on cards whose error
// correction lies in the same memory, by that: over the 20 rows with both, the
// quotient is 0.971 (T4) to 1.000, its median 0.987. Where neither is known it
// is 0.91 (T4) to 1.000 of the nominal size read as GiB, its median 0.987
// (39 rows).
#ifndef FORETELL_INPUT_DEVICE_ROW_H_
#define FORETELL_INPUT_DEVICE_ROW_H_

#include <string>

#include "base/figure.h"
#include "spec/device.h"

namespace foretell {

// Throws InputErrors; `source` is shown in places.
Device ParseDeviceRow(const std::string& line, const std::string& source);

// A card as its user describes it: one JSON object of the same members, over
// as many lines as it likes. `name`, `mem_bandwidth_gbs`, `dense_tflops` with
// a rate of bf16 or fp16, and a size (`memory_gb_nominal` or
// `torch_total_gib`) must be there; a member of another name is an error, so
// that no slip is passed over.
Device ParseDeviceFile(const std::string& text, const std::string& source);
Device LoadDeviceFile(const std::string& path);

// A card that no row describes: its memory is what was said.
Device DeviceOfMemory(double gib);

}  // namespace foretell

#endif  // FORETELL_INPUT_DEVICE_ROW_H_
