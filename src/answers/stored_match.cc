#include "answers/stored_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "answers/packed_names.h"

namespace foretell {
namespace {

// The first `parts` parts of a name with a dot behind; empty where it has no
// more than those.
std::string Head(const std::string& name, int parts) {
  size_t dot = std::string::npos;
  for (size_t from = 0; parts > 0; --parts) {
    dot = name.find('.', from);
    if (dot == std::string::npos) return "";
    from = dot + 1;
  }
  return name.substr(0, dot + 1);
}

// The front that most names share, one part long.
std::string CommonHead(const std::vector<DerivedTensor>& tensors) {
  std::unordered_map<std::string, size_t> counts;
  for (const DerivedTensor& tensor : tensors) ++counts[Head(tensor.name, 1)];
  for (const auto& [head, count] : counts) {
    if (!head.empty() && count * 2 > tensors.size()) return head;
  }
  return "";
}

}  // namespace

StoredMatch::StoredMatch(const Checkpoint& checkpoint, std::string family,
                         std::string class_name, const GgufShapes& shapes)
    : checkpoint_(checkpoint),
      family_(std::move(family)),
      class_name_(std::move(class_name)),
      shapes_(shapes),
      prefixes_{{"", ""}} {
  by_name_.reserve(checkpoint.tensors.size());
  for (const StoredTensor& tensor : checkpoint.tensors) {
    by_name_.emplace(tensor.name, &tensor);
  }
}

const StoredTensor* StoredMatch::FindTensor(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const StoredTensor* StoredMatch::FindPacked(const std::string& name) const {
  constexpr std::string_view kWeight = ".weight";
  const std::string module = name.ends_with(kWeight)
                                 ? name.substr(0, name.size() - kWeight.size())
                                 : name;
  for (const std::string_view ending : PackedWeightNames()) {
    const StoredTensor* tensor = FindTensor(module + std::string(ending));
    if (tensor != nullptr) return tensor;
  }
  return nullptr;
}

std::string StoredMatch::Apply(const Prefix& prefix, const std::string& name) {
  if (!name.starts_with(prefix.taken)) return "";
  return prefix.added + name.substr(prefix.taken.size());
}

int64_t StoredMatch::Hits(const std::vector<StoredPiece>& pieces) const {
  int64_t hits = 0;
  for (const StoredPiece& piece : pieces) {
    if (FindTensor(piece.name) != nullptr ||
        FindPacked(piece.name) != nullptr) {
      ++hits;
    }
  }
  return hits;
}

std::vector<std::vector<StoredPiece>> StoredMatch::Spellings(
    const DerivedTensor& tensor) const {
  if (checkpoint_.format == CheckpointFormat::kGguf) {
    return GgufSpellings(family_, tensor.name, tensor.shape, shapes_);
  }
  std::vector<std::vector<StoredPiece>> out;
  out.push_back(StoredAs(family_, class_name_, tensor.name, tensor.shape));
  if (out.front().size() != 1 || out.front()[0].name != tensor.name) {
    out.push_back({{tensor.name, tensor.shape}});
  }
  if (std::string old = LegacyName(tensor.name); !old.empty()) {
    out.push_back({{std::move(old), tensor.shape}});
  }
  return out;
}

void StoredMatch::LearnPrefix(const std::vector<DerivedTensor>& tensors) {
  if (checkpoint_.format == CheckpointFormat::kGguf) return;
  const std::string own = CommonHead(tensors);
  std::set<std::string> fronts;
  for (const StoredTensor& tensor : checkpoint_.tensors) {
    for (const int parts : {1, 2}) {
      // A checkpoint of many parts has a dozen fronts; names without any
      // common front would give as many as there are tensors.
      if (fronts.size() >= 64) break;
      if (std::string head = Head(tensor.name, parts); !head.empty()) {
        fronts.insert(std::move(head));
      }
    }
  }
  std::vector<Prefix> candidates = {{"", ""}};
  if (!own.empty()) candidates.push_back({own, ""});
  for (const std::string& front : fronts) {
    candidates.push_back({"", front});
    if (!own.empty()) candidates.push_back({own, front});
  }
  // A spread of the tensors tells as much as all of them.
  constexpr size_t kLooked = 200;
  const size_t step = tensors.size() / kLooked + 1;
  std::vector<std::pair<int64_t, size_t>> scores;
  for (size_t i = 0; i < candidates.size(); ++i) {
    int64_t hits = 0;
    for (size_t at = 0; at < tensors.size(); at += step) {
      for (const std::vector<StoredPiece>& pieces : Spellings(tensors[at])) {
        const std::string name = Apply(candidates[i], pieces.front().name);
        if (!name.empty() && Hits({{name, {}}}) > 0) {
          ++hits;
          break;
        }
      }
    }
    scores.emplace_back(-hits, i);
  }
  std::ranges::sort(scores);
  prefixes_.clear();
  for (const auto& [hits, index] : scores) {
    if (hits == 0 && !prefixes_.empty()) break;
    prefixes_.push_back(candidates[index]);
    // Parts of one model may lie under prefixes of their own: a head does.
    if (prefixes_.size() == 4) break;
  }
  // The plain name last, for what lies outside the prefix.
  if (!prefixes_.front().taken.empty() || !prefixes_.front().added.empty()) {
    prefixes_.push_back({"", ""});
  }
}

std::string StoredMatch::PrefixNote() const {
  const Prefix& prefix = prefixes_.front();
  if (prefix.taken.empty() && prefix.added.empty()) return "";
  if (prefix.taken.empty()) {
    return fmt::format("with {} in front", prefix.added);
  }
  if (prefix.added.empty()) return fmt::format("without {}", prefix.taken);
  return fmt::format("with {} in place of {}", prefix.added, prefix.taken);
}

std::vector<StoredPiece> StoredMatch::PiecesOf(
    const DerivedTensor& tensor) const {
  std::vector<StoredPiece> best;
  int64_t most = -1;
  const auto spellings = Spellings(tensor);
  for (const Prefix& prefix : prefixes_) {
    for (const std::vector<StoredPiece>& pieces : spellings) {
      std::vector<StoredPiece> named;
      for (const StoredPiece& piece : pieces) {
        std::string name = Apply(prefix, piece.name);
        if (name.empty()) break;
        named.push_back({std::move(name), piece.shape});
      }
      if (named.size() != pieces.size()) continue;
      const int64_t hits = Hits(named);
      if (hits > most) {
        most = hits;
        best = std::move(named);
      }
      if (hits == static_cast<int64_t>(pieces.size())) return best;
    }
  }
  return best;
}

}  // namespace foretell
