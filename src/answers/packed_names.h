// Which tensors of a checkpoint belong to a weight that is stored packed.
//
// In: the names behind a module's ("qweight", "weight.absmax"), or a whole
// name. Out: whether it holds the weight, or goes with it. Told by the names
// that the libraries of analysis/quantization/packed_linear.h write; what the
// configuration says of its quantization is not needed, so that a file can be
// compared whose configuration is silent.
#ifndef FORETELL_ANSWERS_PACKED_NAMES_H_
#define FORETELL_ANSWERS_PACKED_NAMES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace foretell {

// What holds the elements of a module's `weight` in its place, in the order in
// which they are looked for: "qweight", "weight_packed", "W_q", "codes".
std::span<const std::string_view> PackedWeightNames();

// The module of a tensor that goes with a packed weight: of
// "a.q_proj.weight.absmax" and "a.q_proj.scales" it is "a.q_proj"; nothing for
// any other name.
std::optional<std::string> ModuleOfCompanion(const std::string& name);

// Bits that each of `elements` takes where `bytes` hold them packed: a number
// that formats have (2, 3, 4, 8, and AQLM's), padding left aside; nothing
// where the bytes are not theirs.
std::optional<double> PackedBits(int64_t elements, int64_t bytes);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_PACKED_NAMES_H_
