// How fast llama.cpp reads a prompt and generates, on a GPU, on an Apple chip,
// on the processor, or with some layers left to it.
//
// In: a model's shape, bits of a stored weight, the device, the backend, what
// is asked (llama-bench's pp and tg, with a depth and as several sequences).
// Out: tokens a second.
//
// Generation reads every active weight once a step at a share of the stated
// bandwidth, which depends on the backend and on how wide weights are, and
// pays a fixed time a layer. A prompt goes in micro-batches of 512 tokens,
// each of which reads all weights that it meets. Cards that share a model take
// layers in turn: generation gains nothing, a prompt of several micro-batches
// some. What does not fit the device, or is kept from it by -ngl, is read by
// the processor from its own memory.
// Constants: llamacpp_constants.cc, written by tools/fit/llamacpp_speed.py.
#ifndef FORETELL_ANALYSIS_TIMING_LLAMACPP_PHASES_H_
#define FORETELL_ANALYSIS_TIMING_LLAMACPP_PHASES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/timing/served_shape.h"
#include "analysis/timing/serving_phases.h"

namespace foretell {

enum class LlamaBackend : uint8_t { kCuda, kRocm, kVulkan, kMetal, kCpu };
inline constexpr int kLlamaBackends = 5;

// Of weights: 16 bits, about eight, four to six, fewer.
inline constexpr int kLlamaWidths = 4;

struct LlamaShared {
  double host = 0;  // bytes/s that a processor reads
  double recurrent_prompt = 1;
  double cache_bandwidth = 1;
  double prompt_half = 0;  // tokens at which a product is half as fast
  double attention_prompt = 1;
  double expert_prompt = 1;
  double expert_bandwidth = 1;
  double distinct = 1;
  double several = 0;      // gain of a prompt for each further card
  double tool_prompt = 1;  // of servers and tools, to llama-bench
  double tool_generation = 1;
  double expert_layer = 0;
  double without_flash = 1;  // attention of a prompt, where it is not on
  double recurrent_layer = 0;
  double early_prompt = 1;  // of builds before b4000
};

struct LlamaBackendConstants {
  double bandwidth[kLlamaWidths] = {};
  double prompt[kLlamaWidths] = {};
  double layer = 0;
  double step = 0;
  double prompt_all = 1;
};

struct LlamaDeviceConstants {
  std::string_view name = {};
  double bandwidth = 1;
  double prompt = 1;
};

const LlamaShared& LlamaSharedConstants();
const LlamaBackendConstants& LlamaBackendOf(LlamaBackend backend);
// Null where there is none of that name.
const LlamaDeviceConstants* LlamaDevicesOf(std::string_view name);

struct LlamaJob {
  ServedShape shape;
  double bytes = 0.6;  // of a stored weight, on average
  LlamaBackend backend = LlamaBackend::kCuda;
  LlamaDeviceConstants device;
  double bandwidth = 0;  // bytes/s, stated
  double peak = 0;       // FLOP/s that its products can use
  double memory = 0;     // bytes of one device; 0: the host's own
  double devices = 1;
  // Layers on the device; nothing: as many as fit.
  std::optional<double> device_layers;
  bool has_flash = true;
  bool is_early = false;  // a build before b4000
  bool is_tool = false;   // timed by a server or a tool, not by llama-bench
};

struct LlamaLoad {
  double tokens = 512;
  double depth = 0;      // tokens that the cache holds already
  double sequences = 1;  // at once
};

// Half widths of the 90 % intervals, as logarithms.
inline constexpr double kLlamaGenerationSpread = 0.55;
inline constexpr double kLlamaPromptSpread = 1.05;

// Tokens a second.
double LlamaGeneration(const LlamaJob& job, const LlamaLoad& load);
double LlamaPrompt(const LlamaJob& job, const LlamaLoad& load);

// The same in seconds: one step of generation of all sequences, and all their
// prompts.
PhaseTime LlamaStepTime(const LlamaJob& job, const LlamaLoad& load);
PhaseTime LlamaPromptTime(const LlamaJob& job, const LlamaLoad& load);

// Of a device's memory, what models can take, before what is reserved.
inline constexpr double kLlamaUsable = 0.94;

// Bytes of all devices that weights and caches can take; the rest is the
// driver's and the compute buffers'. Not of a job in the host's memory.
double LlamaRoom(const LlamaJob& job);

// The part of the weights that the processor reads, from 0 to 1.
double LlamaOnHost(const LlamaJob& job);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_LLAMACPP_PHASES_H_
