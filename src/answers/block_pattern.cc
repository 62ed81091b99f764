#include "answers/block_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace foretell {
namespace {

// No published pattern of layers is longer.
constexpr int64_t kLongestPeriod = 16;

// Per list of blocks, what each of them is made of, as one text.
using Signatures = std::map<std::string, std::vector<std::string>>;

Signatures SignaturesOf(const BuiltModel& built) {
  const Graph& graph = *built.graph;
  std::vector<int64_t> block(graph.regions.size(), -1);
  std::vector<std::string> list(graph.regions.size());
  Signatures out;
  for (size_t i = 0; i < graph.regions.size(); ++i) {
    const Region& region = graph.regions[i];
    if (region.kind == RegionKind::kBlock) {
      list[i] = graph.PathOf(region.parent);
      block[i] = static_cast<int64_t>(out[list[i]].size());
      out[list[i]].emplace_back();
    } else if (region.parent.valid()) {
      list[i] = list[region.parent.index];
      block[i] = block[region.parent.index];
    }
  }
  const auto note = [&](RegionId region, const std::string& name,
                        ValueId value) {
    if (block[region.index] < 0) return;
    std::string& text =
        out[list[region.index]][static_cast<size_t>(block[region.index])];
    text += graph.regions[region.index].name + "." + name +
            graph[value].shape.ToString();
  };
  for (const Parameter& parameter : graph.parameters) {
    note(parameter.region, parameter.name, parameter.value);
  }
  for (const Buffer& buffer : graph.buffers) {
    note(buffer.region, buffer.name, buffer.value);
  }
  // A list's own states, and of several lists' those that may be its own.
  const std::vector<LayerState>& states = built.model->states;
  for (auto& [path, blocks] : out) {
    if (blocks.empty() || states.size() % blocks.size() != 0) continue;
    const size_t each = states.size() / blocks.size();
    for (size_t i = 0; i < states.size(); ++i) {
      const LayerState& state = states[i];
      blocks[i / each] +=
          fmt::format("{} {} {} {} {};", NameOf(state.kind), state.heads,
                      state.key_dim, state.value_dim, state.window);
    }
  }
  return out;
}

// The shortest period after the fewest first blocks; the first always differs,
// since what comes before it does.
std::optional<BlockPattern> PatternOf(const std::string& list,
                                      const std::vector<std::string>& blocks) {
  const auto count = static_cast<int64_t>(blocks.size());
  for (int64_t period = 1; period <= kLongestPeriod; ++period) {
    int64_t first = count;
    while (first > period &&
           blocks[static_cast<size_t>(first - 1)] ==
               blocks[static_cast<size_t>(first - 1 - period)]) {
      --first;
    }
    first = std::max<int64_t>(1, first - period);
    if (first + 3 * period <= count && first <= kLongestPeriod) {
      return BlockPattern{list, count, first, period};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<BlockPattern> PatternsOf(const BuiltModel& built) {
  std::vector<BlockPattern> out;
  for (const auto& [list, blocks] : SignaturesOf(built)) {
    const auto pattern = PatternOf(list, blocks);
    if (!pattern) return {};
    out.push_back(*pattern);
  }
  return out;
}

std::vector<RepeatedBlocks> RepeatsIn(const Graph& graph,
                                      std::span<const BlockPattern> patterns,
                                      int64_t compiled,
                                      std::optional<int64_t> more) {
  std::vector<RepeatedBlocks> out;
  for (const BlockPattern& pattern : patterns) {
    RepeatedBlocks repeat;
    for (const Region& region : graph.regions) {
      if (region.kind != RegionKind::kBlock) continue;
      // Adapters put names of their own before the model's.
      const std::string path = graph.PathOf(region.parent);
      if (path != pattern.list && !path.ends_with("." + pattern.list)) continue;
      repeat.list = region.parent;
      break;
    }
    repeat.first = pattern.first;
    repeat.period = pattern.period;
    repeat.copies =
        more.value_or(pattern.blocks - compiled) / pattern.period + 1;
    out.push_back(repeat);
  }
  return out;
}

}  // namespace foretell
