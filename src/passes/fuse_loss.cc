#include "passes/fuse_loss.h"

#include <algorithm>
#include <bit>

#include "base/dtype.h"

namespace foretell {
namespace {

// The chunk's tokens, as the kernel's caller counts them.
int64_t ChunkOf(const Logits& logits) {
  const int64_t pieces =
      (logits.vocabulary + logits.hidden - 1) / logits.hidden;
  const int64_t least =
      std::max<int64_t>(1, (logits.tokens + pieces - 1) / pieces);
  const auto chunk = std::bit_ceil(static_cast<uint64_t>(least));
  return std::min(static_cast<int64_t>(chunk), logits.tokens);
}

// In half precision there are the logits, their float32 copy, its log-softmax,
// the gradient of that, and the gradient in the logits' dtype. The copy is the
// kernel's; it lives as long as the log-softmax would, in whose place it is
// counted. In float32 the logits are their own copy.
void Fuse(Graph& graph, const Logits& logits) {
  const bool is_wide = BytesOf(logits.storages.front().dtype) == 4;
  int wide = 0;
  for (const LogitsStorage& one : logits.storages) {
    if (BytesOf(one.dtype) != 4) continue;
    ++wide;
    if (wide == (is_wide ? 1 : 2)) continue;
    graph.storages[one.storage.index].bytes = 0;
  }
}

}  // namespace

std::vector<int64_t> FuseLoss(Graph& graph, const Logits& logits,
                              LossKind kind) {
  std::vector<int64_t> beside(graph.operations.size());
  if (kind == LossKind::kFused) {
    Fuse(graph, logits);
    return beside;
  }
  for (const LogitsStorage& one : logits.storages) {
    graph.storages[one.storage.index].bytes = 0;
  }
  const LogitsStorage& first = logits.storages.front();
  const int64_t size = BytesOf(first.dtype);
  int64_t& waiting = graph.storages[first.storage.index].bytes;
  waiting = logits.tokens * logits.hidden * size;
  if (logits.head_trains) {
    waiting += logits.vocabulary * logits.hidden * size;
  }
  beside[first.operation] = ChunkOf(logits) * logits.vocabulary * size;
  return beside;
}

}  // namespace foretell
