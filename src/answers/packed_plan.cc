#include "answers/packed_plan.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "analysis/quantization/packed_linear.h"
#include "answers/quantized_model.h"

namespace foretell {
namespace {

constexpr std::string_view kWeight = ".weight";

std::string ModuleOf(const std::string& name) {
  return name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size())
                                 : name;
}

TensorGroup GroupOf(const std::string& name, const std::vector<int64_t>& shape,
                    RegionKind part) {
  TensorGroup out;
  out.name = WithoutIndices(name).name;
  out.shape = Shape(std::span<const int64_t>(shape));
  out.part = part;
  return out;
}

// gpt-oss: all experts' blocks of 32 elements with their exponents
// (transformers 5.23, integrations/mxfp4.py, Mxfp4GptOssExperts).
std::vector<ExpectedTensor> BlocksOf(const StoredPiece& piece) {
  constexpr int64_t kBlock = 32;
  constexpr int64_t kBlockBytes = kBlock / 2;
  const int64_t in = piece.shape[1];
  const int64_t out = piece.shape[2];
  if (in % kBlock != 0) return {};
  ExpectedTensor blocks;
  blocks.name = piece.name + "_blocks";
  blocks.dtype = "U8";
  blocks.shape = {piece.shape[0], out, in / kBlock, kBlockBytes};
  ExpectedTensor scales = blocks;
  scales.name = piece.name + "_scales";
  scales.shape.pop_back();
  return {std::move(blocks), std::move(scales)};
}

// What one library calls a scale of FP8 and another so: transformers'
// FP8Linear, and AutoFP8 0.1 and vLLM (quantization/fp8.py).
std::string OtherSuffix(std::string_view suffix) {
  if (suffix == "weight_scale_inv") return "weight_scale";
  if (suffix == "input_scale") return "activation_scale";
  return "";
}

std::vector<ExpectedTensor> LinearOf(const StoredPiece& piece,
                                     const Packing& packing, bool is_turned) {
  const int64_t out = piece.shape[is_turned ? 1 : 0];
  const int64_t in = piece.shape[is_turned ? 0 : 1];
  std::vector<ExpectedTensor> tensors;
  for (const PackedTensor& packed : PackLinear(out, in, packing)) {
    if (!packed.in_file) continue;
    ExpectedTensor next;
    next.name = ModuleOf(piece.name) + "." + packed.suffix;
    if (const std::string other = OtherSuffix(packed.suffix); !other.empty()) {
      next.other_name = ModuleOf(piece.name) + "." + other;
    }
    next.dtype = packed.dtype;
    next.shape.assign(packed.shape.dims().begin(), packed.shape.dims().end());
    next.is_required = packed.in_memory;
    next.has_shape = packed.bytes.is_exact();
    tensors.push_back(std::move(next));
  }
  return tensors;
}

}  // namespace

PackedPlan::PackedPlan(const ModelConfig& config, const ReadModel& model) {
  auto plan = PlanAsConfigured(config, model);
  if (!plan) return;
  if (const auto* none = std::get_if<NoPlan>(&*plan)) {
    missing_ = none->missing;
    return;
  }
  plan_ = std::move(std::get<WeightPlan>(*plan));
  for (const TensorGroup& group : model.parameters.tensors) {
    parts_.emplace(group.name, group.part);
  }
}

RegionKind PackedPlan::PartOf(const std::string& name) const {
  const auto found = parts_.find(WithoutIndices(name).name);
  return found == parts_.end() ? RegionKind::kOther : found->second;
}

PackedExpectation PackedPlan::Of(const DerivedTensor& tensor,
                                 const StoredPiece& piece) const {
  PackedExpectation out;
  if (!plan_ || tensor.is_buffer) return out;
  const RegionKind part = PartOf(tensor.name);
  const PlannedWeight derived = PlanOfWeight(
      *plan_, GroupOf(tensor.name, tensor.shape, part), ModuleOf(tensor.name));
  const PlannedWeight stored = PlanOfWeight(
      *plan_, GroupOf(piece.name, piece.shape, part), ModuleOf(piece.name));
  out.is_skipped = derived.is_skipped || stored.is_skipped;
  if (out.is_skipped) return out;
  const bool is_fused = tensor.shape.size() == 3;
  if (is_fused && plan_->experts == ExpertWeights::kKept) return out;
  if (is_fused && plan_->experts == ExpertWeights::kBlocks) {
    if (piece.shape.size() == 3) out.tensors = BlocksOf(piece);
    return out;
  }
  if (stored.packing == nullptr || piece.shape.size() != 2) return out;
  const bool is_turned = plan_->class_name.starts_with("GPT2") &&
                         piece.name.find(".h.") != std::string::npos;
  out.tensors = LinearOf(piece, *stored.packing, is_turned);
  return out;
}

bool HasExpectedShape(const ExpectedTensor& expected,
                      const StoredTensor& stored) {
  if (!expected.has_shape || stored.shape == expected.shape) return true;
  const auto is_one = [](const std::vector<int64_t>& shape) {
    return std::ranges::all_of(shape, [](int64_t dim) { return dim == 1; });
  };
  if (is_one(stored.shape) && is_one(expected.shape)) return true;
  return stored.dtype == "I8" && expected.dtype == "I32" &&
         expected.name.ends_with("weight_zero_point");
}

bool HasExpectedType(const ExpectedTensor& expected,
                     const StoredTensor& stored) {
  if (stored.dtype == expected.dtype) return true;
  static constexpr std::array<std::string_view, 3> kFloats = {"F16", "BF16",
                                                              "F32"};
  const auto is_float = [](std::string_view dtype) {
    return std::ranges::find(kFloats, dtype) != kFloats.end();
  };
  if (is_float(expected.dtype)) {
    // Exponents alone, of blocks of FP8 that were trained so.
    return is_float(stored.dtype) || stored.dtype == "F8_E8M0";
  }
  if (expected.dtype == "U8") return stored.dtype == "F8_E8M0";
  return stored.dtype == "I8" && expected.name.ends_with("weight_zero_point");
}

}  // namespace foretell
