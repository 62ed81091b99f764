// A GPU's memory as vLLM accounts for it at start, line by line.
//
// In: the card, the settings of a launch, the bytes of its weights and the
// sizes that a profile run meets. Out: requested = weights + activation peak +
// non-torch (+ the estimate of CUDA graphs, from 0.21) + KV cache, each with
// its interval. The constants were fitted to starts whose lines were
// published; each names its releases.
// Does not model: unified memory whose page cache counts, sleep mode.
#ifndef FORETELL_ENGINES_VLLM_MEMORY_ACCOUNT_H_
#define FORETELL_ENGINES_VLLM_MEMORY_ACCOUNT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/figure.h"
#include "spec/serving.h"

namespace foretell::vllm {

// Of the text part, before any splitting.
struct ProfileSizes {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of a dense layer; 0 where all have experts
  int64_t layers = 0;
  int64_t expert_intermediate = 0;
  int64_t expert_hidden = 0;  // what experts read
  int64_t experts_per_token = 0;
  bool has_towers = false;
  // Of a tower: its own tokens for each that the text model reads, and sizes.
  double patches_per_token = 0;
  int64_t tower_hidden = 0;
  int64_t tower_intermediate = 0;
  bool is_latent = false;
  int64_t latent_heads = 0;  // query heads of latent attention
  int64_t latent_width = 0;  // of a head's key without position, and value
  bool are_experts_fused = false;  // one kernel of MXFP4 runs them
};

struct MemoryInput {
  Bytes total;    // as the runtime reports it
  Bytes weights;  // of one rank
  ProfileSizes sizes;
  bool is_packed = false;  // weights in a quantized format
  bool is_v1 = true;       // the engine's generation
  bool is_nvidia = true;
  bool has_fast_links = true;  // data-centre cards of NVIDIA, 8.0 to 10.x
  bool is_unified = false;     // the processor's memory
};

struct MemoryAccount {
  Bytes requested;  // total x gpu_memory_utilization
  Bytes weights;
  Bytes activation;  // peak of the profile run
  Bytes non_torch;
  Bytes graphs;          // what capturing takes; beside the budget before 0.21
  Bytes graph_estimate;  // what the budget sets aside for them
  Bytes cache;           // what is left
  // By how much more than its interval a sure refusal must miss: packed
  // weights may be other than their format's name says.
  double doubt = 0;
  std::vector<std::string> assumptions;
};

MemoryAccount AccountMemory(const MemoryInput& in,
                            const ServingSettings& settings);

// Whether the cache gets anything: surely not, surely, or too near to tell.
enum class FitVerdict : uint8_t { kFits, kDoesNotFit, kCannotTell };
FitVerdict FitOf(const MemoryAccount& account, int64_t needed_bytes);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_MEMORY_ACCOUNT_H_
