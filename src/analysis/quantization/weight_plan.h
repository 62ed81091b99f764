// Which weights a quantization packs, and how: the plan of one checkpoint.
//
// In: the tensors of a model's class, folded, and the plan. Out: the figures
// of analysis/quantization/quantized_weights.h. Of a class that holds its
// experts as fused tensors the checkpoint holds every expert's projections
// apart, each packed by itself, unless the plan keeps them.
// A weight that the format cannot hold stays as it is, and is named.
//
// Sources: each plan names its own; packing is packed_linear.h's.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_WEIGHT_PLAN_H_
#define FORETELL_ANALYSIS_QUANTIZATION_WEIGHT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/parameters.h"
#include "analysis/quantization/name_pattern.h"
#include "analysis/quantization/packed_linear.h"
#include "analysis/quantization/quantized_weights.h"
#include "base/dtype.h"

namespace foretell {

// One way of packing, for the modules whose names fit one of the targets; for
// all where there are none.
struct PackingRule {
  std::vector<NamePattern> targets;
  Packing packing;
};

enum class ExpertWeights : uint8_t {
  kApart,   // every expert's projections, each a linear weight of its own
  kKept,    // fused tensors that no rule replaces
  kBlocks,  // MXFP4: two tensors for all experts (blocks and scales)
};

struct WeightPlan {
  std::string name;
  std::string class_name;
  DType dtype = DType::kBFloat16;  // of what stays as it is
  std::vector<PackingRule> rules;  // the first that fits holds
  std::vector<NamePattern> skipped;
  ExpertWeights experts = ExpertWeights::kApart;
  bool packs_head = false;
  bool packs_routers = false;
  bool packs_towers = true;
  bool only_blocks = false;  // what lies outside of the decoder's blocks stays
  // Scales of a quantized cache that the file holds, a float32 each, per
  // attention: 2 for keys and values.
  int64_t cache_scales = 0;
  std::vector<std::string> assumed;
};

QuantizedWeights QuantizeByPlan(const std::vector<TensorGroup>& tensors,
                                const WeightPlan& plan);

// What a plan does with one linear weight.
struct PlannedWeight {
  const Packing* packing = nullptr;  // of the plan; null: it stays
  // A pattern of the plan says that it stays, and no habit of the library.
  bool is_skipped = false;
};

// `weight` is one tensor of a checkpoint ([out, in], its indices as `#`) with
// the part of the model that it belongs to, `module` its module's name with
// indices ("model.layers.3.mlp.experts.0.up_proj").
PlannedWeight PlanOfWeight(const WeightPlan& plan, const TensorGroup& weight,
                           const std::string& module);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_WEIGHT_PLAN_H_
