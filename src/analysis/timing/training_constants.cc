#include "analysis/timing/training_constants.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, kTrainingConstants> kNames = {
    "volta",
    "turing",
    "ampere",
    "small_ampere",
    "ada",
    "hopper",
    "blackwell",
    "cdna",
    "tpu",
    "neuron",
    "other",
    "eager",
    "compiled",
    "fused",
    "xla",
    "megatron",
    "fp32",
    "tf32",
    "fp8_hopper",
    "fp8_blackwell",
    "fp8_other",
    "fp8_scaled",
    "fp4",
    "quantize",
    "half_width",
    "half_tokens",
    "attention",
    "attention_half",
    "attention_newer",
    "scores",
    "attention_older",
    "experts",
    "expert_width",
    "passes",
    "fused_passes",
    "routed",
    "layer_launch",
    "expert_launch",
    "fused_launch",
    "step",
    "link",
    "network",
    "tensor_shown",
    "expert_shown",
    "data_shown",
    "context_shown",
    "bubble",
    "scale",
    "unstated",
    "unstated_megatron",
    "drift",
    "expert_drift",
    "rack",
    "rack_launch",
    "launch_drift",
    "recurrent",
    "offload",
    "limited",
    "dequantize",
};

}  // namespace

std::string_view NameOf(TrainingConstant which) {
  return kNames[static_cast<size_t>(which)];
}

const TrainingConstants& FittedTraining() {
  static constexpr TrainingConstants kFitted = {{
      // fitted: begin
      0.86378,     // volta
      0.67871,     // turing
      0.78936,     // ampere
      1.2024,      // small_ampere
      0.7778,      // ada
      0.65561,     // hopper
      0.49101,     // blackwell
      0.45737,     // cdna
      0.64679,     // tpu
      0.4,         // neuron
      0.5,         // other
      0.99947,     // eager
      0.93665,     // compiled
      1.2712,      // fused
      1.0873,      // xla
      1.0538,      // megatron
      1.2186,      // fp32
      0.57923,     // tf32
      0.74605,     // fp8_hopper
      0.84573,     // fp8_blackwell
      0.71746,     // fp8_other
      0.93068,     // fp8_scaled
      0.49989,     // fp4
      8.1812,      // quantize
      354.71,      // half_width
      589.21,      // half_tokens
      0.51943,     // attention
      447.51,      // attention_half
      1.8817,      // attention_newer
      19.842,      // scores
      0.56155,     // attention_older
      0.41181,     // experts
      326.75,      // expert_width
      51.869,      // passes
      0.64942,     // fused_passes
      14.715,      // routed
      0.00081987,  // layer_launch
      0.0052338,   // expert_launch
      0.78716,     // fused_launch
      0.0037444,   // step
      0.73698,     // link
      0.78497,     // network
      0.5803,      // tensor_shown
      0.26318,     // expert_shown
      0.2632,      // data_shown
      0.19898,     // context_shown
      0.92359,     // bubble
      0.99878,     // scale
      0.15646,     // unstated
      0.11977,     // unstated_megatron
      1.0244,      // drift
      1.1335,      // expert_drift
      1.1358,      // rack
      0.59924,     // rack_launch
      1.4731,      // launch_drift
      0.37491,     // recurrent
      2.1226e-09,  // offload
      0.74083,     // limited
      4.0096,      // dequantize
                   // fitted: end
  }};
  return kFitted;
}

const TrainingSpread& FittedTrainingSpread() {
  static constexpr TrainingSpread kSpread = {
      // spread: begin
      .stated = 0.542,
      .unstated = 0.430,
      .experts = 0.508,
      // spread: end
  };
  return kSpread;
}

}  // namespace foretell
