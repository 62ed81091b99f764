// The catalogue of accelerators that is part of the program, by name.
//
// In: a name as people write it: "h100", "H100-80GB", "RTX 4090", "NVIDIA A10",
// "a100-40gb". Case, blanks, hyphens and the makers' words (NVIDIA, GeForce,
// Tesla, AMD, Instinct, …) do not matter; a size behind the name ("80GB") must
// be the card's own, and picks among its kinds. Out: the card.
//
// A name that ends with ".json" is the path of a description (device_row.h),
// which FindDevice alone reads.
//
// Throws InputErrors where no card has the name, with the nearest names, and
// where it fits cards that differ in memory, naming them.
#ifndef FORETELL_INPUT_DEVICE_CATALOGUE_H_
#define FORETELL_INPUT_DEVICE_CATALOGUE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"
#include "spec/device.h"

namespace foretell {

// `place` is where the name was written.
Device FindDevice(std::string_view name, const Place& place = {});

// The same, where a name that no card has is no error; nothing for one that
// fits several.
std::optional<Device> DeviceNamed(std::string_view name);

// All of them, sorted by id.
std::vector<Device> AllDevices();

// Ids, for completion and near names.
std::vector<std::string> DeviceIds();

}  // namespace foretell

#endif  // FORETELL_INPUT_DEVICE_CATALOGUE_H_
