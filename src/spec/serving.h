// A serving job: the launch as a person wrote it, the card it meets, and the
// settings that the engine ends with.
//
// `Launch` is made by input/launch_line from a command line, whatever the
// engine; `ServingCard` from data/; `ServingSettings` by engines/<engine>
// from both and the model's configuration, and read by everything that plans
// memory, judges or reports. Plain values; a size is in the unit its name says.
#ifndef FORETELL_SPEC_SERVING_H_
#define FORETELL_SPEC_SERVING_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/place.h"
#include "spec/config_value.h"
#include "spec/model_config.h"

namespace foretell {

enum class ServingEngine : uint8_t { kVllm, kSglang, kLlamaCpp };

std::string_view NameOf(ServingEngine engine);  // "vllm", "sglang", …

// "0.19.0" as numbers; post and candidate suffixes are dropped.
struct EngineVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string ToString() const;  // "0.19.0"
  friend auto operator<=>(const EngineVersion&, const EngineVersion&) = default;
};

// "0.19", "v0.19.1", "0.9.0.1", "0.8.5.post1"; nothing where it is no version.
// A missing patch is 0.
std::optional<EngineVersion> ParseEngineVersion(std::string_view text);

// One word of a command line, unquoted, and where it stands.
struct LaunchWord {
  std::string text;
  Place place;
};

// A flag that the engine's table knows, with its value as the engine reads it.
struct LaunchSetting {
  std::string name;     // as the engine's settings call it, underscored
  std::string spelled;  // as written: "-tp"
  ConfigValue value;
  Place place;
};

// What the engine's own command line would refuse or warn of.
struct LaunchFault {
  enum class Kind : uint8_t {
    kUnknown,     // no such flag in this version
    kRemoved,     // a flag of an earlier version
    kNotYet,      // a flag of a later version
    kAmbiguous,   // a shortened flag that several begin with
    kNoValue,     // a flag that wants a value ends without one
    kValue,       // a value that the flag's type does not take
    kChoice,      // a value outside the flag's list
    kJson,        // a value that does not parse, or an unknown key in it
    kFile,        // a file that the flag names is not there
    kDeprecated,  // taken, with a warning
    kTwice,       // given twice; the last one counts
  };
  Kind kind = Kind::kUnknown;
  std::string what;
  std::string why;  // in short, what the engine does
  std::string fix;  // can be pasted; empty where nothing is near
  Place place;
  bool refuses = true;  // the engine ends here
};

// What stands on the command line, before any engine's flags are looked up.
struct LaunchLine {
  ServingEngine engine = ServingEngine::kVllm;
  std::string form;               // "vllm serve", "docker run", …
  std::string version;            // of an image's tag; empty where nothing says
  std::vector<LaunchWord> words;  // the engine's arguments
  std::vector<std::pair<std::string, LaunchWord>> environment;
  std::optional<int64_t> cards;  // of docker's --gpus, CUDA_VISIBLE_DEVICES
};

// A launch line as one version of its engine reads it.
struct Launch {
  ServingEngine engine = ServingEngine::kVllm;
  EngineVersion version;
  std::string version_source;  // "--engine-version", "image tag", "the newest"
  std::string form;
  std::string model;
  Place model_place;
  std::vector<LaunchSetting> settings;  // last one wins
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<LaunchFault> faults;

  // The last setting of that name, or null.
  const LaunchSetting* Find(std::string_view name) const;
  const std::string* Environment(std::string_view name) const;
};

// One kind of card as the runtime sees it.
struct ServingCard {
  std::string name;    // "H100"
  std::string full;    // "NVIDIA H100 80GB HBM3", as the driver names it
  int capability = 0;  // 90 for compute capability 9.0; 0 where it has none
  // Memory by the runtime's own count, which the engine multiplies, and by the
  // driver's, which decides defaults; bytes. An interval where records differ.
  int64_t runtime_bytes = 0;
  int64_t runtime_low = 0;
  int64_t runtime_high = 0;
  int64_t driver_bytes = 0;
  bool unified = false;       // the processor's memory
  bool linked = true;         // peer access between the cards
  bool is_estimated = false;  // its memory: a slice, or under WSL
  std::string vendor;         // "nvidia", "amd", …
  std::string source;
};

struct SpeculativeSettings {
  std::string method;  // "eagle3", "mtp", "ngram", "draft_model"
  int64_t tokens = 0;
  std::string model;
  std::optional<int64_t> draft_tensor_parallel;
  std::optional<ModelConfig> draft;  // where it is another model
};

struct AdapterSettings {
  int64_t max_rank = 16;
  int64_t max_loras = 1;
  int64_t max_cpu_loras = 1;
  bool fully_sharded = false;
  std::string dtype;  // "bfloat16"
};

// What the engine's configuration ends with. Filled by the engine's folder;
// values are the engine's own names ("auto", "fp8_e4m3", "FULL_DECODE_ONLY").
struct ServingSettings {
  ServingEngine engine = ServingEngine::kVllm;
  bool server = true;  // an HTTP server, not the offline class
  bool is_v1 = true;   // vLLM's second engine; the first one left with 0.11
  bool expert_parallel = false;
  EngineVersion version;

  // Parallel.
  int64_t tensor_parallel = 1;
  int64_t pipeline_parallel = 1;
  int64_t data_parallel = 1;
  int64_t decode_context_parallel = 1;
  int64_t prefill_context_parallel = 1;
  std::vector<int64_t> pipeline_layers;  // per stage

  // Model.
  std::string architecture;
  std::string dtype;         // "bfloat16"
  std::string quantization;  // empty where there is none
  int64_t max_model_len = 0;
  int64_t derived_max_model_len = 0;  // the model's own
  bool is_multimodal = false;
  bool is_hybrid = false;
  bool is_attention_free = false;
  bool is_encoder_decoder = false;
  bool is_moe = false;
  bool use_mla = false;
  bool is_pooling = false;
  bool enforce_eager = false;
  bool disable_sliding_window = false;
  bool skip_mm_profiling = false;
  bool language_model_only = false;

  // Scheduler and sampler.
  bool enable_chunked_prefill = true;
  bool enable_prefix_caching = true;
  bool disable_hybrid_kv_cache_manager = false;
  bool async_scheduling = false;
  bool flashinfer_sampler = false;
  int64_t max_num_batched_tokens = 0;
  int64_t max_num_seqs = 0;

  // Cache.
  std::optional<int64_t> block_size;  // where the user or the class says
  std::string cache_dtype = "auto";
  std::string mamba_cache_mode = "none";
  std::string mamba_cache_dtype = "auto";
  std::string mamba_ssm_cache_dtype = "auto";
  std::optional<int64_t> mamba_block_size;
  std::optional<int64_t> num_gpu_blocks_override;
  std::vector<std::string> kv_skip_layers;
  double gpu_memory_utilization = 0.9;
  std::optional<int64_t> kv_cache_memory_bytes;
  double cpu_offload_gib = 0;
  double swap_space_gib = 0;

  // Graphs.
  int compilation_mode = 3;
  int optimization_level = 2;
  std::string cudagraph_mode;
  std::vector<int64_t> cudagraph_sizes;
  std::string attention_backend;  // empty where the engine chooses
  std::string moe_backend;  // "marlin"; empty or "auto": the engine chooses
  std::optional<SpeculativeSettings> speculative;
  std::optional<AdapterSettings> lora;
  std::vector<std::pair<std::string, int64_t>> limit_mm_per_prompt;
  std::vector<std::pair<std::string, std::string>> environment;  // VLLM_…
};

}  // namespace foretell

#endif  // FORETELL_SPEC_SERVING_H_
