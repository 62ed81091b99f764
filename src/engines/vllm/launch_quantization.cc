// Which quantization method serves a checkpoint, and what it asks of the card:
// ModelConfig._verify_quantization, VllmConfig._get_quantization_config and the
// classes under vllm/model_executor/layers/quantization/.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/lower_case.h"
#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

std::string TextAt(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.Find(key);
  return value == nullptr ? "" : std::string(value->AsString().value_or(""));
}

// The algorithm of a ModelOpt checkpoint, in capitals; empty for others.
std::string ModelOptAlgorithm(const ConfigValue& config) {
  if (!Lower(TextAt(config, "quant_method")).starts_with("modelopt")) return "";
  const ConfigValue* inner = config.Find("quantization");
  std::string algo = inner == nullptr ? TextAt(config, "quant_algo")
                                      : TextAt(*inner, "quant_algo");
  for (char& c : algo) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return algo;
}

std::optional<ConfigValue> Normalized(const HfConfig& part) {
  const ConfigValue* value = part.Get("quantization_config");
  if (value == nullptr) value = part.Get("compression_config");
  if (value == nullptr || !value->is_object()) return std::nullopt;
  ConfigValue config = *value;
  const ConfigValue* producer = config.Find("producer");
  const ConfigValue* inner = config.Find("quantization");
  const bool modelopt =
      (producer != nullptr && TextAt(*producer, "name") == "modelopt") ||
      (inner != nullptr && inner->Find("modelopt_quant_config") != nullptr);
  if (modelopt && inner != nullptr) {
    const std::string algo = TextAt(*inner, "quant_algo");
    const char* method = "modelopt";
    if (algo == "NVFP4") method = "modelopt_fp4";
    if (algo == "MIXED_PRECISION") method = "modelopt_mixed";
    config.Set("quant_method", ConfigValue::String(method));
  }
  std::string method = Lower(TextAt(config, "quant_method"));
  if (method == "compressed_tensors") method = "compressed-tensors";
  config.Set("quant_method", ConfigValue::String(method));
  return config;
}

