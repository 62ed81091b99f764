// The text form of a graph: one line per step, under the regions that ran it.
//
//   model.layers.0.self_attn.q_proj
//     %41 bf16[64, 2048] = aten.mm.default(%39, %40)
//     drop %40
// A step of several phases has a line "--- backward" where each begins.
// Parameters and buffers are written by name, inputs as "input.0". It is what
// `foretell graph` prints and what tests compare.
#ifndef FORETELL_GRAPH_TEXT_H_
#define FORETELL_GRAPH_TEXT_H_

#include <string>

#include "graph/graph.h"

namespace foretell {

std::string ToText(const Graph& graph);

// "bf16[1, 64, 2048]"
std::string DescribeValue(const Value& value);

}  // namespace foretell

#endif  // FORETELL_GRAPH_TEXT_H_
