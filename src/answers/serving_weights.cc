#include "answers/serving_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "answers/quantization_config.h"
#include "answers/quantization_defaults.h"
#include "answers/quantized_model.h"
#include "answers/read_model.h"
#include "base/lower_case.h"
#include "engines/vllm/memory_weights.h"

namespace foretell {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string TextAt(const ConfigValue& at, std::string_view key) {
  const ConfigValue* value = at.Find(key);
  return value == nullptr ? std::string()
                          : std::string(value->AsString().value_or(""));
}

// The plan that the words mean; its name, as PlanByDefault knows it.
std::string PlanName(const std::string& words, const EngineVersion& version) {
  std::string format = FormatOfName(words);
  const std::string lower = Lower(words);
  if (format == "fbgemm") return "fp8";
  if (format == "fp8") {
    // Qwen's own FP8 files have blocks (Qwen/Qwen3-235B-A22B-FP8).
    return Has(lower, "block") || Has(lower, "qwen/") ? "fp8-block" : "fp8";
  }
  if (format == "int8") return Has(lower, "gptq") ? "gptq-int8" : "w8a8";
  if (format == "nf4") {
    // Published files of bitsandbytes quantize the scales once more, which the
    // loader undoes from 0.10 on (bitsandbytes_loader.py, _dequantize_dq);
    // weights that vLLM quantizes as it loads have plain scales.
    const bool is_file = Has(lower, "bnb-4bit") || Has(lower, "unsloth");
    return is_file && version < EngineVersion{0, 10, 0} ? "nf4-dq" : "nf4";
  }
  if (format == "int4") {
    if (Has(lower, "w4a16") || Has(lower, "compressed")) return "w4a16";
    if (Has(lower, "round")) return "auto-round";
    return Has(lower, "gptq") ? "gptq" : "awq";
  }
  return format;  // "nvfp4", "mxfp4"
}

bool LeavesNothing(const ConfigValue& quantization) {
  for (const char* key : {"ignore", "exclude_modules", "quantized_layers"}) {
    const ConfigValue* list = quantization.Find(key);
    if (list != nullptr &&
        (!list->items().empty() || !list->members().empty())) {
      return false;
    }
  }
  return true;
}

// Where experts hold most of a model, its NVFP4 files pack these alone: the
// lists of nvidia/MiniMax-M2.7-NVFP4, GLM-5.2-NVFP4, Kimi-K2.6-NVFP4 and
// Qwen3.5-397B-A17B-NVFP4 leave attention and shared experts. Nemotron's
// (nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4) have the mixers of
// states in FP8.
void AddExpertsRule(const ReadModel& model, WeightPlan& plan) {
  const auto& tensors = model.parameters.tensors;
  const bool has_experts =
      std::ranges::any_of(tensors, [](const TensorGroup& tensor) {
        return tensor.experts > 0 || Has(tensor.name, ".experts.");
      });
  auto experts =
      NamePattern::Parse(R"(re:.*\.experts\..*)", PatternSyntax::kTargets);
  if (!has_experts || !experts || plan.rules.empty()) return;
  plan.rules.front().targets.push_back(*experts);
  if (!model.built.class_name.starts_with("NemotronH")) return;
  PackingRule rest;
  rest.packing.format = PackedFormat::kFp8;
  for (const char* name :
       {R"(re:.*mixer\.(in|out)_proj.*)", R"(re:.*shared_experts.*)"}) {
    if (auto read = NamePattern::Parse(name, PatternSyntax::kTargets)) {
      rest.targets.push_back(*read);
    }
  }
  plan.rules.push_back(std::move(rest));
}

struct Planned {
  std::optional<WeightPlan> plan;
  bool is_own = false;  // of the configuration
  std::string missing;
};

Planned PlanOf(const ModelConfig& config, const ReadModel& model,
               const ServingSettings& settings, int64_t layers) {
  Planned out;
  const std::string& name = model.built.class_name;
  const DType dtype = model.built.dtype;
  const ConfigValue* own = QuantizationOf(config.root);
  // ModelOpt's own file wraps what config.json holds plainly.
  if (own != nullptr && own->Find("quantization") != nullptr &&
      own->Find("quant_method") == nullptr) {
    own = own->Find("quantization");
  }
  // Nemotron's of late list nothing that stays, which their sizes contradict.
  const bool is_silent = own != nullptr && LeavesNothing(*own) &&
                         TextAt(config.root, "model_type") == "nemotron_h";
  if (own != nullptr && !is_silent) {
    auto read = PlanOfConfig(*own, name, dtype);
    if (auto* plan = std::get_if<WeightPlan>(&read)) {
      out.is_own = true;
      out.plan = std::move(*plan);
      // What loading takes and the settings leave unsaid.
      if (TextAt(config.root, "model_type").starts_with("deepseek_v4")) {
        PackExpertsInFour(*out.plan);
      }
      return out;
    }
    out.missing = std::get<NoPlan>(read).missing;
  }
  std::string words = settings.quantization;
  if (words.empty() && own != nullptr) words = QuantizationFormat(config);
  if (words.empty()) return out;
  const std::string plan = PlanName(words, settings.version);
  out.plan = PlanByDefault(plan, name, dtype);
  if (!out.plan) return out;
  // llm-compressor's examples leave the towers and gated delta nets out
  // (examples/multimodal_vision, examples/quantization_w4a4_fp4/
  // qwen3_next_example.py), bitsandbytes' files the towers; ModelOpt's of
  // latent attention keep the attention (nvidia/DeepSeek-R1-0528-NVFP4-v2).
  out.plan->packs_towers = false;
  // bitsandbytes_loader.py packs every expert, too.
  out.plan->experts = ExpertWeights::kApart;
  const auto keep = [&](std::string_view pattern) {
    if (auto read = NamePattern::Parse(pattern, PatternSyntax::kTargets)) {
      out.plan->skipped.push_back(*read);
    }
  };
  const bool is_awq = Has(Lower(words), "awq");
  if (plan == "nvfp4" || (plan == "w4a16" && !is_awq)) {
    keep("re:.*linear_attn.*");
  }
  if (FormatOfName(words) == "fbgemm") {
    // transformers' FBGEMM recipe for Llama 3.1: no attention, and neither the
    // first nor the last block (meta-llama/Llama-3.1-405B-Instruct-FP8).
    keep("re:.*self_attn.*");
    keep(R"(re:.*layers\.0\..*)");
    keep(fmt::format(R"(re:.*layers\.{}\..*)", layers - 1));
  }
  if (plan == "nvfp4") AddExpertsRule(model, *out.plan);
  return out;
}

// What latent attention keeps beside its own weights: from 0.8 on the packed
// up-projection once more, unpacked (mla/common.py, "we just store fp16/bf16
// copies"); in 0.7 products of it with the projections on both of its sides,
// again in FP8 where the weights are (mla/utils.py of 0.7.3,
// VLLM_MLA_PERFORM_MATRIX_ABSORPTION).
double LatentCopies(const vllm::ServedConfig& served,
                    const ServingSettings& settings, const TensorGroup& tensor,
                    bool is_packed, double width) {
  const auto elements = static_cast<double>(tensor.Elements().value_or(0));
  if (settings.version >= EngineVersion{0, 8, 0}) {
    return is_packed ? elements * width : 0;
  }
  if (settings.version < EngineVersion{0, 7, 0}) return 0;
  const auto heads = static_cast<double>(served.attention_heads());
  const auto rank = static_cast<double>(served.SizeOr({"kv_lora_rank"}, 0));
  const auto hidden = static_cast<double>(served.hidden_size());
  const auto queries = static_cast<double>(
      served.Written("q_lora_rank").value_or(served.hidden_size()));
  const auto rotary =
      static_cast<double>(served.SizeOr({"qk_rope_head_dim"}, 0));
  const auto layers = static_cast<double>(tensor.count);
  const double absorbed = heads * rank * (queries + hidden);
  return layers * (absorbed * (is_packed ? 1 : width) +
                   queries * heads * rotary * width);
}

// A drafter loads beside the model; the launch's flags concern the model.
void AddDrafter(const vllm::ServedConfig& served,
                const ServingSettings& settings, const WeightsCard& card,
                const std::string& format, vllm::WeightsInput& in) {
  if (!settings.speculative) return;
  const SpeculativeSettings& drafter = *settings.speculative;
  const auto width = static_cast<double>(BytesOf(in.dtype));
  const int64_t hidden = served.hidden_size();
  if (drafter.method == "mtp" || drafter.method.ends_with("_mtp")) {
    // Published four-bit checkpoints keep the prediction layer as it was; those
    // in FP8 pack it.
    in.drafter =
        vllm::PredictionLayerBytes(in, hidden, format == "fp8" ? 0 : width);
    return;
  }
  constexpr double kDoubt = 0.02;
  if (drafter.draft) {
    ServingSettings own = settings;
    own.speculative.reset();
    own.lora.reset();
    own.quantization.clear();
    own.cpu_offload_gib = 0;
    own.pipeline_parallel = 1;
    own.pipeline_layers.clear();
    own.tensor_parallel = 1;  // it is split with the model's
    const Bytes bytes = ServedWeights(
        *drafter.draft, vllm::ServedConfig(*drafter.draft), own, card);
    if (const auto value = bytes.any().value()) {
      in.drafter = *value;
      return;
    }
  } else if (!drafter.method.starts_with("eagle")) {
    return;  // n-grams and such load nothing
  }
  // As one of the model's own layers, as EAGLE's are.
  in.drafter = vllm::PredictionLayerBytes(in, hidden, width);
  in.spread += kDoubt;
}

}  // namespace