std::optional<int64_t> NumberAt(const ConfigValue& config,
                                std::string_view key) {
  const ConfigValue* value = config.Find(key);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

std::optional<bool> TruthAt(const ConfigValue& config, std::string_view key) {
  const ConfigValue* value = config.Find(key);
  return value == nullptr ? std::nullopt : value->AsBool();
}

// A class that changes the method's name as it is read (MODELS_CONFIG_MAP).
void Hook(const State& state, ConfigValue& config) {
  const std::string method = TextAt(config, "quant_method");
  const std::string& type = state.config.model_type();
  const auto set = [&](const char* name) {
    if (state.facts().FindQuantization(name) != nullptr) {
      config.Set("quant_method", ConfigValue::String(name));
    }
  };
  if (state.arch_name == "GptOssForCausalLM" && method == "mxfp4") {
    set("gpt_oss_mxfp4");
  } else if (state.arch_name.starts_with("DeepseekV4") && method == "fp8" &&
             (type == "deepseek_v4" || type == "deepseek_v41")) {
    set("deepseek_v4_fp8");
  } else if (state.arch_name.starts_with("KimiK3") &&
             method == "compressed-tensors" &&
             TextAt(config, "format") == "mxfp4-pack-quantized") {
    set("mxfp4");
  }
}

bool MarlinReads(const State& state, const ConfigValue& config,
                 std::string_view name) {
  const EngineQuantization* method = state.facts().FindQuantization(name);
  if (method == nullptr) return false;
  if (state.in->card->capability < method->capability.value_or(80)) {
    return false;
  }
  const auto group = NumberAt(config, "group_size");
  constexpr std::array<int64_t, 4> kGroups = {-1, 32, 64, 128};
  return group && std::ranges::find(kGroups, *group) != kGroups.end();
}

// The method that takes the checkpoint over; empty where none does.
std::string Overridden(const State& state, const ConfigValue& config,
                       const std::string& user) {
  const std::string method = TextAt(config, "quant_method");
  const EngineFacts& facts = state.facts();
  const bool any = user.empty() || user == "marlin";
  const auto bits = NumberAt(config, "bits");
  if (user == "humming" && facts.FindQuantization("humming") != nullptr) {
    return "humming";
  }
  if (facts.FindQuantization("auto_gptq") != nullptr) {
    if (method == "gptq" && (any || user == "gptq" || user == "gptq_marlin" ||
                             user == "auto_gptq")) {
      return "auto_gptq";
    }
    if (method == "awq" &&
        (any || user == "awq" || user == "awq_marlin" || user == "auto_awq")) {
      return "auto_awq";
    }
  } else {
    if (method == "gptq" && (any || user == "gptq_marlin") &&
        (bits == 4 || bits == 8) && TruthAt(config, "sym") == true &&
        TruthAt(config, "desc_act").has_value() &&
        MarlinReads(state, config, "gptq_marlin")) {
      return "gptq_marlin";
    }
    if (method == "awq" && (any || user == "awq_marlin") && bits == 4 &&
        TruthAt(config, "zero_point").has_value() &&
        MarlinReads(state, config, "awq_marlin")) {
      return "awq_marlin";
    }
  }
  if (user == "moe_wna16" && (method == "gptq" || method == "awq")) return user;
  const std::string algo = ModelOptAlgorithm(config);
  const auto named = [&](const char* name) -> std::string {
    return facts.FindQuantization(name) != nullptr ? name : "";
  };
  if (algo == "FP8" || algo == "FP8_PER_CHANNEL_PER_TOKEN" ||
      algo == "FP8_PB_WO") {
    return named("modelopt");
  }
  if (algo.find("MXFP8") != std::string::npos) return named("modelopt_mxfp8");
  if (algo.find("FP4") != std::string::npos) return named("modelopt_fp4");
  if (algo == "MIXED_PRECISION") return named("modelopt_mixed");
  if (method == "auto-round" || method == "intel/auto-round") {
    return named("inc");
  }
  if ((method == "mxfp4" || method == "gpt_oss_mxfp4") &&
      state.config.model_type() == "gpt_oss") {
    return named("gpt_oss_mxfp4");
  }
  return "";
}

bool HasBlocks(const State& state) {
  if (!state.quantization_config) return false;
  const ConfigValue& config = *state.quantization_config;
  const std::string& name = state.out->settings.quantization;
  if (name == "fp8" || name == "deepseek_v4_fp8") {
    const ConfigValue* block = config.Find("weight_block_size");
    return block != nullptr && !block->is_null();
  }
  if (name == "compressed-tensors") {
    const ConfigValue* groups = config.Find("config_groups");
    if (groups == nullptr) return false;
    for (const auto& [key, group] : groups->members()) {
      const ConfigValue* weights = group.Find("weights");
      if (weights != nullptr && TextAt(*weights, "strategy") == "block") {
        return true;
      }
    }
  }
  return false;
}

// Methods that quantize an unquantized checkpoint as it is loaded.
bool IsOnline(const State& state, std::string_view name) {
  constexpr std::array<std::string_view, 7> kShorthands = {
      "fp8_per_tensor",
      "fp8_per_block",
      "fp8_per_channel",
      "int8_per_channel_weight_only",
      "nvfp4_per_token",
      "mxfp8",
      "mxfp4"};
  if (!state.Since(0, 20)) return name == "fp8";
  return name == "fp8" ||
         std::ranges::find(kShorthands, name) != kShorthands.end();
}

void RefuseMethod(const State& state, std::string what, std::string why,
                  std::string fix = "") {
  state.Refuse("quantization", "quantization", std::move(what), std::move(why),
               std::move(fix));
}

// What the method's class reads of the checkpoint's description.
void ReadDescription(State& state, const std::string& name) {
  const ConfigValue& config = *state.quantization_config;
  const auto bits = NumberAt(config, "bits");
  const bool sym = TruthAt(config, "sym").value_or(false);
  if (name == "auto_gptq" || name == "gptq_marlin") {
    if (name == "auto_gptq" && TruthAt(config, "desc_act").value_or(false) &&
        NumberAt(config, "group_size").value_or(-1) != -1) {
      RefuseMethod(state,
                   "the GPTQ checkpoint orders its groups by activation "
                   "(desc_act)",
                   "support for it has been removed",
                   "a checkpoint with desc_act false");
    } else if (!((bits == 4 || bits == 8) && sym)) {
      RefuseMethod(state,
                   fmt::format("GPTQ with {} bits, {}", bits.value_or(0),
                               sym ? "symmetric" : "not symmetric"),
                   "4 and 8 bits, symmetric, are served",
                   "a checkpoint with 4 or 8 bits");
    }
  } else if (name == "gptq") {
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8) {
      RefuseMethod(state, fmt::format("GPTQ with {} bits", bits.value_or(0)),
                   "2, 3, 4 and 8 bits are served");
    }
  } else if (name == "auto_awq" || name == "awq_marlin" || name == "awq") {
    if (bits != 4 && NumberAt(config, "w_bit") != 4) {
      RefuseMethod(state, fmt::format("AWQ with {} bits", bits.value_or(0)),
                   "4 bits are served");
    }
  } else if (name == "quark") {
    if (config.Find("export") == nullptr) {
      RefuseMethod(state, "the Quark description has no `export`",
                   "the method cannot read the checkpoint");
    }
  } else if (name == "torchao") {
    RefuseMethod(state, "torchao checkpoints need the torchao package",
                 "the image of vLLM does not bring it", "pip install torchao");
  }
}

