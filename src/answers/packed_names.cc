#include "answers/packed_names.h"

#include <array>
#include <cmath>

namespace foretell {
namespace {

// The first that fits tells: longer ones stand before what they end with.
constexpr std::array<std::string_view, 38> kCompanions = {
    // bitsandbytes
    ".weight.quant_state.bitsandbytes__nf4",
    ".weight.quant_state.bitsandbytes__fp4", ".weight.nested_absmax",
    ".weight.nested_quant_map", ".weight.absmax", ".weight.quant_map", ".SCB",
    ".weight_format",
    // FP8, compressed-tensors, ModelOpt
    ".weight_scale_inv", ".weight_scale_2", ".weight_scale",
    ".weight_global_scale", ".weight_zero_point", ".weight_shape",
    ".weight_g_idx", ".scale_packed", ".input_global_scale", ".input_scale",
    ".input_zero_point", ".activation_scale", ".output_scale", ".k_scale",
    ".v_scale", ".q_scale", ".k_zero_point", ".v_zero_point",
    // GPTQ, AWQ
    ".qzeros", ".g_idx", ".scales",
    // HQQ, AQLM
    ".meta", ".zero", ".scale", ".codebooks", ".codes_shape",
    // gpt-oss: beside "gate_up_proj_blocks"
    "_scales", ".weight_scale_second", ".pre_quant_scale", ".weight_bias"};

constexpr std::array<std::string_view, 5> kWeights = {
    ".qweight", ".weight_packed", ".W_q", ".codes", "_blocks"};

}  // namespace

std::span<const std::string_view> PackedWeightNames() { return kWeights; }

std::optional<std::string> ModuleOfCompanion(const std::string& name) {
  for (const std::string_view ending : kCompanions) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return std::nullopt;
}

std::optional<double> PackedBits(int64_t elements, int64_t bytes) {
  if (elements <= 0) return std::nullopt;
  const double bits =
      8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
  // Rows are padded to whole words: half a percent, and a word of a small one.
  const double slack = 0.005 * bits + 64.0 / static_cast<double>(elements);
  for (const double known : {1.0, 1.58, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    if (std::abs(bits - known) <= slack) return known;
  }
  return std::nullopt;
}

}  // namespace foretell
