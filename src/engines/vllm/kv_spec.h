// What one layer keeps in vLLM's paged cache, and the arithmetic of its pages.
//
// In: the sizes of a layer after tensor parallelism. Out: the bytes of a page,
// the blocks that one request needs, and whether layers can share a group.
// Products saturate (kv_spec.cc), so sizes from outside never wrap.
// Source: vllm/v1/kv_cache_interface.py of 0.33.0 and 0.19.0.
#ifndef FORETELL_ENGINES_VLLM_KV_SPEC_H_
#define FORETELL_ENGINES_VLLM_KV_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace foretell::vllm {

// vLLM's own classes of specification.
enum class KvKind : uint8_t {
  kFull,
  kSliding,
  kChunked,
  kLatent,         // MLAAttentionSpec: one row for each token
  kSlidingLatent,  // SlidingWindowMLASpec
  kState,          // MambaSpec: a state, whatever the length
  kCross,
};
// "FullAttentionSpec", as vLLM and recordings of it write.
std::string_view NameOf(KvKind kind);

// How the elements of a page are packed; equal modes can share a group.
enum class KvPacking : uint8_t {
  kPlain,
  kFp8,           // scales for a whole tensor
  kPerTokenHead,  // a float32 scale beside each head's row
  kNvfp4,         // two elements a byte and a scale for sixteen
  kLatentRow,     // fp8_ds_mla, nvfp4_ds_mla: rows of a fixed size
};

struct StateTensor {
  std::vector<int64_t> shape;
  DType dtype = DType::kBFloat16;
  friend bool operator==(const StateTensor&, const StateTensor&) = default;
};

struct KvSpec {
  KvKind kind = KvKind::kFull;
  int64_t block_size = 16;  // tokens
  int64_t heads = 0;        // of keys and values, on one rank
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  int64_t element_bytes = 2;
  std::string cache_dtype;  // of latent rows: told apart when layers merge
  KvPacking packing = KvPacking::kPlain;
  int64_t row_bytes = 0;         // of a head's row where it is packed; else 0
  int64_t head_slots = 0;        // where a head has several rows; else 0
  int64_t padded_page = 0;       // 0 where the page is not padded
  int64_t tokens_per_state = 1;  // one stored row for so many tokens
  int64_t window = 0;            // of kSliding, kSlidingLatent
  int64_t window_note = 0;       // of kFull that computes as a window
  int64_t chunk = 0;             // of kChunked, or of kFull that was chunked
  int64_t retained = 0;          // tokens kept past a window, for a drafter
  int64_t row_alignment = 0;     // of latent pages, in bytes
  int64_t role = 0;              // told apart when latent layers merge
  int64_t kernel_block = 0;      // blocks are split into such kernel blocks
  int64_t stride_bytes = 0;      // what the stride of a block is a multiple of
  bool is_sharded_by_context = true;  // of decode context parallelism
  std::vector<StateTensor> states;    // of kState
  int64_t draft_states = 0;           // blocks for drafted tokens
  int64_t checkpoint_states = 0;      // blocks for a prefill's checkpoint
  friend bool operator==(const KvSpec&, const KvSpec&) = default;
};

// Bytes of a page without and with its padding.
int64_t UnpaddedPageBytes(const KvSpec& spec);
int64_t PageBytes(const KvSpec& spec);
// What the stride between blocks must be a multiple of, and the stride of a
// page where each layer has a region of its own.
int64_t StrideAlignment(const KvSpec& spec);
int64_t PageStride(const KvSpec& spec);

// What a request may hold: set by the launch.
struct KvRequestSize {
  int64_t length = 0;               // max_model_len
  int64_t in_flight_tokens = 0;     // scheduled and not yet settled
  int64_t encoder_tokens = 0;       // of a cross-attention cache
  int64_t context_ranks = 1;        // decode context parallelism
  bool are_states_aligned = false;  // mamba_cache_mode "align"
  bool are_states_kept = false;     // "all": a state at every block's end
  bool does_chunk_add_in_flight = true;
};

// max_memory_usage_bytes / page_size_bytes, rounded up: blocks of a request.
int64_t RequestBlocks(const KvSpec& spec, const KvRequestSize& request);
// The same in bytes, as the check of unmerged layers counts them.
int64_t RequestBytes(const KvSpec& spec, const KvRequestSize& request);

// Whether vLLM's `merge` takes these two into one group specification, and
// what it makes of them.
bool CanMerge(const KvSpec& a, const KvSpec& b);
KvSpec Merge(const KvSpec& a, const KvSpec& b);
// Whether both always need the same number of token slots: one table of
// blocks serves them, though their pages differ.
bool AreUniform(const KvSpec& a, const KvSpec& b);

// a * b, a + b, at most 2^62.
int64_t Times(int64_t a, int64_t b);
int64_t Plus(int64_t a, int64_t b);
int64_t CeilDivide(int64_t a, int64_t b);
int64_t RoundUp(int64_t a, int64_t multiple);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_SPEC_H_
