#include "graph/graph.h"

#include <algorithm>

#include "base/check.h"

namespace foretell {
namespace {

template <class Item, class Tag>
const Item& At(const std::vector<Item>& items, Id<Tag> id) {
  FORETELL_CHECK(id.index < items.size(), "id out of range");
  return items[id.index];
}

std::string Joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace

std::string_view NameOf(RegionKind kind) {
  switch (kind) {
    case RegionKind::kModel:
      return "model";
    case RegionKind::kBlock:
      return "block";
    case RegionKind::kMixer:
      return "mixer";
    case RegionKind::kAttention:
      return "attention";
    case RegionKind::kMlp:
      return "mlp";
    case RegionKind::kExperts:
      return "experts";
    case RegionKind::kRouter:
      return "router";
    case RegionKind::kNorm:
      return "norm";
    case RegionKind::kEmbedding:
      return "embedding";
    case RegionKind::kHead:
      return "head";
    case RegionKind::kLinear:
      return "linear";
    case RegionKind::kOther:
      return "other";
  }
  FailCheck(__FILE__, __LINE__, "kind", "region kind without a name");
}

std::string_view NameOf(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
  }
  return "";
}

const Value& Graph::operator[](ValueId id) const { return At(values, id); }
const Region& Graph::operator[](RegionId id) const { return At(regions, id); }
const Parameter& Graph::operator[](ParameterId id) const {
  return At(parameters, id);
}

std::span<const ValueId> Graph::InputsOf(const Operation& operation) const {
  return std::span(operands).subspan(operation.first_operand,
                                     operation.input_count);
}

std::span<const ValueId> Graph::OutputsOf(const Operation& operation) const {
  return std::span(operands).subspan(
      operation.first_operand + operation.input_count, operation.output_count);
}

std::span<const Attribute> Graph::AttributesOf(
    const Operation& operation) const {
  return std::span(attributes)
      .subspan(operation.first_attribute, operation.attribute_count);
}

std::span<const Saved> Graph::SavedOf(const Operation& operation) const {
  return std::span(saved).subspan(operation.first_saved, operation.saved_count);
}

const Adapter* Graph::AdapterOf(RegionId region) const {
  const auto at =
      std::ranges::lower_bound(adapters, region, {}, &Adapter::region);
  return at != adapters.end() && at->region == region ? &*at : nullptr;
}

std::string Graph::PathOf(RegionId id) const {
  std::string path;
  for (RegionId at = id; at.valid(); at = (*this)[at].parent) {
    const Region& region = (*this)[at];
    if (region.name.empty()) continue;
    path = path.empty() ? region.name : region.name + "." + path;
  }
  return path;
}

std::string Graph::NameOf(const Parameter& parameter) const {
  return Joined(PathOf(parameter.region), parameter.name);
}

std::string Graph::NameOf(const Buffer& buffer) const {
  return Joined(PathOf(buffer.region), buffer.name);
}

}  // namespace foretell
