// The kernels whose time is told, as their callers name them: a matrix
// product, attention, experts, a collective, a pass over memory.
//
// Plain values. Shapes are a rank's own, after tensor or expert parallelism
// has split them, except where a member says otherwise. Counts are counts,
// sizes are bytes. A member's default is the plain case (no window, no past).
#ifndef FORETELL_ANALYSIS_TIMING_KERNEL_SHAPES_H_
#define FORETELL_ANALYSIS_TIMING_KERNEL_SHAPES_H_

#include <cstdint>
#include <string>
#include <variant>

namespace foretell {

// How numbers are held and multiplied. float16 counts as bfloat16: tensor
// cores give both the same rate.
enum class KernelDtype : uint8_t {
  kFloat32,
  kTf32,
  kBFloat16,
  kFp8,              // activations quantized on the way, by token or tensor
  kFp8Block,         // by 1x128 group, weights by 128x128
  kFp8Static,        // with scales that the checkpoint brings
  kNvfp4,            // groups of 16
  kInt8,             // both sides (W8A8, SmoothQuant)
  kInt8WeightOnly,   // bfloat16 arithmetic
  kInt4WeightOnly,   // AWQ, GPTQ
  kMxfp4WeightOnly,  // gpt-oss on Hopper
  kMxfp4Mxfp8,       // its weights with fp8 activations
};

// y[m, n] = x[m, k] W[n, k], `batch` times with weights of their own.
struct MatrixProduct {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t batch = 1;
  KernelDtype dtype = KernelDtype::kBFloat16;
};

// `query` new tokens a sequence, after `past` that are cached.
struct PrefillAttention {
  int64_t batch = 1;  // sequences of equal length
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t head_dim = 128;
  int64_t query = 1;
  int64_t past = 0;
  int64_t window = 0;  // 0: all that came before
  KernelDtype dtype = KernelDtype::kBFloat16;
  KernelDtype cache_dtype = KernelDtype::kBFloat16;
  bool causal = true;  // false: an encoder's, without a cache
};

// One new token a sequence.
struct DecodeAttention {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t head_dim = 128;
  int64_t past = 0;  // tokens that are cached
  int64_t window = 0;
  KernelDtype cache_dtype = KernelDtype::kBFloat16;
};

// Multi-head latent attention as DeepSeek has it (latent 512, rotated 64,
// head 128): without projections. `query` above 1 is a prefill, which expands
// keys and values; 1 is a decode over the latent cache.
struct LatentAttention {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t query = 1;
  int64_t past = 0;
  KernelDtype dtype = KernelDtype::kBFloat16;
  KernelDtype cache_dtype = KernelDtype::kBFloat16;
};

// Routed experts of one layer on one rank: selection, permutation, both
// products with the activation between, weighted sum. No router product, no
// shared expert, no communication.
struct Experts {
  int64_t tokens = 1;  // that enter the whole group, not the rank
  int64_t hidden = 1;
  int64_t intermediate = 1;  // the model's, before `tp`
  int64_t experts = 1;       // the model's, before `ep`
  int64_t top_k = 1;
  int64_t tp = 1;
  int64_t ep = 1;
  KernelDtype dtype = KernelDtype::kBFloat16;
  // Exponent of the power law that loads follow; 0: balanced. Published
  // routers lie between 1.01 and 1.2.
  double skew = 0;
};

enum class CollectiveOp : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendReceive,
};

// `bytes`: of a rank's buffer for an all-reduce and a send; the total that is
// received for an all-gather; the total that a rank sends for the others.
struct Collective {
  CollectiveOp op = CollectiveOp::kAllReduce;
  int64_t bytes = 0;
  int64_t ranks = 1;
  // The serving engine's own all-reduce instead of NCCL's.
  bool engine_kernel = false;
  // What a rank's card reaches beyond its machine, 1e9 bytes a second in one
  // direction; 0: not known, and then ranks beyond one machine have no time.
  double network_gbs = 0;
  // Cards of one machine, or of one NVLink domain; 0: as the device says.
  int64_t ranks_per_node = 0;
};

// Element-wise chains, norms, quantization, copies, embedding rows: what
// passes through memory once.
struct MemoryPass {
  int64_t bytes = 0;  // read and written
  int64_t kernels = 1;
};

using KernelShape =
    std::variant<MatrixProduct, PrefillAttention, DecodeAttention,
                 LatentAttention, Experts, Collective, MemoryPass>;

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_KERNEL_SHAPES_H_