std::string FormatOfName(std::string_view words) {
  const std::string name = Lower(words);
  const auto has = [&](std::string_view part) { return Has(name, part); };
  if (has("mxfp4")) return "mxfp4";
  if (has("nvfp4") || has("modelopt_fp4") || has("quantization fp4")) {
    return "nvfp4";
  }
  if (has("bitsandbytes") || has("bnb")) return "nf4";
  if (has("fbgemm")) return "fbgemm";
  if (has("fp8")) return "fp8";
  if (has("w8a8") || has("int8")) return "int8";
  if (has("awq") || has("gptq") || has("w4a16") || has("int4") ||
      has("auto_round") || has("auto-round") || has("marlin") || has("wna16")) {
    return "int4";
  }
  return "";
}

std::string QuantizationFormat(const ModelConfig& config) {
  const ConfigValue* own = QuantizationOf(config.root);
  if (own == nullptr) return "";
  std::string words = TextAt(*own, "quant_method") + " " +
                      TextAt(*own, "quant_algo") + " " + TextAt(*own, "format");
  if (const ConfigValue* inner = own->Find("quantization")) {
    words += " " + TextAt(*inner, "quant_algo");
  }
  if (Has(Lower(words), "mixed_precision")) words += " nvfp4";
  if (std::string format = FormatOfName(words); !format.empty()) {
    return format;
  }
  const ConfigValue* bits = own->Find("bits");
  const int64_t width = bits == nullptr ? 0 : bits->AsInteger().value_or(0);
  if (width == 4) return "int4";
  if (width == 8) return "int8";
  return Has(Lower(words), "pack-quantized") ? "int4" : Lower(words);
}

