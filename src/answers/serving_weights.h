// The weights that one rank of a served model holds.
//
// In: a configuration, the settings that a launch ends with, the card's
// generation. Each tensor's bytes come from the plan of its quantization: the
// configuration's own, or what the stated name means; a name that no plan
// knows leaves an estimate by bits. Out: bytes with an interval; unknown where
// the class has no family.
#ifndef FORETELL_ANSWERS_SERVING_WEIGHTS_H_
#define FORETELL_ANSWERS_SERVING_WEIGHTS_H_

#include <string>
#include <string_view>

#include "base/figure.h"
#include "engines/vllm/served_config.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

// What a stated quantization packs into: "mxfp4", "nvfp4", "nf4", "fp8",
// "int8", "int4"; empty where the words name none. The words may be a flag's
// value, a checkpoint's name, or both.
std::string FormatOfName(std::string_view words);
// The same of a configuration's own quantization.
std::string QuantizationFormat(const ModelConfig& config);

struct WeightsCard {
  int capability = 0;  // 90 for 9.0
  bool is_nvidia = true;
  bool is_amd = false;
};

Bytes ServedWeights(const ModelConfig& config, const vllm::ServedConfig& served,
                    const ServingSettings& settings, const WeightsCard& card);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_WEIGHTS_H_
