#include "engines/vllm/kv_packing.h"

#include <algorithm>
#include <utility>

namespace foretell::vllm {
namespace {

struct PageSize {
  int64_t bytes = 0;
  std::vector<size_t> layers;  // positions in the bucket
};

struct Bucket {
  std::vector<KvLayer> layers;
  std::vector<PageSize> sizes;  // in order of their first layer
  // As many layers of each page size: a pattern that repeats.
  bool is_balanced = true;

  int64_t Repeats() const {
    size_t most = 0;
    for (const PageSize& size : sizes)
      most = std::max(most, size.layers.size());
    return static_cast<int64_t>(most);
  }
};

std::vector<Bucket> Gather(const std::vector<KvLayer>& layers) {
  std::vector<Bucket> out;
  for (const KvLayer& at : layers) {
    const auto found = std::ranges::find_if(out, [&](const Bucket& b) {
      return AreUniform(b.layers.front().spec, at.spec);
    });
    Bucket& bucket = found == out.end() ? out.emplace_back() : *found;
    bucket.layers.push_back(at);
  }
  for (Bucket& bucket : out) {
    for (size_t i = 0; i < bucket.layers.size(); ++i) {
      const int64_t bytes = PageBytes(bucket.layers[i].spec);
      auto found = std::ranges::find(bucket.sizes, bytes, &PageSize::bytes);
      if (found == bucket.sizes.end()) {
        bucket.sizes.push_back({bytes, {}});
        found = bucket.sizes.end() - 1;
      }
      found->layers.push_back(i);
    }
    for (const PageSize& size : bucket.sizes) {
      bucket.is_balanced = bucket.is_balanced &&
                           size.layers.size() == bucket.sizes[0].layers.size();
    }
  }
  return out;
}

// The chunk to which `values` round up with the least padding, the larger of
// equals; at least `lower`.
int64_t ApproximateDivisor(const std::vector<int64_t>& values, int64_t lower) {
  const int64_t least = std::max<int64_t>(1, lower);
  const int64_t most = *std::ranges::max_element(values);
  int64_t best = least;
  int64_t best_padding = -1;
  for (int64_t d = least; d <= most; ++d) {
    int64_t padding = 0;
    for (const int64_t value : values) padding += (d - value % d) % d;
    if (best_padding < 0 || padding <= best_padding) {
      best_padding = padding;
      best = d;
    }
  }
  return best;
}

int64_t WidestGroup(const Bucket& bucket, int64_t groups) {
  int64_t sum = 0;
  for (const PageSize& size : bucket.sizes) {
    const auto count = static_cast<int64_t>(size.layers.size());
    sum = Plus(sum, Times(CeilDivide(count, groups), size.bytes));
  }
  return sum;
}

}  // namespace

std::optional<std::vector<KvGroup>> PackGroups(
    const std::vector<KvLayer>& layers) {
  const bool has_several_sizes =
      std::ranges::any_of(layers, [&](const KvLayer& at) {
        return PageBytes(at.spec) != PageBytes(layers.front().spec);
      });
  if (!has_several_sizes) return std::nullopt;
  const std::vector<Bucket> buckets = Gather(layers);

  // A balanced bucket of several sizes stays whole: the largest such sets how
  // often the pattern repeats in a group.
  int64_t lower = 0;
  std::vector<int64_t> repeats;
  for (const Bucket& bucket : buckets) {
    if (!bucket.is_balanced) continue;
    repeats.push_back(bucket.Repeats());
    if (bucket.sizes.size() > 1) lower = std::max(lower, bucket.Repeats());
  }
  const int64_t per_group = lower > 0 ? ApproximateDivisor(repeats, lower) : 0;
  const auto groups_of = [&](const Bucket& bucket) {
    return bucket.is_balanced && per_group > 0
               ? CeilDivide(bucket.Repeats(), per_group)
               : 1;
  };
  // States can go down to one a group; every other bucket's split is fixed.
  const auto is_state = [&](const Bucket& bucket) {
    const KvKind kind = bucket.layers.front().spec.kind;
    return kind == KvKind::kState ||
           (per_group == 0 &&
            (kind == KvKind::kSliding || kind == KvKind::kSlidingLatent));
  };
  int64_t anchor = 0;
  for (const Bucket& bucket : buckets) {
    const auto all = static_cast<int64_t>(bucket.layers.size());
    anchor = std::max(
        anchor,
        WidestGroup(bucket, is_state(bucket) ? all : groups_of(bucket)));
  }
  std::vector<KvGroup> out;
  for (const Bucket& bucket : buckets) {
    int64_t count = groups_of(bucket);
    if (anchor > 0 && is_state(bucket)) {
      const int64_t page =
          std::max<int64_t>(PageBytes(bucket.layers.front().spec), 1);
      const int64_t states = std::max<int64_t>(anchor / page, 1);
      count = std::max(
          count,
          CeilDivide(static_cast<int64_t>(bucket.layers.size()), states));
    }
    if (count == 1) {
      out.push_back({bucket.layers.front().spec, true, bucket.layers});
      continue;
    }
    // As many of each size as the rarest has: what Python's zip pairs up.
    size_t patterns = bucket.layers.size();
    for (const PageSize& size : bucket.sizes) {
      patterns = std::min(patterns, size.layers.size());
    }
    for (int64_t i = 0; i < count; ++i) {
      KvGroup group{{}, true, {}};
      for (auto j = static_cast<size_t>(i); j < patterns;
           j += static_cast<size_t>(count)) {
        for (const PageSize& size : bucket.sizes) {
          group.layers.push_back(bucket.layers[size.layers[j]]);
        }
      }
      if (group.layers.empty()) continue;
      group.spec = group.layers.front().spec;
      out.push_back(std::move(group));
    }
  }
  return out;
}

}  // namespace foretell::vllm
