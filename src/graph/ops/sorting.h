// Operations that order elements or count them.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/Sorting.cpp,
// cuda/SummaryOps.cu (histc).
#ifndef FORETELL_GRAPH_OPS_SORTING_H_
#define FORETELL_GRAPH_OPS_SORTING_H_

#include <cstdint>
#include <span>
#include <utility>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> SortingOperations();

// The `count` largest of the last axis, and where they were (int64).
std::pair<Tensor, Tensor> TopK(Tensor x, int64_t count);
// The largest of the last axis, which stays as 1 or goes, and where it is
// (int64).
std::pair<Tensor, Tensor> MaxLast(Tensor x, bool keep = true);
// Along the last axis, and where each was (int64).
std::pair<Tensor, Tensor> Sort(Tensor x);
// How many elements fall into each of `bins` equal ranges: [bins].
Tensor Histogram(Tensor x, int64_t bins);
// Where x is not zero: [count, rank] int64. How many there are depends on the
// data; the caller says how many it assumes.
Tensor Nonzero(Tensor x, int64_t count);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_SORTING_H_
