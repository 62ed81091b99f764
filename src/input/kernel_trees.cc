#include "input/kernel_trees.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "input/gzip.h"

namespace foretell {
namespace {

// Past the largest fitted sum (16,000 leaves) by far.
constexpr int64_t kMostLeaves = 200'000;
constexpr int64_t kMostTrees = 5'000;
constexpr int64_t kUnpackedBytes = 8 << 20;
// Leaves of one tree: its nodes are counted in 16 bits.
constexpr size_t kMostNodes = 1 << 12;
constexpr int kMostDepth = 256;

// The streams, each with where it is read next.
class Streams {
 public:
  Streams(std::string bytes, int64_t trees, int64_t leaves,
          const std::vector<size_t>& counts)
      : bytes_(std::move(bytes)) {
    const auto nodes = static_cast<size_t>(2 * leaves - trees);
    const auto splits = static_cast<size_t>(leaves - trees);
    feature_ = (nodes + 7) / 8;
    threshold_ = feature_ + splits;
    leaf_ = threshold_ + splits;
    values_ = leaf_ + static_cast<size_t>(leaves);
    for (const size_t count : counts) {
      first_.push_back(all_);
      all_ += count;
    }
    scales_ = values_ + 3 * all_;
    trees_ = static_cast<size_t>(trees);
    nodes_ = nodes;
    is_whole_ = bytes_.size() == scales_ + 4 * trees_;
  }

  bool is_whole() const { return is_whole_; }
  bool HasNode() const { return bit_ < nodes_; }
  bool NextIsSplit() {
    const bool out = (Byte(bit_ / 8) >> (7 - bit_ % 8) & 1) != 0;
    ++bit_;
    return out;
  }
  size_t NextFeature() { return Byte(feature_ + split_); }
  // Of the feature that NextFeature gave; nothing where it has no such.
  std::optional<float> NextThreshold(size_t feature) {
    const size_t index = Byte(threshold_ + split_++);
    const size_t end = feature + 1 < first_.size() ? first_[feature + 1] : all_;
    if (feature >= first_.size() || first_[feature] + index >= end) {
      return std::nullopt;
    }
    const size_t at = first_[feature] + index;
    return FloatOf(values_ + at, all_, 3);
  }
  float NextLeaf(size_t tree) {
    const auto step = static_cast<int8_t>(Byte(leaf_ + leaves_read_++));
    return static_cast<float>(step) * FloatOf(scales_ + tree, trees_, 4);
  }

 private:
  uint32_t Byte(size_t at) const {
    return at < bytes_.size() ? static_cast<uint8_t>(bytes_[at]) : 0;
  }
  // Its bytes lie `stride` apart, the highest first.
  float FloatOf(size_t at, size_t stride, size_t bytes) const {
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) {
      bits = bits << 8 | (i < bytes ? Byte(at + i * stride) : 0);
    }
    return std::bit_cast<float>(bits);
  }

  std::string bytes_;
  bool is_whole_ = false;
  size_t feature_ = 0;
  size_t threshold_ = 0;
  size_t leaf_ = 0;
  size_t values_ = 0;
  size_t scales_ = 0;
  size_t trees_ = 0;
  size_t nodes_ = 0;
  size_t all_ = 0;
  std::vector<size_t> first_;
  size_t bit_ = 0;
  size_t split_ = 0;
  size_t leaves_read_ = 0;
};

// False where the tree is malformed.
bool ReadNode(Streams& streams, size_t tree, int depth,
              std::vector<TreeNode>& nodes, size_t start) {
  if (!streams.HasNode() || depth > kMostDepth ||
      nodes.size() - start >= kMostNodes) {
    return false;
  }
  const size_t here = nodes.size();
  nodes.emplace_back();
  if (!streams.NextIsSplit()) {
    nodes[here].value = streams.NextLeaf(tree);
    return true;
  }
  const size_t feature = streams.NextFeature();
  const auto threshold = streams.NextThreshold(feature);
  if (!threshold) return false;
  nodes[here].feature = static_cast<int16_t>(feature);
  nodes[here].value = *threshold;
  if (!ReadNode(streams, tree, depth + 1, nodes, start)) return false;
  nodes[here].right = static_cast<uint16_t>(nodes.size() - start);
  return ReadNode(streams, tree, depth + 1, nodes, start);
}

}  // namespace

std::string FromBase64(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<int> value_of(256, -1);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    value_of[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
  }
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = value_of[static_cast<unsigned char>(c)];
    if (value < 0) return "";
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  return out;
}

TreeSum ReadTrees(const RowFields& row, const std::string& key,
                  size_t features) {
  const ConfigValue* object = row.Object(key);
  if (object == nullptr) {
    row.Problem(nullptr, key, "has no trees", "fit the kernels again");
    return {};
  }
  const RowFields fields = row.Of(*object);
  const int64_t trees = fields.Count("trees");
  const int64_t leaves = fields.Count("leaves");
  std::vector<size_t> counts;
  for (const ConfigValue& count : fields.Items("thresholds")) {
    counts.push_back(static_cast<size_t>(count.AsInteger().value_or(0) & 0xff));
  }
  const auto refuse = [&] {
    row.Problem(object, key, "holds no whole trees", "fit the kernels again");
    return TreeSum();
  };
  if (trees < 0 || trees > kMostTrees || leaves < trees ||
      leaves > kMostLeaves || counts.size() != features) {
    return refuse();
  }
  Streams streams(UnpackGzip(FromBase64(fields.Text("packed")), kUnpackedBytes,
                             "the trees of " + key),
                  trees, leaves, counts);
  if (!streams.is_whole()) return refuse();
  TreeSum out;
  out.nodes.reserve(static_cast<size_t>(2 * leaves - trees));
  for (size_t tree = 0; tree < static_cast<size_t>(trees); ++tree) {
    const size_t start = out.nodes.size();
    out.starts.push_back(static_cast<uint32_t>(start));
    if (!ReadNode(streams, tree, 0, out.nodes, start)) return refuse();
  }
  return out;
}

}  // namespace foretell
