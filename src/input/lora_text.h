// Adapter settings as people write them: "r=16,targets=q_proj+v_proj".
//
// In: the text: key=value, split by commas. Keys: r (the rank), targets (module
// names joined by +, or all-linear), alpha, dropout (0 to 1), adapter (float32,
// or model for the model's own dtype), task (without effect on the step), dora
// and rslora (1 or 0), saved (modules to save, joined by +). Out:
// the settings, or what is wrong, where in the text, and the cure.
#ifndef FORETELL_INPUT_LORA_TEXT_H_
#define FORETELL_INPUT_LORA_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "spec/step_case.h"

namespace foretell {

// Either `settings` or `what` and `cure`.
struct LoraText {
  std::optional<LoraSettings> settings;
  size_t at = 0;  // bytes into the text
  std::string what;
  std::string cure;
};

LoraText ReadLora(std::string_view text);

}  // namespace foretell

#endif  // FORETELL_INPUT_LORA_TEXT_H_
