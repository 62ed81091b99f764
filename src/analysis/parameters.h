// Counts a graph's parameters: in total, by part, active per token, and as the
// folded list of tensors that PyTorch's own recordings use.
//
// Each storage counts once, under the name that named_parameters() meets
// first: a module's own parameters before its children's, children in the
// order of registration. Other names of it are ties.
// Source: torch 2.15, torch/nn/modules/module.py (named_parameters).
#ifndef FORETELL_ANALYSIS_PARAMETERS_H_
#define FORETELL_ANALYSIS_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/figure.h"
#include "base/shape.h"
#include "graph/graph.h"

namespace foretell {

// Tensors whose names differ only in indices and whose shapes are equal:
// "model.layers.#.mlp.up_proj.weight" with indices "0-35".
struct TensorGroup {
  std::string name;
  std::string indices;  // "0-23 x 0-1" for several "#"; empty where none
  Shape shape;
  int64_t count = 1;
  DType dtype = DType::kFloat32;
  RegionKind part = RegionKind::kOther;
  int64_t experts = 0;  // slices of which `experts_per_token` serve a token
  int64_t experts_per_token = 0;
  bool trainable = true;
  bool persistent = true;  // of a buffer: part of the state_dict

  // Elements of all `count` tensors.
  std::optional<int64_t> Elements() const;
};

struct TiedName {
  std::string name;    // "lm_head.weight"
  std::string target;  // "model.embed_tokens.weight"
};

struct PartTotal {
  RegionKind part = RegionKind::kOther;
  Parameters parameters;
};

struct ParameterAnalysis {
  std::vector<TensorGroup> tensors;
  std::vector<TensorGroup> buffers;
  std::vector<TiedName> ties;

  Parameters total;
  Parameters trainable;
  std::vector<PartTotal> parts;  // largest first; parts without any left out
  // Parameters that take part in one token's forward: every expert tensor
  // counts with the share of its experts that a token is sent to.
  Parameters active;
  Parameters expert;     // in expert tensors, all experts
  Parameters embedding;  // in look-up tables that are no output head too
  Bytes buffer_bytes;
};

ParameterAnalysis AnalyzeParameters(const Graph& graph);

// Bytes of all parameters if each element took `dtype`.
Bytes WeightBytes(const ParameterAnalysis& analysis, DType dtype);

// "0-3,7": runs of a list; "0-23 x 0-1" for tuples that form a product, and
// "[[0, 1], [2, 0]]" for those that do not. As the recorder writes them.
std::string FoldIndices(const std::vector<std::vector<int64_t>>& tuples);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_PARAMETERS_H_
