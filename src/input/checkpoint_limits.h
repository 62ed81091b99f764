// How much a checkpoint's header may hold: what bounds the memory and the time
// of every reader of one.
//
// Each limit is far past what is published, and its message says so.
#ifndef FORETELL_INPUT_CHECKPOINT_LIMITS_H_
#define FORETELL_INPUT_CHECKPOINT_LIMITS_H_

#include <cstdint>

namespace foretell {

// safetensors refuses a longer header itself (0.8, src/tensor.rs,
// MAX_HEADER_SIZE).
inline constexpr int64_t kMostSafetensorsHeader = 100'000'000;
// Kimi-K2's checkpoint, with an expert's weight and scale apart, has about
// 140,000.
inline constexpr int64_t kMostTensors = 2'000'000;
// NumPy's limit of dims (NPY_MAXDIMS of NumPy 2); a model's tensors have five.
inline constexpr int64_t kMostDims = 64;
// The longest name in llama.cpp is 64 bytes; in state_dicts they are below 200.
inline constexpr int64_t kMostNameBytes = 4096;
// Of one text of a metadata: a chat template has up to 30 KB.
inline constexpr int64_t kMostTextBytes = int64_t{16} << 20;
// Of all texts and kept arrays of a metadata together.
inline constexpr int64_t kMostMetadataBytes = int64_t{64} << 20;
inline constexpr int64_t kMostEntries = 100'000;  // of metadata; published: 60
// Of an array of metadata that is kept; longer ones are counted. One value for
// each of a model's layers is the use of those that are.
inline constexpr int64_t kMostItemsKept = 4096;
inline constexpr int64_t kMostFiles = 10'000;  // DeepSeek-V3 has 163
// An index of 2,000 files with 500 names each has 60 MB.
inline constexpr int64_t kMostIndexBytes = int64_t{256} << 20;
// data.pkl of a checkpoint with 100,000 tensors has 20 MB.
inline constexpr int64_t kMostPickleBytes = int64_t{256} << 20;

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_LIMITS_H_
