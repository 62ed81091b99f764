#include "answers/quantization_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {
namespace {

const ConfigValue* Get(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string TextOf(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = Get(object, key);
  return value == nullptr ? "" : std::string(value->AsString().value_or(""));
}

class PlanReader {
 public:
  PlanReader(const ConfigValue& object, const std::string& class_name,
             DType dtype)
      : object_(object) {
    plan_.class_name = class_name;
    plan_.dtype = dtype;
  }

  std::variant<WeightPlan, NoPlan> Read() {
    std::string method = TextOf(object_, "quant_method");
    // ModelOpt's own file names an algorithm only.
    if (method.empty() && Get(object_, "quant_algo")) method = "modelopt";
    if (Flag(object_, "load_in_4bit") || Flag(object_, "load_in_8bit")) {
      method = "bitsandbytes";
    }
    plan_.name = method;
    if (!Dispatch(method)) return NoPlan{"how " + method + " packs"};
    if (!missing_.empty()) return NoPlan{missing_};
    return std::move(plan_);
  }

 private:
  bool Dispatch(const std::string& method) {
    if (method == "gptq" || method == "auto-gptq") return ReadGptq();
    if (method == "awq") return ReadAwq();
    if (method == "bitsandbytes") return ReadBitsandbytes();
    if (method == "fp8") return ReadFp8();
    if (method == "fbgemm_fp8") return ReadFbgemm();
    if (method == "compressed-tensors") return ReadCompressed();
    if (method == "mxfp4") return ReadMxfp4();
    if (method == "modelopt" || method == "modelopt_fp4") return ReadModelopt();
    if (method == "auto-round" || method == "intel/auto-round") {
      return ReadAutoRound();
    }
    if (method == "hqq") return ReadHqq();
    if (method == "aqlm") return ReadAqlm();
    if (method == "bitnet") return ReadBitnet();
    return false;
  }

  static bool Flag(const ConfigValue& object, std::string_view key) {
    const ConfigValue* value = Get(object, key);
    return value != nullptr && value->AsBool() == true;
  }

  // The number, or the default, which is then an assumption.
  int64_t Number(const ConfigValue& object, std::string_view key,
                 int64_t otherwise) {
    const ConfigValue* value = Get(object, key);
    if (value != nullptr) {
      if (const auto number = value->AsInteger()) return *number;
      missing_ = fmt::format("{} as a whole number", key);
      return otherwise;
    }
    plan_.assumed.push_back(
        fmt::format("{} {}, its library's default", key, otherwise));
    return otherwise;
  }

  bool Switch(const ConfigValue& object, std::string_view key, bool otherwise) {
    const ConfigValue* value = Get(object, key);
    if (value != nullptr) return value->AsBool().value_or(otherwise);
    plan_.assumed.push_back(fmt::format("{} {}, its library's default", key,
                                        otherwise ? "true" : "false"));
    return otherwise;
  }

  // Adds the patterns of a list, or of one text; whether there was any.
  bool AddPatterns(const ConfigValue* list, PatternSyntax syntax,
                   std::vector<NamePattern>& out) {
    if (list == nullptr) return false;
    const auto add = [&](std::string_view text) {
      if (text.empty()) return;
      // compressed-tensors: a class of modules; every linear one is meant.
      if (text == "Linear") return;
      if (auto pattern = NamePattern::Parse(text, syntax)) {
        out.push_back(std::move(*pattern));
      } else {
        missing_ = fmt::format("what the pattern {} means", text.substr(0, 80));
      }
    };
    if (list->is_string()) add(*list->AsString());
    for (const ConfigValue& item : list->items()) {
      if (item.is_string()) add(*item.AsString());
    }
    return true;
  }

  // What HF's loaders skip, and by default only the head.
  void ReadSkipped(std::initializer_list<std::string_view> keys) {
    bool any = false;
    for (const std::string_view key : keys) {
      any = AddPatterns(Get(object_, key), PatternSyntax::kLibrary,
                        plan_.skipped) ||
            any;
    }
    if (!any) plan_.assumed.emplace_back("the output head stays, by default");
  }

  void SetRule(Packing packing) {
    plan_.rules.push_back({.targets = {}, .packing = std::move(packing)});
  }

  bool ReadGptq() {
    Packing packing;
    packing.format = PackedFormat::kGptq;
    packing.bits = static_cast<int>(Number(object_, "bits", 4));
    packing.group_size = Number(object_, "group_size", 128);
    plan_.only_blocks = true;
    plan_.packs_towers = false;
    plan_.packs_head = Flag(object_, "lm_head");
    // gptqmodel: {"-:pattern": {}} leaves modules out, "+:" changes their bits.
    if (const ConfigValue* dynamic = Get(object_, "dynamic")) {
      for (const auto& [key, value] : dynamic->members()) {
        if (key.starts_with("-:")) {
          const ConfigValue text = ConfigValue::String("re:" + key.substr(2));
          AddPatterns(&text, PatternSyntax::kTargets, plan_.skipped);
        } else {
          missing_ = "the bits of " + key.substr(0, 80);
        }
      }
    }
    SetRule(packing);
    return true;
  }

  bool ReadAwq() {
    Packing packing;
    packing.format = PackedFormat::kAwq;
    packing.bits =
        static_cast<int>(Get(object_, "w_bit") ? Number(object_, "w_bit", 4)
                                               : Number(object_, "bits", 4));
    packing.group_size = Get(object_, "q_group_size")
                             ? Number(object_, "q_group_size", 128)
                             : Number(object_, "group_size", 128);
    plan_.only_blocks = true;
    plan_.packs_towers = false;
    AddPatterns(Get(object_, "modules_to_not_convert"), PatternSyntax::kLibrary,
                plan_.skipped);
    SetRule(packing);
    return true;
  }

  bool ReadBitsandbytes() {
    Packing packing;
    packing.format = PackedFormat::kBnb4;
    if (Flag(object_, "load_in_8bit")) {
      packing.format = PackedFormat::kBnb8;
    } else {
      packing.double_quantized =
          Switch(object_, "bnb_4bit_use_double_quant", false);
      // transformers' own default is fp4 (BitsAndBytesConfig).
      packing.is_fp4 = TextOf(object_, "bnb_4bit_quant_type") != "nf4";
    }
    packing.compute_dtype = plan_.dtype;
    plan_.experts = ExpertWeights::kKept;
    plan_.assumed.emplace_back(
        "experts that the class holds fused are not replaced by bitsandbytes");
    ReadSkipped({"llm_int8_skip_modules"});
    SetRule(packing);
    return true;
  }

  bool ReadFp8() {
    if (TextOf(object_, "quant_algo") == "MIXED_PRECISION") {
      return ReadModelopt();
    }
    Packing packing;
    packing.format = PackedFormat::kFp8;
    packing.scale_name = "weight_scale_inv";
    const ConfigValue* block = Get(object_, "weight_block_size");
    if (block != nullptr && block->items().size() == 2) {
      packing.scales = ScaleOf::kBlock;
      packing.block_rows = block->items()[0].AsInteger().value_or(0);
      packing.block_columns = block->items()[1].AsInteger().value_or(0);
      if (packing.block_rows <= 0 || packing.block_columns <= 0) {
        missing_ = "weight_block_size as two whole numbers";
        return true;
      }
    }
    packing.has_input_scale = TextOf(object_, "activation_scheme") == "static";
    ReadSkipped({"modules_to_not_convert", "ignored_layers"});
    SetRule(packing);
    return true;
  }

  bool ReadFbgemm() {
    Packing packing;
    packing.format = PackedFormat::kFp8;
    packing.scales = ScaleOf::kChannel;
    ReadSkipped({"modules_to_not_convert"});
    SetRule(packing);
    return true;
  }

  bool ReadMxfp4() {
    Packing packing;
    packing.format = PackedFormat::kMxfp4;
    plan_.experts = ExpertWeights::kBlocks;
    // Linear modules stay: only experts are replaced (integrations/mxfp4.py).
    PackingRule rule;
    const ConfigValue experts = ConfigValue::String("re:.*experts.*");
    AddPatterns(&experts, PatternSyntax::kTargets, rule.targets);
    rule.packing = packing;
    plan_.rules.push_back(std::move(rule));
    AddPatterns(Get(object_, "modules_to_not_convert"), PatternSyntax::kLibrary,
                plan_.skipped);
    return true;
  }

  bool ReadAutoRound() {
    Packing packing;
    const std::string format = TextOf(object_, "packing_format");
    packing.format = format.find("awq") != std::string::npos
                         ? PackedFormat::kAwq
                         : PackedFormat::kGptq;
    packing.bits = static_cast<int>(Number(object_, "bits", 4));
    packing.group_size = Number(object_, "group_size", 128);
    plan_.only_blocks = true;
    plan_.packs_towers = false;
    if (const ConfigValue* extra = Get(object_, "extra_config")) {
      for (const auto& [name, value] : extra->members()) {
        const ConfigValue* bits = Get(value, "bits");
        // Sixteen bits are none.
        if (bits == nullptr || bits->AsInteger().value_or(0) < 16) continue;
        if (auto pattern = NamePattern::Parse(name, PatternSyntax::kPrefix)) {
          plan_.skipped.push_back(std::move(*pattern));
        }
      }
    }
    SetRule(packing);
    return true;
  }

  bool ReadHqq() {
    Packing packing;
    packing.format = PackedFormat::kHqq;
    const ConfigValue* weights = Get(object_, "quant_config");
    if (weights != nullptr) weights = Get(*weights, "weight_quant_params");
    const ConfigValue& from = weights == nullptr ? object_ : *weights;
    packing.bits = static_cast<int>(Number(from, "nbits", 4));
    packing.group_size = Number(from, "group_size", 64);
    packing.compute_dtype = plan_.dtype;
    plan_.experts = ExpertWeights::kKept;
    ReadSkipped({"skip_modules"});
    SetRule(packing);
    return true;
  }

  bool ReadAqlm() {
    Packing packing;
    packing.format = PackedFormat::kAqlm;
    packing.in_group = Number(object_, "in_group_size", 8);
    packing.out_group = Number(object_, "out_group_size", 1);
    packing.codebooks = Number(object_, "num_codebooks", 1);
    packing.codebook_bits =
        static_cast<int>(Number(object_, "nbits_per_codebook", 16));
    AddPatterns(Get(object_, "linear_weights_not_to_quantize"),
                PatternSyntax::kLibrary, plan_.skipped);
    SetRule(packing);
    return true;
  }

  bool ReadBitnet() {
    Packing packing;
    packing.format = PackedFormat::kBitnet;
    packing.scale_dtype = plan_.dtype;
    ReadSkipped({"modules_to_not_convert"});
    SetRule(packing);
    return true;
  }

  // One group of compressed-tensors or ModelOpt: its targets and weights.
  void ReadGroup(const ConfigValue& group, bool modelopt) {
    const ConfigValue* weights = Get(group, "weights");
    if (weights == nullptr) {
      missing_ = "weights of a group of config_groups";
      return;
    }
    PackingRule rule;
    AddPatterns(Get(group, "targets"),
                modelopt ? PatternSyntax::kPrefix : PatternSyntax::kTargets,
                rule.targets);
    rule.packing = PackingOfWeights(group, *weights);
    rule.packing.modelopt_names = modelopt;
    if (modelopt) rule.packing.scale_dtype = DType::kFloat32;
    plan_.rules.push_back(std::move(rule));
  }

  Packing PackingOfWeights(const ConfigValue& group,
                           const ConfigValue& weights) {
    Packing packing;
    packing.scale_dtype = plan_.dtype;
    packing.bits = static_cast<int>(Number(weights, "num_bits", 8));
    packing.symmetric =
        Get(weights, "symmetric") == nullptr || Flag(weights, "symmetric");
    const bool is_float = TextOf(weights, "type") == "float";
    const std::string strategy = TextOf(weights, "strategy");
    const ConfigValue* size = Get(weights, "group_size");
    packing.group_size = size == nullptr ? -1 : size->AsInteger().value_or(-1);
    packing.scales = strategy == "channel" ? ScaleOf::kChannel
                     : strategy == "block" ? ScaleOf::kBlock
                                           : ScaleOf::kTensor;
    if (const ConfigValue* block = Get(weights, "block_structure");
        block != nullptr && block->items().size() == 2) {
      packing.block_rows = block->items()[0].AsInteger().value_or(128);
      packing.block_columns = block->items()[1].AsInteger().value_or(128);
    }
    packing.has_order = TextOf(weights, "actorder") == "group";
    const ConfigValue* inputs = Get(group, "input_activations");
    packing.has_input_scale =
        inputs != nullptr && !(Get(*inputs, "dynamic") != nullptr &&
                               Get(*inputs, "dynamic")->AsBool() == true);
    if (is_float && packing.bits == 4) {
      packing.format = packing.group_size == 32 ? PackedFormat::kMxfp4
                                                : PackedFormat::kNvfp4;
    } else if (is_float) {
      packing.format = PackedFormat::kFp8;
      packing.bits = 8;
    } else {
      packing.format = FormatOfInts(group, packing);
    }
    return packing;
  }

  PackedFormat FormatOfInts(const ConfigValue& group, const Packing& packing) {
    std::string format = TextOf(group, "format");
    if (format.empty()) format = TextOf(object_, "format");
    if (format == "marlin-24") return PackedFormat::kMarlin24;
    if (format == "pack-quantized" || packing.bits < 8) {
      return PackedFormat::kPackQuantized;
    }
    return PackedFormat::kInt8;
  }

  bool ReadCompressed() {
    plan_.packs_routers = true;
    plan_.packs_head = true;
    const ConfigValue* groups = Get(object_, "config_groups");
    if (groups == nullptr || groups->members().empty()) {
      missing_ = "config_groups";
      return true;
    }
    for (const auto& [name, group] : groups->members()) {
      ReadGroup(group, false);
    }
    AddPatterns(Get(object_, "ignore"), PatternSyntax::kTargets, plan_.skipped);
    if (Get(object_, "kv_cache_scheme") != nullptr) plan_.cache_scales = 2;
    return true;
  }

  static std::optional<Packing> PackingOfAlgorithm(std::string_view name) {
    Packing packing;
    packing.modelopt_names = true;
    if (name == "FP8") {
      packing.format = PackedFormat::kFp8;
      packing.has_input_scale = true;
      return packing;
    }
    if (name == "NVFP4" || name == "NVFP4_AWQ" || name == "W4A8_NVFP4_FP8") {
      packing.format = PackedFormat::kNvfp4;
      packing.has_input_scale = true;
      return packing;
    }
    if (name == "W4A16_NVFP4") {
      packing.format = PackedFormat::kNvfp4;
      return packing;
    }
    if (name == "MXFP4") {
      packing.format = PackedFormat::kMxfp4;
      return packing;
    }
    return std::nullopt;
  }

  bool ReadModelopt() {
    const std::string algorithm = TextOf(object_, "quant_algo");
    for (const char* key : {"ignore", "exclude_modules"}) {
      AddPatterns(Get(object_, key), PatternSyntax::kGlob, plan_.skipped);
    }
    if (Get(object_, "kv_cache_quant_algo") != nullptr ||
        Get(object_, "kv_cache_scheme") != nullptr) {
      plan_.cache_scales = 2;
    }
    if (const auto packing = PackingOfAlgorithm(algorithm)) {
      SetRule(*packing);
      return true;
    }
    if (algorithm != "MIXED_PRECISION") {
      missing_ = "how ModelOpt packs " + algorithm.substr(0, 40);
      return true;
    }
    if (const ConfigValue* layers = Get(object_, "quantized_layers")) {
      return ReadQuantizedLayers(*layers);
    }
    if (const ConfigValue* groups = Get(object_, "config_groups")) {
      for (const auto& [name, group] : groups->members()) {
        ReadGroup(group, true);
      }
      return true;
    }
    missing_ = "quantized_layers";
    return true;
  }

  // {"model.layers.0.mlp.experts": {"quant_algo": "NVFP4"}, …}
  bool ReadQuantizedLayers(const ConfigValue& layers) {
    for (const auto& [name, value] : layers.members()) {
      const auto packing = PackingOfAlgorithm(TextOf(value, "quant_algo"));
      auto pattern = NamePattern::Parse(name, PatternSyntax::kPrefix);
      if (!packing || !pattern) {
        missing_ = "how " + name.substr(0, 80) + " is packed";
        return true;
      }
      const auto same = [&](const PackingRule& rule) {
        return rule.packing.format == packing->format;
      };
      const auto rule = std::ranges::find_if(plan_.rules, same);
      if (rule != plan_.rules.end()) {
        rule->targets.push_back(std::move(*pattern));
      } else {
        PackingRule fresh;
        fresh.targets.push_back(std::move(*pattern));
        fresh.packing = *packing;
        plan_.rules.push_back(std::move(fresh));
      }
    }
    return true;
  }

  const ConfigValue& object_;
  WeightPlan plan_;
  std::string missing_;
};

}  // namespace

std::variant<WeightPlan, NoPlan> PlanOfConfig(const ConfigValue& quantization,
                                              const std::string& class_name,
                                              DType dtype) {
  if (!quantization.is_object()) {
    return NoPlan{"quantization_config as an object"};
  }
  return PlanReader(quantization, class_name, dtype).Read();
}

const ConfigValue* QuantizationOf(const ConfigValue& root) {
  for (const std::string_view key :
       {"quantization_config", "compression_config"}) {
    if (const ConfigValue* value = Get(root, key)) return value;
    for (const std::string_view part : {"text_config", "llm_config"}) {
      const ConfigValue* nested = Get(root, part);
      if (nested == nullptr) continue;
      if (const ConfigValue* value = Get(*nested, key)) return value;
    }
  }
  return nullptr;
}

}  // namespace foretell
