// What is gathered, reduced and freed together: the blocks of a model, each a
// unit, and the root, which holds everything else.
//
// In: a graph with its backward. Out: by unit, its parameters, and when its
// operations run.
//
// Units are the blocks of the list of modules that holds most parameters: of an
// encoder and a decoder, one of the two. torchtitan has two units more, the
// embedding, and the last norm with the head, where those are not tied.
#ifndef FORETELL_PASSES_SHARDING_UNITS_H_
#define FORETELL_PASSES_SHARDING_UNITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace foretell {

// What the backward leaves for a parameter.
struct GradientOf {
  ValueId leaf;  // the parameter
  StorageId storage;
};

struct UnitParameter {
  ValueId value;
  int64_t elements = 0;
  std::optional<StorageId> gradient;  // where it trains
  int64_t gradient_bytes = 0;         // whole, rounded
};

struct ShardUnit {
  std::vector<UnitParameter> parameters;  // each storage once
  int64_t copies = 1;                     // of such units in the whole model
  bool stays = false;    // whole from its forward to the end of its backward
  bool is_root = false;  // begins before all, ends behind all
  int64_t gradient_bytes = 0;  // as the backward leaves them, whole
  // Indices into Graph::steps; nothing where none of its operations is there.
  std::optional<uint32_t> forward_begin;
  std::optional<uint32_t> forward_end;  // behind its last
  std::optional<uint32_t> backward_begin;
  std::optional<uint32_t> backward_end;
};

// By region, the outermost block that it lies in, or is; none outside blocks.
std::vector<RegionId> OutermostBlocks(const Graph& graph);

struct UnitSetting {
  bool has_ends = false;
  int64_t rounding = 1;  // that gradients' sizes are rounded up to
  // How often each region happens in the whole model; once each where empty.
  std::span<const int64_t> copies = {};
};

// In the order in which their forwards end.
std::vector<ShardUnit> FindUnits(const Graph& graph,
                                 std::span<const GradientOf> gradients,
                                 const UnitSetting& setting);

int64_t RoundedUp(int64_t bytes, int64_t rounding);

// Elements of a share along the first dimension: filled up, as on every rank,
// and those that `rank` really holds.
struct ShareSize {
  int64_t filled = 0;
  int64_t held = 0;
};
ShareSize ShareOf(const Shape& shape, int64_t ranks, int64_t rank);

}  // namespace foretell

#endif  // FORETELL_PASSES_SHARDING_UNITS_H_
