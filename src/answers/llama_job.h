// A model under llama.cpp on a device, as its phases take it.
//
// In: a configuration, the recipe or the size of its file, a device, what the
// build runs on. Out: the job, or what is missing. Pure.
#ifndef FORETELL_ANSWERS_LLAMA_JOB_H_
#define FORETELL_ANSWERS_LLAMA_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/timing/llamacpp_phases.h"
#include "spec/device.h"
#include "spec/model_config.h"

namespace foretell {

struct LlamaRequest {
  const ModelConfig* config = nullptr;
  const Device* device = nullptr;
  std::string recipe;                // "Q4_K_M"; may be empty
  std::optional<double> file_bytes;  // of the file, where it is known
  std::string backend;               // "CUDA", "Vulkan"; may be empty
  int64_t devices = 1;
  std::optional<int64_t> device_layers;  // -ngl
  bool has_flash = true;
  bool is_early = false;
  bool is_tool = false;
};

// The text says what is missing.
std::variant<LlamaJob, std::string> LlamaJobOf(const LlamaRequest& in);

// Bits of a weight of a recipe's file, on average: of published files of
// llama.cpp's recipes, and of mixes that keep a recipe's name ("UD-Q4_K_XL").
std::optional<double> BitsOfRecipe(std::string_view recipe);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_LLAMA_JOB_H_
