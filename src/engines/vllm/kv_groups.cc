#include "engines/vllm/kv_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engines/vllm/kv_packing.h"

namespace foretell::vllm {
namespace {

bool AreAllMergeable(const std::vector<KvLayer>& layers) {
  KvSpec merged = layers.front().spec;
  for (const KvLayer& layer : layers) {
    if (!CanMerge(merged, layer.spec)) return false;
    merged = Merge(merged, layer.spec);
  }
  return true;
}

bool AreAllUniform(const std::vector<KvLayer>& layers) {
  return std::ranges::all_of(layers, [&](const KvLayer& layer) {
    return AreUniform(layers.front().spec, layer.spec);
  });
}

KvGroup MergedGroup(std::vector<KvLayer> layers) {
  KvGroup out{layers.front().spec, false, {}};
  for (const KvLayer& layer : layers) out.spec = Merge(out.spec, layer.spec);
  for (KvLayer& layer : layers) layer.spec = out.spec;
  out.layers = std::move(layers);
  return out;
}

KvGroup MixedGroup(std::vector<KvLayer> layers) {
  KvGroup out{layers.front().spec, true, {}};
  out.layers = std::move(layers);
  return out;
}

// What --disable-hybrid-kv-cache-manager does: windows and chunks are kept
// for all tokens, as full attention is.
void PromoteToFull(std::vector<KvLayer>& layers, KvGrouping& out) {
  if (AreAllMergeable(layers) || AreAllUniform(layers)) return;
  const auto has = [&](KvKind kind) {
    return std::ranges::any_of(
        layers, [&](const KvLayer& at) { return at.spec.kind == kind; });
  };
  const bool has_full = has(KvKind::kFull) || has(KvKind::kLatent);
  const bool has_local = has(KvKind::kSliding) || has(KvKind::kSlidingLatent) ||
                         has(KvKind::kChunked);
  if (has_full && has_local) {
    // Their one block size, where the full layers have but one.
    int64_t block = 0;
    for (const KvLayer& at : layers) {
      if (at.spec.kind != KvKind::kFull && at.spec.kind != KvKind::kLatent) {
        continue;
      }
      block =
          block == 0 || block == at.spec.block_size ? at.spec.block_size : -1;
    }
    for (KvLayer& at : layers) {
      KvSpec& spec = at.spec;
      if (spec.kind != KvKind::kSliding &&
          spec.kind != KvKind::kSlidingLatent &&
          spec.kind != KvKind::kChunked) {
        continue;
      }
      if (block > 0) spec.block_size = block;
      if (spec.padded_page > 0) {
        spec.padded_page = std::max(spec.padded_page, UnpaddedPageBytes(spec));
      }
      if (spec.kind == KvKind::kSliding) spec.window_note = spec.window;
      spec.kind =
          spec.kind == KvKind::kSlidingLatent ? KvKind::kLatent : KvKind::kFull;
      spec.window = 0;
      spec.retained = 0;
    }
  }
  if (!AreAllMergeable(layers) && !AreAllUniform(layers)) {
    out.fault =
        "with the hybrid KV cache manager disabled, these layers cannot be "
        "brought to one kind";
  }
}

// All pages become as large as the largest: more tokens in a block where that
// divides, padding where it does not.
std::optional<std::string> UnifyPages(std::vector<KvLayer>& layers,
                                      const KvGroupingRules& rules) {
  int64_t most = 0;
  for (const KvLayer& at : layers) most = std::max(most, PageBytes(at.spec));
  for (KvLayer& at : layers) {
    const int64_t page = PageBytes(at.spec);
    if (page == most) continue;
    if (at.spec.kind == KvKind::kState) {
      at.spec.padded_page = most;
    } else if (page > 0 && most % page == 0) {
      at.spec.block_size = Times(at.spec.block_size, most / page);
    } else if (rules.does_pad_attention && at.spec.kind != KvKind::kLatent &&
               page > 0) {
      at.spec.padded_page = most;
    } else {
      return "layer " + at.name +
             " has pages that do not divide the largest page, and cannot be "
             "padded";
    }
  }
  return std::nullopt;
}

// Buckets of layers that merge, in order of their first layer.
std::vector<std::vector<KvLayer>> Buckets(const std::vector<KvLayer>& layers,
                                          const KvGroupingRules& rules) {
  std::vector<std::vector<KvLayer>> equal;
  for (const KvLayer& at : layers) {
    const auto found = std::ranges::find_if(
        equal, [&](const auto& b) { return b.front().spec == at.spec; });
    if (found == equal.end()) {
      equal.push_back({at});
    } else {
      found->push_back(at);
    }
  }
  if (!rules.does_merge_windows) return equal;
  std::vector<std::vector<KvLayer>> out;
  std::vector<KvSpec> merged;
  for (std::vector<KvLayer>& bucket : equal) {
    const KvSpec spec = bucket.front().spec;
    size_t i = 0;
    while (i < out.size() && !CanMerge(merged[i], spec)) ++i;
    if (i == out.size()) {
      out.push_back(std::move(bucket));
      merged.push_back(spec);
      continue;
    }
    merged[i] = Merge(merged[i], spec);
    out[i].insert(out[i].end(), bucket.begin(), bucket.end());
  }
  return out;
}

// Groups of equally many layers: as many as the rarest kind has.
std::vector<KvGroup> SplitEvenly(const std::vector<KvLayer>& layers,
                                 const KvGroupingRules& rules) {
  const auto buckets = Buckets(layers, rules);
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const auto& bucket : buckets) {
    const auto count = static_cast<int64_t>(bucket.size());
    least = std::min(least, count);
    most = std::max(most, count);
  }
  const bool is_close = static_cast<double>(most) <
                        static_cast<double>(least) * rules.padding_ratio;
  const int64_t size = is_close ? most : least;
  std::vector<KvGroup> out;
  for (const auto& bucket : buckets) {
    const int64_t count = CeilDivide(static_cast<int64_t>(bucket.size()), size);
    for (int64_t i = 0; i < count; ++i) {
      // Every count-th layer, so that each stage of a pipeline has its share.
      std::vector<KvLayer> members;
      for (size_t j = static_cast<size_t>(i); j < bucket.size();
           j += static_cast<size_t>(count)) {
        members.push_back(bucket[j]);
      }
      out.push_back(MergedGroup(std::move(members)));
    }
  }
  return out;
}

// Latent layers beside windows of ordinary attention (a drafter's): all are
// kept for all tokens where their pages cannot be unified.
bool FallBackToFull(std::vector<KvLayer>& layers) {
  bool has_latent = false;
  bool has_window = false;
  for (const KvLayer& at : layers) {
    if (at.spec.kind == KvKind::kSlidingLatent ||
        at.spec.kind == KvKind::kChunked) {
      return false;
    }
    has_latent = has_latent || at.spec.kind == KvKind::kLatent;
    has_window = has_window || at.spec.kind == KvKind::kSliding;
  }
  if (!has_latent || !has_window) return false;
  KvGrouping scratch;
  PromoteToFull(layers, scratch);
  return !scratch.fault && AreAllUniform(layers);
}

}  // namespace

