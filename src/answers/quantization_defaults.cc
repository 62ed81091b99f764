#include "answers/quantization_defaults.h"

#include <algorithm>
#include <array>
#include <utility>

namespace foretell {
namespace {

// How a tool by that name treats a model beside its packing.
enum class Scope : uint8_t {
  kBlocks,  // linear weights of the decoder's blocks, every expert's too
  kLinear,  // every linear weight but the head; fused experts stay
  kAll,     // every linear weight but head and routers, every expert's too
};

struct NamedPlan {
  std::string_view name;
  Packing packing;
  Scope scope = Scope::kAll;
  std::string_view assumed;
};

// Sources: autoawq 0.2.9, models/base.py (quant_config of its examples) and
// models/*.py (modules_to_not_convert ["gate"]); gptqmodel 5,
// quantization/config.py and models/definitions (routers marked ":!");
// transformers 5.23, utils/quantization_config.py and
// integrations/bitsandbytes.py, hqq.py; llm-compressor 0.8, examples and
// compressed-tensors 0.20, quantization/quant_scheme.py (PRESET_SCHEMES).
const std::array<NamedPlan, 16>& NamedPlans() {
  static const auto& plans = *new std::array<NamedPlan, 16>{{
      {"awq",
       {.format = PackedFormat::kAwq},
       Scope::kBlocks,
       "AutoAWQ 0.2.9: 4 bits, groups of 128, zero points, GEMM; routers and "
       "what lies outside of the blocks stay"},
      {"gptq",
       {.format = PackedFormat::kGptq, .symmetric = true},
       Scope::kBlocks,
       "GPTQModel 5: 4 bits, groups of 128, symmetric; routers and what lies "
       "outside of the blocks stay"},
      {"gptq-int8",
       {.format = PackedFormat::kGptq, .bits = 8, .symmetric = true},
       Scope::kBlocks,
       "GPTQModel 5: 8 bits, groups of 128, symmetric"},
      {"auto-round",
       {.format = PackedFormat::kGptq, .symmetric = true},
       Scope::kBlocks,
       "AutoRound 0.16: 4 bits, groups of 128, symmetric, packed as GPTQ"},
      {"nf4",
       {.format = PackedFormat::kBnb4, .from_file = false},
       Scope::kLinear,
       "bitsandbytes 0.50 through transformers 5.23: blocks of 64, no double "
       "quantization; the head and fused experts stay"},
      {"nf4-dq",
       {.format = PackedFormat::kBnb4,
        .double_quantized = true,
        .from_file = false},
       Scope::kLinear,
       "bitsandbytes 0.50 through transformers 5.23: blocks of 64, double "
       "quantization; the head and fused experts stay"},
      {"fp4",
       {.format = PackedFormat::kBnb4, .from_file = false},
       Scope::kLinear,
       "bitsandbytes 0.50 through transformers 5.23: blocks of 64, no double "
       "quantization; the head and fused experts stay"},
      {"int8",
       {.format = PackedFormat::kBnb8},
       Scope::kLinear,
       "LLM.int8() of bitsandbytes 0.50 through transformers 5.23; the head "
       "and fused experts stay"},
      {"fp8",
       {.format = PackedFormat::kFp8, .scales = ScaleOf::kChannel},
       Scope::kAll,
       "llm-compressor's FP8_DYNAMIC: a scale per channel; the head and "
       "routers stay"},
      {"fp8-block",
       {.format = PackedFormat::kFp8,
        .scales = ScaleOf::kBlock,
        .scale_dtype = DType::kFloat32,
        .scale_name = "weight_scale_inv"},
       Scope::kAll,
       "transformers 5.23, FineGrainedFP8Config: blocks of 128 x 128 with "
       "float32 scales; the head and routers stay"},
      {"w8a8",
       {.format = PackedFormat::kInt8,
        .symmetric = true,
        .scales = ScaleOf::kChannel},
       Scope::kAll,
       "llm-compressor's W8A8: a scale per channel; the head and routers "
       "stay"},
      {"w4a16",
       {.format = PackedFormat::kPackQuantized, .symmetric = true},
       Scope::kAll,
       "llm-compressor's W4A16: groups of 128, symmetric; the head and "
       "routers stay"},
      {"nvfp4",
       {.format = PackedFormat::kNvfp4, .has_input_scale = true},
       Scope::kAll,
       "llm-compressor's NVFP4: groups of 16; the head and routers stay"},
      {"mxfp4",
       {.format = PackedFormat::kMxfp4},
       Scope::kAll,
       "llm-compressor's MXFP4: groups of 32; the head and routers stay"},
      {"hqq",
       {.format = PackedFormat::kHqq, .group_size = 64},
       Scope::kLinear,
       "HQQ 0.2.8 through transformers 5.23: 4 bits, groups of 64; the head "
       "and fused experts stay"},
      {"aqlm",
       {.format = PackedFormat::kAqlm},
       Scope::kBlocks,
       "AQLM 1x16: one codebook of 16 bits for groups of 8"},
  }};
  return plans;
}

}  // namespace

std::optional<WeightPlan> PlanByDefault(std::string_view name,
                                        const std::string& class_name,
                                        DType dtype) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto& plans = NamedPlans();
  const auto row = std::ranges::find_if(plans, [&](const NamedPlan& plan) {
    return std::ranges::equal(plan.name, name, {}, {}, lower);
  });
  if (row == plans.end()) return std::nullopt;
  WeightPlan plan;
  plan.name = row->name;
  plan.class_name = class_name;
  plan.dtype = dtype;
  Packing packing = row->packing;
  packing.compute_dtype = dtype;
  // Scales of compressed-tensors have the model's dtype.
  const bool compressed = packing.scale_name == "weight_scale";
  if (compressed) packing.scale_dtype = dtype;
  plan.rules.push_back({.targets = {}, .packing = std::move(packing)});
  if (row->scope == Scope::kLinear) plan.experts = ExpertWeights::kKept;
  if (row->scope == Scope::kBlocks) {
    plan.only_blocks = true;
    plan.packs_towers = false;
  }
  plan.assumed.emplace_back(row->assumed);
  return plan;
}

std::vector<std::string_view> PlanNames() {
  std::vector<std::string_view> out;
  for (const NamedPlan& plan : NamedPlans()) out.push_back(plan.name);
  return out;
}

}  // namespace foretell
