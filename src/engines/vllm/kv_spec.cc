#include "engines/vllm/kv_spec.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/checked.h"

namespace foretell::vllm {
namespace {

// Far past any memory and far from a wrap when a few are added.
constexpr int64_t kMost = int64_t{1} << 62;

int64_t StateBytes(const KvSpec& spec) {
  int64_t sum = 0;
  for (const StateTensor& state : spec.states) {
    int64_t bytes = BytesOf(state.dtype);
    for (const int64_t size : state.shape) bytes = Times(bytes, size);
    sum = Plus(sum, bytes);
  }
  return sum;
}

// One stored row of one head slot.
int64_t RowBytes(const KvSpec& spec) {
  if (spec.row_bytes > 0) return spec.row_bytes;
  return Times(Plus(spec.key_dim, spec.value_dim), spec.element_bytes);
}

bool IsFullLike(KvKind kind) {
  return kind == KvKind::kFull || kind == KvKind::kLatent;
}

// Fields that `merge` may reconcile are taken out before two are compared.
KvSpec WithoutNotes(KvSpec spec) {
  spec.window_note = 0;
  if (spec.kind == KvKind::kFull) spec.chunk = 0;
  return spec;
}

}  // namespace

int64_t Times(int64_t a, int64_t b) {
  return std::min(CheckedMul(a, b).value_or(kMost), kMost);
}

int64_t Plus(int64_t a, int64_t b) {
  return std::min(CheckedAdd(a, b).value_or(kMost), kMost);
}

int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

int64_t RoundUp(int64_t a, int64_t multiple) {
  return Times(CeilDivide(a, multiple), multiple);
}

std::string_view NameOf(KvKind kind) {
  switch (kind) {
    case KvKind::kFull:
      return "FullAttentionSpec";
    case KvKind::kSliding:
      return "SlidingWindowSpec";
    case KvKind::kChunked:
      return "ChunkedLocalAttentionSpec";
    case KvKind::kLatent:
      return "MLAAttentionSpec";
    case KvKind::kSlidingLatent:
      return "SlidingWindowMLASpec";
    case KvKind::kState:
      return "MambaSpec";
    case KvKind::kCross:
      return "CrossAttentionSpec";
  }
  FailCheck(__FILE__, __LINE__, "kind", "a specification without a name");
}

int64_t UnpaddedPageBytes(const KvSpec& spec) {
  if (spec.kind == KvKind::kState) return StateBytes(spec);
  const int64_t slots = spec.head_slots > 0 ? spec.head_slots : spec.heads;
  const int64_t rows = spec.block_size / spec.tokens_per_state;
  return Times(Times(slots, rows), RowBytes(spec));
}

int64_t PageBytes(const KvSpec& spec) {
  const int64_t bytes = UnpaddedPageBytes(spec);
  if (spec.padded_page > 0) return std::max(spec.padded_page, bytes);
  // DeepSeek V4's rows: a page ends on a boundary that its kernel reads by.
  return spec.row_alignment > 0 ? RoundUp(bytes, spec.row_alignment) : bytes;
}

int64_t StrideAlignment(const KvSpec& spec) {
  if (spec.stride_bytes > 0) return spec.stride_bytes;
  if (spec.kernel_block <= 0) return 1;
  const int64_t kernel = std::gcd(spec.kernel_block, spec.block_size);
  if (kernel == spec.block_size) return 1;
  KvSpec small = spec;
  small.block_size = kernel;
  return std::max<int64_t>(PageBytes(small), 1);
}

int64_t PageStride(const KvSpec& spec) {
  return RoundUp(PageBytes(spec), StrideAlignment(spec));
}

int64_t RequestBytes(const KvSpec& spec, const KvRequestSize& request) {
  const int64_t page = PageBytes(spec);
  switch (spec.kind) {
    case KvKind::kFull:
    case KvKind::kLatent: {
      const int64_t length =
          spec.is_sharded_by_context
              ? CeilDivide(request.length, request.context_ranks)
              : request.length;
      return Times(CeilDivide(length, spec.block_size), page);
    }
    case KvKind::kSliding:
    case KvKind::kSlidingLatent: {
      const int64_t held =
          std::min(spec.window - 1 + spec.retained + request.in_flight_tokens,
                   request.length);
      // One more: a window need not begin where a block begins.
      return Times(CeilDivide(held, spec.block_size) + 1, page);
    }
    case KvKind::kChunked: {
      const int64_t held =
          std::min(spec.chunk + request.in_flight_tokens, request.length);
      return Times(CeilDivide(held, spec.block_size), page);
    }
    case KvKind::kState: {
      const int64_t states =
          request.are_states_kept
              ? Plus(CeilDivide(request.length, spec.block_size),
                     spec.draft_states)
          : request.are_states_aligned
              ? 2 + spec.draft_states + spec.checkpoint_states
              : 1 + spec.draft_states;
      return Times(states, page);
    }
    case KvKind::kCross:
      return Times(CeilDivide(request.encoder_tokens, spec.block_size), page);
  }
  FailCheck(__FILE__, __LINE__, "kind", "a specification without a size");
}

int64_t RequestBlocks(const KvSpec& spec, const KvRequestSize& request) {
  return CeilDivide(RequestBytes(spec, request),
                    std::max<int64_t>(PageBytes(spec), 1));
}

bool CanMerge(const KvSpec& a, const KvSpec& b) {
  if (a.kind != KvKind::kFull || b.kind != KvKind::kFull) return a == b;
  if (WithoutNotes(a) != WithoutNotes(b)) return false;
  // A group has one window or one chunk at most, and not both.
  const bool one_window = a.window_note == 0 || b.window_note == 0 ||
                          a.window_note == b.window_note;
  const bool one_chunk = a.chunk == 0 || b.chunk == 0 || a.chunk == b.chunk;
  const bool has_window = a.window_note > 0 || b.window_note > 0;
  const bool has_chunk = a.chunk > 0 || b.chunk > 0;
  return one_window && one_chunk && !(has_window && has_chunk);
}

KvSpec Merge(const KvSpec& a, const KvSpec& b) {
  KvSpec out = a;
  out.window_note = std::max(a.window_note, b.window_note);
  if (out.kind == KvKind::kFull) out.chunk = std::max(a.chunk, b.chunk);
  return out;
}

bool AreUniform(const KvSpec& a, const KvSpec& b) {
  if (a.block_size != b.block_size ||
      a.is_sharded_by_context != b.is_sharded_by_context) {
    return false;
  }
  if (IsFullLike(a.kind)) return IsFullLike(b.kind);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case KvKind::kSliding:
    case KvKind::kSlidingLatent:
      return a.window == b.window;
    case KvKind::kChunked:
      return a.chunk == b.chunk;
    case KvKind::kState:
      return a.draft_states == b.draft_states &&
             a.checkpoint_states == b.checkpoint_states &&
             PageBytes(a) == PageBytes(b);
    case KvKind::kFull:
    case KvKind::kLatent:
    case KvKind::kCross:
      return true;
  }
  FailCheck(__FILE__, __LINE__, "kind", "a specification without a base");
}

}  // namespace foretell::vllm