KvGrouping GroupLayers(std::vector<KvLayer> layers,
                       const KvGroupingRules& rules) {
  KvGrouping out;
  if (layers.empty()) return out;
  if (rules.is_hybrid_disabled) {
    PromoteToFull(layers, out);
    if (out.fault) return out;
  }
  if (AreAllMergeable(layers)) {
    out.groups.push_back(MergedGroup(std::move(layers)));
    return out;
  }
  if (AreAllUniform(layers)) {
    out.groups.push_back(MixedGroup(std::move(layers)));
    return out;
  }
  if (rules.does_pack_mixed && rules.is_block_outermost) {
    if (auto packed = PackGroups(layers)) {
      out.groups = std::move(*packed);
      return out;
    }
  }
  std::vector<KvLayer> unified = layers;
  if (const auto fault = UnifyPages(unified, rules)) {
    if (FallBackToFull(layers)) {
      out.groups.push_back(MixedGroup(std::move(layers)));
    } else {
      out.fault = fault;
    }
    return out;
  }
  out.groups = SplitEvenly(unified, rules);
  return out;
}

std::vector<KvGroup> GroupsOfStage(const std::vector<KvGroup>& groups,
                                   int64_t stage) {
  std::vector<KvGroup> out;
  for (const KvGroup& group : groups) {
    KvGroup part{group.spec, group.is_mixed, {}};
    for (const KvLayer& layer : group.layers) {
      if (layer.stage == stage) part.layers.push_back(layer);
    }
    if (part.is_mixed && !part.layers.empty()) {
      part.spec = part.layers.front().spec;
    }
    out.push_back(std::move(part));
  }
  return out;
}

int64_t BlockBytes(const std::vector<KvGroup>& groups,
                   bool is_block_outermost) {
  int64_t most = 0;
  int64_t alignment = 1;
  for (const KvGroup& group : groups) {
    int64_t sum = 0;
    for (const KvLayer& layer : group.layers) {
      sum = Plus(sum, is_block_outermost ? PageBytes(layer.spec)
                                         : PageStride(layer.spec));
      // Bounded, so that the least common multiple stays a number.
      const int64_t each = StrideAlignment(layer.spec);
      const int64_t both = Times(alignment / std::gcd(alignment, each), each);
      alignment = both < (int64_t{1} << 40) ? both : alignment;
    }
    most = std::max(most, sum);
  }
  return is_block_outermost ? RoundUp(most, alignment) : most;
}

int64_t RequestBlocks(const std::vector<KvGroup>& groups,
                      const KvRequestSize& request, bool of_first) {
  int64_t sum = 0;
  for (const KvGroup& group : groups) {
    int64_t blocks = RequestBlocks(group.spec, request);
    if (group.is_mixed && !of_first) {
      for (const KvLayer& layer : group.layers) {
        blocks = std::max(blocks, RequestBlocks(layer.spec, request));
      }
    }
    sum = Plus(sum, blocks);
  }
  return sum;
}

}  // namespace foretell::vllm
