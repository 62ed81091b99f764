// What the steps of ResolveVllm share: the flags with their defaults, the
// model's view, and what was worked out so far.
//
// Each step is one file, named as the configuration class that it follows.
#ifndef FORETELL_ENGINES_VLLM_LAUNCH_STATE_H_
#define FORETELL_ENGINES_VLLM_LAUNCH_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/vllm/hf_config.h"
#include "engines/vllm/launch.h"

namespace foretell::vllm {

struct State {
  const VllmRequest* in = nullptr;
  VllmLaunch* out = nullptr;

  HfConfig config;  // the whole
  HfConfig text;    // the part that generates
  std::vector<std::string> architectures;
  const EngineArchitecture* arch = nullptr;  // the class that serves it
  std::string arch_name;
  std::string runner = "generate";
  std::string convert = "none";
  std::string seq_pooling;  // of a pooling runner
  std::string tok_pooling;

  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t experts = 0;
  bool prefix_lm = false;  // sees its pictures both ways
  std::optional<int64_t> sliding_window;
  std::optional<int64_t> user_max_len;
  std::optional<ConfigValue> quantization_config;
  std::string quantization_class;
  bool blocked_weights = false;
  std::string attn_type = "decoder";
  int64_t world = 1;
  std::string executor;
  std::optional<int64_t> user_block_size;
  int64_t block_size = 16;
  std::optional<int64_t> mamba_page_size_padded;
  std::optional<int64_t> cache_sliding_window;
  int64_t data_parallel_local = 1;
  std::string tokenizer_mode;
  std::string all2all = "allgather_reducescatter";
  std::string distributed_backend;
  bool disable_chunked_mm = false;
  int64_t long_prefill = 0;
  std::optional<int64_t> flash_attn_version;
  std::vector<std::string> custom_ops;
  std::optional<int64_t> graph_limit;  // max_cudagraph_capture_size as set
  bool graph_sizes_given = false;
  bool breakable_graphs = false;

  const EngineFacts& facts() const { return *in->facts; }
  ServingSettings& settings() const { return out->settings; }
  bool Since(int major, int minor, int patch = 0) const {
    return in->facts->version >= EngineVersion{major, minor, patch};
  }

  // The flag's value, else its default in this version; null where the version
  // has no such flag or its default is None.
  const ConfigValue* Flag(std::string_view name) const;
  std::optional<int64_t> Number(std::string_view name) const;
  std::string Text(std::string_view name) const;
  bool Truth(std::string_view name) const;
  std::optional<bool> Choice(std::string_view name) const;  // unset: nothing
  bool Given(std::string_view name) const;
  bool Environment(std::string_view name) const;  // set, and not 0 or empty

  void Refuse(std::string kind, std::string flag, std::string what,
              std::string why, std::string fix = "") const;
  void RefuseAtStart(std::string kind, std::string flag, std::string what,
                     std::string why, std::string fix = "") const;
  void Warn(std::string kind, std::string flag, std::string what,
            std::string why, std::string fix = "") const;
};

// In the engine's order. False: nothing further can be said.
bool ValidateArguments(State& state);  // before any configuration
bool LoadModel(State& state);          // the library's configuration class
bool InspectClass(State& state);       // architecture, runner, conversion
void ReadArchitecture(State& state);   // heads, experts, layers
void ResolveDtype(State& state);
void ResolveLength(State& state);
void ResolveQuantization(State& state);  // the method
void ResolveCaching(State& state);       // chunked prefill, prefix caching
void ResolveCache(State& state);
void ResolveParallel(State& state);
void ResolveSpeculative(State& state);
void ResolveScheduler(State& state);
void ResolveLora(State& state);
void ResolveAttention(State& state);
void ResolveHooks(State& state);        // a class's own changes
void VerifyParallel(State& state);      // against the model
void VerifyQuantization(State& state);  // card, dtype, files
void ResolveCompilation(State& state);
void MeetStart(State& state);  // what a start refuses after validation
void PrintSections(const State& state);

// The first engine (launch_v0.cc).
bool IsV1(const State& state);
void CachingV0(State& state);
void BatchV0(State& state);
void GraphsV0(State& state);

// Layers per stage as get_pp_indices splits them.
std::vector<int64_t> PipelineLayers(int64_t layers, int64_t stages);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_LAUNCH_STATE_H_
