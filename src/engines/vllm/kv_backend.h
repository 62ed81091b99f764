// Which attention backend vLLM takes for a layer, and what it says of blocks.
//
// In: a shape, the settings and the card. Out: the backend's name, the sizes
// of block that its kernels take, and whether its layout puts blocks
// outermost. Only NVIDIA's cards; others take the first general backend.
// Source: vllm/platforms/cuda.py and vllm/v1/attention/backends of 0.33.0.
#ifndef FORETELL_ENGINES_VLLM_KV_BACKEND_H_
#define FORETELL_ENGINES_VLLM_KV_BACKEND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/vllm/kv_model.h"

namespace foretell::vllm {

struct KvBackend {
  std::string name;  // "FLASH_ATTN"
  // Exact sizes, or where `is_multiple` any multiple of the only one.
  std::vector<int64_t> blocks = {16};
  bool is_multiple = true;
  // What it prefers over the default of 16, where it does; else 0.
  int64_t preferred = 0;
  bool is_block_outermost = false;
  // Rows of the cache that a block must be a whole number of; 0 for none.
  int64_t aligned_rows = 0;

  bool Takes(int64_t block) const;
  int64_t Least() const;
};

KvBackend BackendOf(const KvShape& shape, const KvModel& model,
                    const ServingSettings& settings, const ServingCard& card,
                    const std::string& cache_dtype);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_BACKEND_H_
