#include "analysis/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/checked.h"

namespace foretell {
namespace {

// A name with its indices taken out.
struct FoldedName {
  std::string name;
  std::vector<int64_t> indices;
};

// Only parts after the first can be indices: "(?<=\.)\d+(?=\.|$)".
FoldedName Fold(const std::string& name) {
  FoldedName out;
  size_t start = 0;
  while (start <= name.size()) {
    size_t end = name.find('.', start);
    if (end == std::string::npos) end = name.size();
    const std::string_view part(name.data() + start, end - start);
    int64_t index = 0;
    const auto [stop, error] =
        std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = start > 0 && !part.empty() && error == std::errc() &&
                          stop == part.data() + part.size() &&
                          part.front() != '-';
    if (start > 0) out.name += '.';
    if (is_index) {
      out.indices.push_back(index);
      out.name += '#';
    } else {
      out.name += part;
    }
    start = end + 1;
  }
  return out;
}

std::string Runs(const std::vector<int64_t>& values) {
  std::string out;
  for (size_t i = 0; i < values.size();) {
    size_t last = i;
    while (last + 1 < values.size() && values[last + 1] == values[last] + 1) {
      ++last;
    }
    if (!out.empty()) out += ",";
    out += std::to_string(values[i]);
    if (last > i) out += "-" + std::to_string(values[last]);
    i = last + 1;
  }
  return out;
}

// What a part of the model is, by the nearest region that says so. A norm
// inside attention is a norm; a projection inside attention is attention.
RegionKind PartOf(const Graph& graph, RegionId id) {
  for (RegionId at = id; at.valid(); at = graph[at].parent) {
    switch (graph[at].kind) {
      case RegionKind::kLinear:
      case RegionKind::kBlock:
      case RegionKind::kModel:
      case RegionKind::kOther:
        continue;
      default:
        return graph[at].kind;
    }
  }
  return RegionKind::kOther;
}

// Collects tensors into groups, in the order of their first member.
class Folder {
 public:
  void Add(const std::string& name, TensorGroup group) {
    FoldedName folded = Fold(name);
    const std::string key = folded.name + "\n" + group.shape.ToString() + "\n" +
                            std::string(NameOf(group.dtype));
    const auto [at, is_new] = places_.try_emplace(key, groups_.size());
    if (is_new) {
      group.name = folded.name;
      group.count = 0;
      groups_.push_back(std::move(group));
      tuples_.emplace_back();
    }
    ++groups_[at->second].count;
    tuples_[at->second].push_back(std::move(folded.indices));
  }

  std::vector<TensorGroup> Take() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].indices = FoldIndices(tuples_[i]);
    }
    return std::move(groups_);
  }

 private:
  std::map<std::string, size_t, std::less<>> places_;
  std::vector<TensorGroup> groups_;
  std::vector<std::vector<std::vector<int64_t>>> tuples_;
};

// Regions as named_parameters() visits them: a module, then its children.
std::vector<RegionId> VisitOrder(const Graph& graph) {
  std::vector<std::vector<RegionId>> children(graph.regions.size());
  for (uint32_t i = 1; i < graph.regions.size(); ++i) {
    children[graph.regions[i].parent.index].push_back(RegionId{i});
  }
  std::vector<RegionId> order;
  std::vector<RegionId> pending;
  if (!graph.regions.empty()) pending.push_back(RegionId{0});
  while (!pending.empty()) {
    const RegionId at = pending.back();
    pending.pop_back();
    order.push_back(at);
    const auto& below = children[at.index];
    pending.insert(pending.end(), below.rbegin(), below.rend());
  }
  return order;
}

template <class Item>
std::vector<std::vector<const Item*>> ByRegion(const Graph& graph,
                                               const std::vector<Item>& items) {
  std::vector<std::vector<const Item*>> out(graph.regions.size());
  for (const Item& item : items) out[item.region.index].push_back(&item);
  return out;
}

TensorGroup GroupOf(const Graph& graph, const Parameter& parameter) {
  TensorGroup group;
  group.shape = graph[parameter.value].shape;
  group.dtype = graph[parameter.value].dtype;
  group.part = PartOf(graph, parameter.region);
  group.experts = parameter.experts;
  group.experts_per_token = parameter.experts_per_token;
  group.trainable = parameter.trainable;
  return group;
}

