#include "passes/sharding/units.h"

#include <algorithm>
#include <map>

namespace foretell {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, const UnitSetting& setting)
      : graph_(graph), setting_(setting) {}

  std::vector<ShardUnit> Run(std::span<const GradientOf> gradients) {
    FindBlocks();
    if (setting_.has_ends) FindEnds();
    AddParameters(gradients);
    FindSpans();
    ShardUnit& root = units_[0];
    for (ShardUnit& unit : units_) PassDrops(unit.backward_end);
    root.is_root = true;
    root.stays = true;
    if (root.parameters.empty()) {
      units_.erase(units_.begin());
    } else {
      std::ranges::rotate(units_, units_.begin() + 1);
    }
    std::erase_if(units_, [](const ShardUnit& unit) {
      return !unit.is_root && !unit.forward_begin;
    });
    std::ranges::stable_sort(units_, {}, [](const ShardUnit& unit) {
      return unit.is_root ? UINT32_MAX : *unit.forward_end;
    });
    return std::move(units_);
  }

 private:
  // By region: its unit; only blocks below the same region are units, those of
  // the region below which most parameters lie.
  void FindBlocks() {
    const std::vector<RegionId> block = OutermostBlocks(graph_);
    std::map<uint32_t, int64_t> elements;  // by the blocks' parent
    for (const Parameter& parameter : graph_.parameters) {
      const RegionId of = block[parameter.region.index];
      if (!of.valid() || parameter.tied_to) continue;
      elements[graph_[of].parent.index] +=
          graph_[parameter.value].shape.Elements().value_or(0);
    }
    const auto most = std::ranges::max_element(
        elements, {}, [](const auto& entry) { return entry.second; });
    units_.resize(1);
    unit_.assign(graph_.regions.size(), 0);
    if (most == elements.end()) return;
    for (uint32_t i = 0; i < graph_.regions.size(); ++i) {
      if (!block[i].valid() || graph_[block[i]].parent.index != most->first) {
        continue;
      }
      if (block[i] == RegionId{i}) {
        unit_[i] = units_.size();
        units_.emplace_back().copies =
            setting_.copies.empty() ? 1 : setting_.copies[i];
      } else {
        unit_[i] = unit_[block[i].index];
      }
    }
  }

  // torchtitan's units beside the blocks; a tied head lies with the embedding,
  // in the root.
  void FindEnds() {
    if (!graph_.output_embeddings || graph_.input_embeddings.size() != 1) {
      return;
    }
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.tied_to) return;
    }
    const RegionId embedding = graph_.input_embeddings.front();
    unit_[embedding.index] = units_.size();
    units_.emplace_back();
    for (uint32_t i = 0; i < graph_.regions.size(); ++i) {
      const Region& region = graph_.regions[i];
      const bool is_norm = region.kind == RegionKind::kNorm &&
                           region.parent == graph_[embedding].parent;
      if (is_norm || RegionId{i} == *graph_.output_embeddings) {
        unit_[i] = units_.size();
      }
    }
    units_.emplace_back().stays = true;
  }

  void AddParameters(std::span<const GradientOf> gradients) {
    std::vector<bool> seen(graph_.storages.size());
    std::map<ValueId, StorageId> left;
    for (const GradientOf& one : gradients) left[one.leaf] = one.storage;
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      if (parameter.tied_to || seen[value.storage.index]) continue;
      seen[value.storage.index] = true;
      ShardUnit& unit = units_[unit_[parameter.region.index]];
      UnitParameter& one = unit.parameters.emplace_back();
      one.value = parameter.value;
      one.elements = value.shape.Elements().value_or(0);
      const auto gradient = left.find(parameter.value);
      if (gradient == left.end()) continue;
      one.gradient = gradient->second;
      one.gradient_bytes = RoundedUp(
          graph_.storages[gradient->second.index].bytes, setting_.rounding);
      unit.gradient_bytes += one.gradient_bytes;
    }
  }

  void FindSpans() {
    size_t next = 0;
    Phase phase = Phase::kForward;
    for (uint32_t at = 0; at < graph_.steps.size(); ++at) {
      while (next < graph_.phases.size() &&
             graph_.phases[next].first_step <= at) {
        phase = graph_.phases[next++].phase;
      }
      const Step step = graph_.steps[at];
      if (step.kind != Step::Kind::kOperation) continue;
      const RegionId region = graph_.operations[step.index].region;
      ShardUnit& unit = units_[region.valid() ? unit_[region.index] : 0];
      if (phase == Phase::kForward) {
        if (!unit.forward_begin) unit.forward_begin = at;
        unit.forward_end = at + 1;
      } else if (phase == Phase::kBackward) {
        if (!unit.backward_begin) unit.backward_begin = at;
        unit.backward_end = at + 1;
      }
    }
  }

  // What the last operation read goes before anything else happens.
  void PassDrops(std::optional<uint32_t>& end) const {
    while (end && *end < graph_.steps.size() &&
           graph_.steps[*end].kind == Step::Kind::kDrop) {
      ++*end;
    }
  }

  const Graph& graph_;
  const UnitSetting& setting_;
  std::vector<size_t> unit_;  // by region
  std::vector<ShardUnit> units_;
};

}  // namespace

std::vector<RegionId> OutermostBlocks(const Graph& graph) {
  std::vector<RegionId> block(graph.regions.size());
  for (uint32_t i = 0; i < graph.regions.size(); ++i) {
    const Region& region = graph.regions[i];
    if (region.parent.valid()) block[i] = block[region.parent.index];
    if (!block[i].valid() && region.kind == RegionKind::kBlock) {
      block[i] = RegionId{i};
    }
  }
  return block;
}

ShareSize ShareOf(const Shape& shape, int64_t ranks, int64_t rank) {
  const int64_t elements = shape.Elements().value_or(0);
  if (shape.rank() == 0 || shape[0] == 0) return {elements, elements};
  const int64_t rows = (shape[0] + ranks - 1) / ranks;
  const int64_t held = std::clamp<int64_t>(shape[0] - rank * rows, 0, rows);
  const int64_t row = elements / shape[0];
  return {rows * row, held * row};
}

std::vector<ShardUnit> FindUnits(const Graph& graph,
                                 std::span<const GradientOf> gradients,
                                 const UnitSetting& setting) {
  return Finder(graph, setting).Run(gradients);
}

int64_t RoundedUp(int64_t bytes, int64_t rounding) {
  const int64_t rest = bytes % rounding;
  return rest == 0 ? bytes : bytes + rounding - rest;
}

}  // namespace foretell