void ReadNothing(State& state, const EngineQuantization& method) {
  const std::string& name = method.name;
  if (IsOnline(state, name)) {
    if (state.Since(0, 20)) {
      state.quantization_class = "OnlineQuantizationConfig";
    }
    return;
  }
  if (!method.files.empty()) {
    state.Refuse(name.starts_with("modelopt") ? "quantization" : "files",
                 "quantization",
                 fmt::format("--quantization {} and a checkpoint that is not "
                             "quantized so",
                             name),
                 fmt::format("it looks for {} beside the weights and ends",
                             fmt::join(method.files, " or ")),
                 "leave --quantization out");
    return;
  }
  constexpr std::array<std::string_view, 9> kNeeds = {
      "compressed-tensors", "torchao",  "online",     "quark",   "inc",
      "auto_gptq",          "auto_awq", "awq_marlin", "modelopt"};
  if (std::ranges::find(kNeeds, name) != kNeeds.end()) {
    RefuseMethod(state,
                 fmt::format("--quantization {} needs a checkpoint that says "
                             "how it was quantized",
                             name),
                 "its class cannot be made without", "leave it out");
  }
}

}  // namespace

void ResolveQuantization(State& state) {
  std::string& name = state.settings().quantization;
  std::string user = Lower(state.Text("quantization"));
  state.quantization_config = Normalized(state.config);
  if (!state.quantization_config) {
    if (const auto text = state.config.Sub("text_config")) {
      state.quantization_config = Normalized(*text);
    }
  }
  if (state.quantization_config) {
    Hook(state, *state.quantization_config);
    std::string method = TextAt(*state.quantization_config, "quant_method");
    const std::string other =
        Overridden(state, *state.quantization_config, user);
    if (!other.empty()) {
      method = other;
      user = other;
    }
    if (!user.empty() && user != method) {
      RefuseMethod(state,
                   fmt::format("the checkpoint is quantized by {}, and "
                               "--quantization says {}",
                               method, user),
                   "it ends with \"does not match the quantization method\"",
                   "leave --quantization out");
    }
    if (user.empty()) user = method;
  }
  name = user;
  if (name.empty()) return;
  const EngineQuantization* method = state.facts().FindQuantization(name);
  if (method == nullptr) {
    RefuseMethod(state,
                 fmt::format("vLLM {} has no quantization method {}",
                             state.facts().version.ToString(), name),
                 "it ends with \"Unknown quantization method\"");
    return;
  }
  state.quantization_class = method->class_name;
  if (method->deprecated && !state.Truth("allow_deprecated_quantization")) {
    RefuseMethod(state, fmt::format("{} is deprecated", name),
                 "it is refused unless allowed",
                 "--allow-deprecated-quantization");
  }
}

void VerifyQuantization(State& state) {
  const ServingSettings& out = state.settings();
  if (out.quantization.empty()) return;
  const EngineQuantization* method =
      state.facts().FindQuantization(out.quantization);
  if (method == nullptr) return;
  if (state.quantization_config) {
    ReadDescription(state, out.quantization);
  } else {
    ReadNothing(state, *method);
  }
  std::optional<int64_t> least = method->capability;
  std::vector<std::string> dtypes = method->dtypes;
  if (state.quantization_class == "OnlineQuantizationConfig") {
    // vllm/model_executor/layers/quantization/online/base.py, 0.33.0.
    least = 75;
    dtypes.clear();
  }
  const int64_t has = state.in->card->capability;
  if (least && has < *least) {
    RefuseMethod(state,
                 fmt::format("{} needs compute capability {}.{}; {} has {}.{}",
                             out.quantization, *least / 10, *least % 10,
                             state.in->card->name, has / 10, has % 10),
                 "it ends with \"not supported for the current GPU\"",
                 "another card, or a checkpoint of another method");
  }
  if (!dtypes.empty() && std::ranges::find(dtypes, out.dtype) == dtypes.end()) {
    RefuseMethod(state,
                 fmt::format("{} works in {}, not in {}", out.quantization,
                             fmt::join(dtypes, " and "), out.dtype),
                 "it ends with \"is not supported for quantization method\"",
                 fmt::format("--dtype {}", dtypes.front()));
  }
  state.blocked_weights = HasBlocks(state);
}

}  // namespace foretell::vllm