// Elements that serve one token: all, or the chosen experts' share.
std::optional<int64_t> ActiveElements(const TensorGroup& group) {
  const auto elements = group.Elements();
  if (!elements || group.experts == 0) return elements;
  return CheckedMul(*elements / group.experts, group.experts_per_token);
}

void Total(ParameterAnalysis& out) {
  std::map<RegionKind, Parameters> parts;
  for (const TensorGroup& group : out.tensors) {
    const Parameters elements = Parameters::Exact(group.Elements());
    out.total += elements;
    if (group.trainable) out.trainable += elements;
    parts[group.part] += elements;
    out.active += Parameters::Exact(ActiveElements(group));
    if (group.experts > 0) out.expert += elements;
    const bool is_tied = std::ranges::any_of(
        out.ties,
        [&](const TiedName& tie) { return tie.target == group.name; });
    if (group.part == RegionKind::kEmbedding && !is_tied) {
      out.embedding += elements;
    }
  }
  for (auto& [part, parameters] : parts) {
    out.parts.push_back({part, parameters});
  }
  std::ranges::stable_sort(out.parts, [](const auto& a, const auto& b) {
    return a.parameters.any().value() > b.parameters.any().value();
  });
  for (const TensorGroup& group : out.buffers) {
    const auto elements = group.Elements();
    out.buffer_bytes += Bytes::Exact(
        elements ? CheckedMul(*elements, BytesOf(group.dtype)) : std::nullopt);
  }
}

}  // namespace

std::optional<int64_t> TensorGroup::Elements() const {
  const auto each = shape.Elements();
  return each ? CheckedMul(*each, count) : std::nullopt;
}

std::string FoldIndices(const std::vector<std::vector<int64_t>>& tuples) {
  if (tuples.empty() || tuples.front().empty()) return "";
  const size_t width = tuples.front().size();
  if (width == 1) {
    std::vector<int64_t> values;
    for (const auto& tuple : tuples) values.push_back(tuple[0]);
    return Runs(values);
  }
  std::vector<std::set<int64_t>> columns(width);
  for (const auto& tuple : tuples) {
    for (size_t i = 0; i < width; ++i) columns[i].insert(tuple[i]);
  }
  size_t product = 1;
  for (const auto& column : columns) product *= column.size();
  if (product != tuples.size()) return fmt::format("{}", tuples);
  std::string out;
  for (const auto& column : columns) {
    if (!out.empty()) out += " x ";
    out += Runs({column.begin(), column.end()});
  }
  return out;
}

ParameterAnalysis AnalyzeParameters(const Graph& graph) {
  ParameterAnalysis out;
  const auto parameters = ByRegion(graph, graph.parameters);
  const auto buffers = ByRegion(graph, graph.buffers);
  std::map<StorageId, std::string> first_names;
  Folder tensor_folder;
  Folder buffer_folder;
  for (const RegionId region : VisitOrder(graph)) {
    for (const Parameter* parameter : parameters[region.index]) {
      const std::string name = graph.NameOf(*parameter);
      const auto [at, is_first] =
          first_names.try_emplace(graph[parameter->value].storage, name);
      if (is_first) {
        tensor_folder.Add(name, GroupOf(graph, *parameter));
      } else {
        out.ties.push_back({name, at->second});
      }
    }
    for (const Buffer* buffer : buffers[region.index]) {
      TensorGroup group;
      group.shape = graph[buffer->value].shape;
      group.dtype = graph[buffer->value].dtype;
      group.persistent = buffer->persistent;
      buffer_folder.Add(graph.NameOf(*buffer), std::move(group));
    }
  }
  out.tensors = tensor_folder.Take();
  out.buffers = buffer_folder.Take();
  Total(out);
  return out;
}

Bytes WeightBytes(const ParameterAnalysis& analysis, DType dtype) {
  return Bytes(analysis.total.any().Times(BytesOf(dtype)).In(Unit::kBytes));
}

}  // namespace foretell