Bytes ServedWeights(const ModelConfig& config, const vllm::ServedConfig& served,
                    const ServingSettings& settings, const WeightsCard& card) {
  BuildOptions options;
  options.dtype = ParseDType(settings.dtype);
  const auto read = ReadModelOf(config, options);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return Bytes::Unknown("the weights: " + refusal->errors.front().what);
  }
  const ReadModel& model = std::get<ReadModel>(read);
  vllm::WeightsInput in;
  in.tensors = model.parameters.tensors;
  in.layers = served.layers();
  in.key_value_heads = served.key_value_heads();
  in.dtype = ParseDType(settings.dtype).value_or(DType::kBFloat16);
  in.capability = card.capability;
  in.is_nvidia = card.is_nvidia;
  in.is_amd = card.is_amd;
  in.tables = vllm::RotaryTables(served, in.dtype);
  if (const ConfigValue* vision = served.FindInRoot("vision_config");
      vision != nullptr && vision->is_object()) {
    for (const char* key : {"num_heads", "num_attention_heads"}) {
      const ConfigValue* heads = vision->Find(key);
      if (heads != nullptr) in.tower_heads = heads->AsInteger().value_or(0);
    }
  }
  if (const ConfigValue* vision = served.FindInRoot("vision_config");
      vision != nullptr && served.text_type().starts_with("qwen3_vl")) {
    // qwen3_vl.py, deepstack_input_embeds: a row for every token of a batch.
    const ConfigValue* levels = vision->Find("deepstack_visual_indexes");
    const size_t count =
        levels == nullptr ? 0 : std::min<size_t>(levels->items().size(), 64);
    in.tables += static_cast<double>(count) *
                 static_cast<double>(settings.max_num_batched_tokens) *
                 static_cast<double>(served.hidden_size()) *
                 static_cast<double>(BytesOf(in.dtype));
  }
  for (const TiedName& tie : model.parameters.ties) {
    in.is_tied = in.is_tied || tie.name.find("lm_head") != std::string::npos;
  }
  Planned planned = PlanOf(config, model, settings, in.layers);
  const auto width = static_cast<double>(BytesOf(in.dtype));
  if (planned.plan) planned.plan->dtype = in.dtype;
  // Marlin takes a scale for 128 elements of a row, where blocks had one
  // (quantization/utils/marlin_utils_fp8.py); it serves cards before 8.9, and
  // the experts where it is asked for.
  constexpr double kMarlinGroup = 128;
  const bool has_blocks =
      planned.plan && !planned.plan->rules.empty() &&
      planned.plan->rules.front().packing.format == PackedFormat::kFp8 &&
      planned.plan->rules.front().packing.scales == ScaleOf::kBlock;
  const bool is_old =
      card.is_nvidia && card.capability > 0 && card.capability < 89;
  const bool is_asked = settings.moe_backend == "marlin";
  for (const TensorGroup& tensor : in.tensors) {
    const auto elements = tensor.Elements();
    if (!elements) {
      return Bytes::Unknown("a tensor's size is past what can be counted");
    }
    double bytes = static_cast<double>(*elements) * width;
    if (settings.language_model_only && vllm::IsTower(tensor)) {
      bytes = 0;  // not loaded
    } else if (planned.plan) {
      const double whole = bytes;
      const QuantizedWeights packed = QuantizeByPlan({tensor}, *planned.plan);
      bytes = packed.memory.any().value().value_or(bytes);
      const bool is_expert = tensor.experts > 0 || Has(tensor.name, "experts.");
      if (has_blocks && bytes < whole && (is_old || (is_asked && is_expert))) {
        bytes += static_cast<double>(*elements) * width / kMarlinGroup;
      }
    }
    const double whole = static_cast<double>(*elements) * width;
    if (tensor.name.ends_with("kv_b_proj.weight")) {
      in.copies += LatentCopies(served, settings, tensor, bytes < whole, width);
    }
    in.bytes.push_back(bytes);
  }
  const std::string format = planned.is_own ? QuantizationFormat(config)
                             : planned.plan
                                 ? FormatOfName(settings.quantization)
                                 : std::string();
  in.are_experts_padded = format == "mxfp4";
  if (planned.plan) in.spread = planned.is_own ? 0.015 : 0.03;
  if (Has(Lower(settings.quantization), "unsloth") && format == "nf4") {
    // Its files keep some linear layers in 16 bits; fitted on three starts
    // (Qwen3-8B, Qwen2.5-3B, Qwen2.5-VL-7B): 0.8 to 2.7 % of the elements.
    constexpr double kKept = 0.014;
    for (size_t i = 0; i < in.tensors.size(); ++i) {
      const double whole =
          static_cast<double>(in.tensors[i].Elements().value_or(0)) * width;
      if (in.bytes[i] < whole) in.bytes[i] += kKept * (whole - in.bytes[i]);
    }
  }
  AddDrafter(served, settings, card, format, in);
  return vllm::WeightsOfRank(in, settings);
}

}  // namespace foretell
