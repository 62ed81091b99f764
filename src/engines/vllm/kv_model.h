// What each layer of a served model keeps, before pages and blocks are chosen.
//
// In: a configuration and the settings that a launch ends with. Out: one
// shape for every layer that vLLM's class of that architecture registers, in
// its order, after tensor parallelism. Architectures that are not in the table
// are read as vLLM's Transformers backend reads them, and said so.
// Source: vllm/model_executor/models and vllm/models of 0.33.0.
#ifndef FORETELL_ENGINES_VLLM_KV_MODEL_H_
#define FORETELL_ENGINES_VLLM_KV_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/vllm/kv_spec.h"
#include "engines/vllm/served_config.h"
#include "spec/serving.h"

namespace foretell::vllm {

// Which code keeps it: what a backend is chosen for.
enum class KvSource : uint8_t {
  kAttention,
  kLatent,        // MLA
  kSparseLatent,  // MLA that an indexer selects from
  kIndexer,       // the indexer's own keys
  kSparse,        // ordinary heads that an indexer selects from (MiniMax M3)
  kSparseIndexer,
  kState,
  kCross,
  kCompressed,  // DeepSeek V4: rows for several tokens
  kCompressedIndexer,
  kCompressedWindow,
  kCompressorState,
};

struct KvShape {
  std::string name;
  int64_t index = 0;  // of the layer in its stack
  KvSource source = KvSource::kAttention;
  KvSpec spec;  // kind, heads, dims, window, chunk, states
  bool has_sink = false;
  bool is_draft = false;
};

struct KvModel {
  std::vector<KvShape> layers;
  int64_t stack = 0;  // layers that pipeline stages divide
  // Of the model as a whole, as the platform's alignment reads it.
  int64_t heads = 0;
  int64_t query_heads = 0;
  int64_t head_dim = 0;
  bool is_hybrid = false;  // attention beside states
  bool is_latent = false;
  std::optional<int64_t> nope_dim;  // qk_nope_head_dim
  bool has_image_prefix = false;    // images are attended both ways
  // States of layers that can save a checkpoint inside a prefill: the tokens
  // that a block must be a multiple of; 0 where they cannot.
  int64_t checkpoint_alignment = 0;
  std::string fault;  // nothing can be planned
};

KvModel ReadKvModel(const ServedConfig& config, const ServingSettings& settings,
                    const ServingCard& card);

// The cache dtype that "auto" becomes by the checkpoint's quantization or by
// the model's class.
std::string ResolveCacheDtype(const ServedConfig& config,
                              const ServingSettings& settings,
                              const ServingCard& card);

// Bytes of an element and its packing under a cache dtype.
int64_t ElementBytes(const std::string& cache_dtype, const std::string& dtype);
KvPacking PackingOf(const std::string& cache_dtype);

// Heads of one rank; a head is kept by several ranks where there are fewer.
int64_t HeadsOfRank(int64_t heads, int64_t ranks);

// Shapes of states; kv_states.cc. Nothing where the configuration lacks them.
struct StateFacts {
  std::vector<StateTensor> states;
  std::string backend;  // "MAMBA2", "GDN_ATTN", …
  int64_t checkpoints = 0;
  int64_t checkpoint_alignment = 0;
};
StateFacts ReadStates(const ServedConfig& config,
                      const ServingSettings& settings, const ServingCard& card);

// Layers of latent attention; kv_latent.cc.
void AddLatentLayers(const ServedConfig& config,
                     const ServingSettings& settings, const ServingCard& card,
                     KvModel& model);
void AddCompressedLayers(const ServedConfig& config,
                         const ServingSettings& settings,
                         const ServingCard& card, KvModel& model);
// Layers of a drafter, after the model's own; kv_draft.cc.
void AddDraftLayers(const ServedConfig& config, const ServingSettings& settings,
                    const ServingCard& card, KvModel& model);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_MODEL_H_
