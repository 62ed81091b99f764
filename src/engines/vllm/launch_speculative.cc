// Drafts: vllm/config/speculative.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

struct MtpClass {
  std::string_view model_type;
  std::string_view mtp_type;
  std::string_view architecture;
};

// SpeculativeConfig.hf_config_override of 0.33.0: the class that drafts for a
// model with prediction layers of its own.
constexpr std::array<MtpClass, 24> kMtp = {{
    {"deepseek_v3", "deepseek_mtp", "DeepSeekMTPModel"},
    {"deepseek_v32", "deepseek_mtp", "DeepseekV32MTPModel"},
    {"glm_moe_dsa", "deepseek_mtp", "DeepseekV32MTPModel"},
    {"deepseek_v4", "deepseek_mtp", "DeepSeekV4MTPModel"},
    {"pangu_ultra_moe", "pangu_ultra_moe_mtp", "OpenPanguMTPModel"},
    {"kimi_k3", "kimi_k3_mtp", "KimiK3MTPModel"},
    {"mimo", "mimo_mtp", "MiMoMTPModel"},
    {"mimo_v2_flash", "mimo_v2_mtp", "MiMoV2MTPModel"},
    {"glm4_moe", "glm4_moe_mtp", "Glm4MoeMTPModel"},
    {"glm4_moe_lite", "glm4_moe_lite_mtp", "Glm4MoeLiteMTPModel"},
    {"glm_ocr", "glm_ocr_mtp", "GlmOcrMTPModel"},
    {"ernie4_5_moe", "ernie_mtp", "ErnieMTPModel"},
    {"nemotron_h", "nemotron_h_mtp", "NemotronHMTPModel"},
    {"qwen3_next", "qwen3_next_mtp", "Qwen3NextMTP"},
    {"bailing_hybrid", "bailing_hybrid_mtp", "BailingMoeV25MTPModel"},
    {"exaone_moe", "exaone_moe_mtp", "ExaoneMoeMTP"},
    {"qwen3_5", "qwen3_5_mtp", "Qwen3_5MTP"},
    {"qwen3_5_moe", "qwen3_5_mtp", "Qwen3_5MoeMTP"},
    {"qwen3_5_text", "qwen3_5_mtp", "Qwen3_5MTP"},
    {"qwen3_5_moe_text", "qwen3_5_mtp", "Qwen3_5MoeMTP"},
    {"longcat_flash", "longcat_flash_mtp", "LongCatFlashMTPModel"},
    {"step3p5", "step3p5_mtp", "Step3p5MTP"},
    {"hy_v3", "hy_v3_mtp", "HYV3MTPModel"},
    {"minimax_m3_vl", "minimax_m3_mtp", "MiniMaxM3MTP"},
}};

const MtpClass* FindMtp(const State& state, std::string_view model_type) {
  for (const MtpClass& one : kMtp) {
    if (one.model_type != model_type) continue;
    const bool known =
        state.facts().FindArchitecture(one.architecture) != nullptr ||
        model_type == "deepseek_v32" || model_type == "glm_moe_dsa";
    return known ? &one : nullptr;
  }
  return nullptr;
}

void RefuseDraft(const State& state, std::string what, std::string why,
                 std::string fix = "") {
  state.Refuse("speculative", "speculative_config", std::move(what),
               std::move(why), std::move(fix));
}

// Rotary positions whose range only sizes a table: _CACHE_ONLY_ROPE_TYPES.
bool OnlySizesTable(const HfConfig& text) {
  const ConfigValue* rope = text.Get("rope_parameters");
  if (rope == nullptr) rope = text.Get("rope_scaling");
  if (rope == nullptr) return true;
  const ConfigValue* type = rope->Find("rope_type");
  if (type == nullptr) type = rope->Find("type");
  if (type == nullptr) return true;
  const std::string_view name = type->AsString().value_or("default");
  return name == "default" || name == "linear" || name == "llama3" ||
         name == "ntk" || name == "proportional";
}

struct Spec {
  std::string method;
  std::string model;
  std::optional<int64_t> tokens;
  std::optional<int64_t> draft_tp;
  std::optional<int64_t> low;
  std::optional<int64_t> high;
  std::optional<int64_t> max_len;
  std::string quantization;
};

Spec Read(const ConfigValue& config) {
  Spec spec;
  const auto text = [&](std::string_view key) {
    const ConfigValue* value = config.Find(key);
    return value == nullptr ? std::string()
                            : std::string(value->AsString().value_or(""));
  };
  const auto number = [&](std::string_view key) {
    const ConfigValue* value = config.Find(key);
    return value == nullptr ? std::nullopt : value->AsInteger();
  };
  spec.method = text("method");
  spec.model = text("model");
  spec.quantization = text("quantization");
  spec.tokens = number("num_speculative_tokens");
  spec.draft_tp = number("draft_tensor_parallel_size");
  spec.low = number("prompt_lookup_min");
  spec.high = number("prompt_lookup_max");
  spec.max_len = number("max_model_len");
  return spec;
}

ConfigValue TextValue(std::string text) {
  return ConfigValue::String(std::move(text));
}

ConfigValue NumberValue(int64_t number) {
  return ConfigValue::Number(std::to_string(number));
}

// The draft's own settings, as the engine makes them of its configuration.
struct Draft {
  std::vector<std::string> architectures;
  std::string model_type;
  int64_t max_len = 0;
  int64_t vocabulary = 0;
  int64_t heads = 0;
  std::string quantization;
  std::optional<int64_t> predicts;
  bool only_sizes = true;
};

std::optional<Draft> ReadDraft(State& state, const ModelConfig& model,
                               bool is_target) {
  Launch launch;
  launch.model = state.in->launch->model;
  launch.version = state.in->launch->version;
  if (state.Truth("trust_remote_code")) {
    launch.settings.push_back(
        {"trust_remote_code", "", ConfigValue::Bool(true), {}});
  }
  VllmRequest request = *state.in;
  request.launch = &launch;
  request.model = &model;
  VllmLaunch scratch;
  State draft;
  draft.in = &request;
  draft.out = &scratch;
  if (!LoadModel(draft)) {
    for (VllmRefusal& one : scratch.refusals) {
      state.out->refusals.push_back(std::move(one));
    }
    return std::nullopt;
  }
  ReadArchitecture(draft);
  ResolveLength(draft);
  Draft out;
  out.model_type = draft.config.model_type();
  out.max_len = scratch.settings.max_model_len;
  out.vocabulary = draft.vocabulary;
  out.heads = draft.heads;
  out.only_sizes = OnlySizesTable(draft.text);
  if (const ConfigValue* list = draft.config.Get("architectures")) {
    for (const ConfigValue& item : list->items()) {
      out.architectures.emplace_back(item.AsString().value_or(""));
    }
  }
  draft.arch_name = out.architectures.empty() ? "" : out.architectures[0];
  if (!is_target) {
    ResolveQuantization(draft);
    out.quantization = scratch.settings.quantization;
  }
  for (const std::string_view key :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers"}) {
    if (const auto layers = draft.config.Integer(key)) out.predicts = layers;
    if (const auto layers = draft.text.Integer(key)) out.predicts = layers;
  }
  return out;
}

// Families whose layers hand an Eagle 3 draft their hidden states, and the
// minor release that took each (aux_hidden_states_supported of vllm/config/
// speculative.py, 0.10 to 0.21; the list is gone since).
constexpr std::pair<std::string_view, int> kGivesHiddenStates[] = {
    {"llama", 10},       {"qwen", 10},       {"gpt_oss", 11},
    {"minicpm", 11},     {"afmoe", 16},      {"hunyuan_v1_dense", 16},
    {"hunyuan_vl", 16},  {"nemotron_h", 17}, {"deepseek_v2", 18},
    {"deepseek_v3", 18}, {"kimi_k2", 18},    {"gemma4", 20},
    {"minimax_m2", 20},  {"laguna", 21}};

bool GivesHiddenStates(const State& state) {
  if (!state.Since(0, 10) || state.Since(0, 22)) return true;
  const std::string& type = state.text.model_type();
  return std::ranges::any_of(kGivesHiddenStates, [&](const auto& one) {
    return state.Since(0, one.second) &&
           type.find(one.first) != std::string::npos;
  });
}

}  // namespace

void ResolveSpeculative(State& state) {
  ConfigValue config = ConfigValue::Object();
  const ConfigValue* given = state.Flag("speculative_config");
  if (given != nullptr && given->is_object()) {
    for (const auto& [key, value] : given->members()) {
      std::string name = key;
      std::ranges::replace(name, '-', '_');
      config.Set(name, value);
    }
  }
  for (const auto& [flag, key] :
       {std::pair<std::string_view, std::string_view>{"spec_method", "method"},
        {"spec_model", "model"},
        {"spec_tokens", "num_speculative_tokens"}}) {
    if (!state.Given(flag)) continue;
    if (config.Find(key) != nullptr) {
      RefuseDraft(
          state,
          fmt::format("{} and --speculative-config both set {}", flag, key),
          "one of them is refused");
      return;
    }
    config.Set(key, *state.Flag(flag));
  }
  if (config.members().empty() && !(given != nullptr && given->is_object())) {
    return;
  }
  Spec spec = Read(config);
  ServingSettings& out = state.settings();
  const EngineConfigClass* fields = nullptr;
  if (const auto found = state.facts().configs.find("SpeculativeConfig");
      found != state.facts().configs.end()) {
    fields = &found->second;
  }
  if (fields != nullptr) {
    for (const auto& [key, value] : config.members()) {
      if (fields->Find(key) != nullptr) continue;
      RefuseDraft(state, fmt::format("--speculative-config has no {}", key),
                  "an unknown key is refused");
      return;
    }
  }
  if (!spec.method.empty() && fields != nullptr) {
    const std::string* takes = fields->Find("method");
    const size_t at = takes == nullptr ? 0 : takes->find('=');
    if (takes != nullptr && at != std::string::npos) {
      const std::string list = "|" + takes->substr(at + 1) + "|";
      const std::string cut = list.substr(0, list.find(','));
      if ((cut + "|").find("|" + spec.method + "|") == std::string::npos) {
        RefuseDraft(state, fmt::format("no speculative method {}", spec.method),
                    "the methods of this version are listed in the message",
                    "\"method\": \"eagle3\"");
        return;
      }
    }
  }
  if (spec.tokens && *spec.tokens <= 0) {
    RefuseDraft(state, fmt::format("{} speculative tokens", *spec.tokens),
                "more than 0 are required", "\"num_speculative_tokens\": 3");
    return;
  }
  if (spec.draft_tp && *spec.draft_tp < 1) {
    RefuseDraft(state, "a draft on no rank", "at least one is required");
    return;
  }
  if (spec.method.empty()) {
    spec.method = spec.model == "ngram" || spec.model == "[ngram]"
                      ? "ngram"
                      : "draft_model";
  }
  const bool named_mtp = spec.method.ends_with("_mtp");
  if (named_mtp) spec.method = "mtp";
  if (spec.method == "suffix") {
    state.Refuse("other", "speculative_config",
                 "suffix decoding needs the package arctic-inference",
                 "the image of vLLM does not bring it",
                 "pip install arctic-inference");
    return;
  }
  if (spec.model.empty() && spec.tokens) {
    if (spec.method == "mtp") {
      spec.model = state.in->launch->model;
      if (spec.quantization.empty()) spec.quantization = out.quantization;
    } else if (spec.method == "ngram" || spec.method == "ngram_gpu") {
      spec.model = spec.method;
    } else {
      RefuseDraft(state, "speculative tokens without a model to draft them",
                  "it ends with \"without speculative model\"",
                  "\"model\": \"…\", or \"method\": \"ngram\"");
      return;
    }
  }
  ConfigValue draft_values = ConfigValue::Object();
  std::optional<Draft> draft;
  if (spec.method == "ngram" || spec.method == "ngram_gpu") {
    if (!spec.low && !spec.high) {
      spec.low = spec.high = 5;
    } else if (!spec.low) {
      spec.low = spec.high;
    } else if (!spec.high) {
      spec.high = spec.low;
    }
    if (*spec.low > *spec.high) {
      RefuseDraft(state,
                  fmt::format("prompt_lookup_min {} is above "
                              "prompt_lookup_max {}",
                              *spec.low, *spec.high),
                  "it is refused",
                  fmt::format("\"prompt_lookup_min\": {}", *spec.high));
      return;
    }
  } else {
    spec.low = spec.high = 0;
    const bool itself = spec.model == state.in->launch->model;
    std::shared_ptr<const ModelConfig> other;
    if (!spec.model.empty() && !itself && state.in->find) {
      other = state.in->find(spec.model);
    }
    if (spec.model.empty()) {
      if (!spec.tokens) {
        RefuseDraft(state, "no model that drafts and no number of tokens",
                    "both are required",
                    "\"model\": \"…\", \"num_speculative_tokens\": 3");
        return;
      }
    } else if (other == nullptr && !itself) {
      state.out->cannot_tell.push_back("the configuration of the draft " +
                                       spec.model);
    } else {
      draft = ReadDraft(state, itself ? state.out->model : *other, itself);
      if (!draft) return;
    }
  }
  if (draft) {
    const MtpClass* mtp = FindMtp(state, draft->model_type);
    const std::string lower = spec.model;
    const bool eagle = spec.method == "eagle" || spec.method == "eagle3" ||
                       spec.method == "dflash" || spec.method == "dspark";
    if (eagle) {
    } else if (lower.find("eagle-") != std::string::npos ||
               lower.find("EAGLE-") != std::string::npos) {
      spec.method = "eagle";
    } else if (lower.find("eagle3") != std::string::npos ||
               lower.find("EAGLE3") != std::string::npos) {
      spec.method = "eagle3";
    } else if (mtp != nullptr) {
      spec.method = "mtp";
    } else if (spec.method != "draft_model") {
      RefuseDraft(state,
                  fmt::format("{} has no layers that predict further tokens",
                              spec.model),
                  fmt::format("it ends with \"Unsupported speculative method: "
                              "'{}'\"",
                              spec.method),
                  "\"method\": \"ngram\", or an EAGLE draft");
      return;
    }
    if (spec.method == "mtp" && mtp != nullptr) {
      const bool v32 =
          mtp->architecture == "DeepseekV32MTPModel" && !state.Since(0, 29);
      draft->architectures = {
          std::string(v32 ? "DeepSeekMTPModel" : mtp->architecture)};
      if (!spec.tokens) spec.tokens = draft->predicts;
      if (spec.tokens && draft->predicts && *draft->predicts > 0 &&
          *spec.tokens > *draft->predicts &&
          *spec.tokens % *draft->predicts != 0) {
        RefuseDraft(
            state,
            fmt::format("{} tokens are no multiple of the {} that the "
                        "model predicts",
                        *spec.tokens, *draft->predicts),
            "its layers are run in rounds",
            fmt::format("\"num_speculative_tokens\": {}", *draft->predicts));
        return;
      }
    }
    if (spec.method == "eagle" || spec.method == "eagle3") {
      const std::string prefix = spec.method == "eagle" ? "Eagle" : "Eagle3";
      for (std::string& arch : draft->architectures) {
        const bool has = arch.starts_with(prefix) ||
                         (prefix == "Eagle3" && arch.ends_with("Eagle3"));
        if (!has) arch = prefix + arch;
      }
    }
    if (!spec.tokens) {
      RefuseDraft(state, "a draft and no number of tokens",
                  "num_speculative_tokens has no default here",
                  "\"num_speculative_tokens\": 3");
      return;
    }
    if (spec.method == "eagle3" && !GivesHiddenStates(state)) {
      RefuseDraft(state,
                  fmt::format("{} gives no hidden states to a draft",
                              state.text.model_type()),
                  "eagle3 is for the families of a list in this release",
                  "--engine-version 0.22, or another method");
      return;
    }
    const int64_t target = out.tensor_parallel;
    if (!spec.draft_tp) {
      spec.draft_tp = target;
    } else if (*spec.draft_tp != 1 && *spec.draft_tp != target) {
      RefuseDraft(state,
                  fmt::format("the draft on {} ranks, the model on {}",
                              *spec.draft_tp, target),
                  "a draft runs on one rank or on as many as the model",
                  fmt::format("\"draft_tensor_parallel_size\": {}", target));
      return;
    }
    int64_t length = draft->max_len;
    if (spec.max_len) {
      if (*spec.max_len > length || *spec.max_len > out.max_model_len) {
        RefuseDraft(
            state,
            fmt::format("the draft's length {} is past {}", *spec.max_len,
                        std::min(length, out.max_model_len)),
            "it is refused");
        return;
      }
      length = *spec.max_len;
    }
    length = std::min(length, out.max_model_len);
    // Since 0.33 the served length follows a draft whose positions cannot be
    // stretched.
    const bool shares = spec.method != "draft_model" && draft->only_sizes;
    if (state.Since(0, 33) && !shares && length < out.max_model_len) {
      out.max_model_len = length;
    }
    if (spec.method == "draft_model" && draft->vocabulary != state.vocabulary) {
      RefuseDraft(state,
                  fmt::format("the draft has {} tokens, the model {}",
                              draft->vocabulary, state.vocabulary),
                  "a draft model must share the vocabulary",
                  "a draft of the same family");
      return;
    }
    if (draft->heads > 0 && draft->heads % *spec.draft_tp != 0) {
      state.Refuse("parallel-divisibility", "speculative_config",
                   fmt::format("the draft's {} heads do not divide by {} ranks",
                               draft->heads, *spec.draft_tp),
                   "it is refused", "\"draft_tensor_parallel_size\": 1");
    }
    ConfigValue list = ConfigValue::Array();
    for (const std::string& arch : draft->architectures) {
      list.mutable_items().push_back(TextValue(arch));
    }
    draft_values.Set("architectures", std::move(list));
    draft_values.Set("max_model_len", NumberValue(length));
    draft_values.Set("dtype", TextValue("torch." + out.dtype));
    std::string quantization = draft->quantization;
    if (quantization.empty()) quantization = spec.quantization;
    draft_values.Set("quantization", quantization.empty()
                                         ? ConfigValue::Null()
                                         : TextValue(quantization));
  } else if (spec.method == "ngram" || spec.method == "ngram_gpu") {
    ConfigValue list = ConfigValue::Array();
    for (const std::string& arch : state.architectures) {
      list.mutable_items().push_back(TextValue(arch));
    }
    draft_values.Set("architectures", std::move(list));
    draft_values.Set("max_model_len", NumberValue(out.max_model_len));
    draft_values.Set("dtype", TextValue("torch." + out.dtype));
    draft_values.Set("quantization", out.quantization.empty()
                                         ? ConfigValue::Null()
                                         : TextValue(out.quantization));
  }
  if (!spec.tokens) {
    RefuseDraft(state, "no number of speculative tokens",
                "num_speculative_tokens has no default here",
                "\"num_speculative_tokens\": 3");
    return;
  }
  SpeculativeSettings settings;
  settings.method = spec.method;
  settings.tokens = *spec.tokens;
  settings.model = spec.model;
  settings.draft_tensor_parallel = spec.draft_tp;
  if (draft && spec.model != state.in->launch->model && state.in->find) {
    if (const auto other = state.in->find(spec.model)) settings.draft = *other;
  }
  out.speculative = settings;
  ConfigValue printed = ConfigValue::Object();
  printed.Set("method", TextValue(spec.method));
  printed.Set("num_speculative_tokens", NumberValue(*spec.tokens));
  printed.Set("draft_tensor_parallel_size", spec.draft_tp
                                                ? NumberValue(*spec.draft_tp)
                                                : ConfigValue::Null());
  printed.Set("model", TextValue(spec.model));
  printed.Set("prompt_lookup_max", NumberValue(spec.high.value_or(0)));
  printed.Set("prompt_lookup_min", NumberValue(spec.low.value_or(0)));
  printed.Set("parallel_drafting", ConfigValue::Bool(spec.method == "dflash" ||
                                                     spec.method == "dspark"));
  if (!draft_values.members().empty()) {
    printed.Set("draft", std::move(draft_values));
  }
  state.out->resolved.Set("speculative", std::move(printed));
}

}  // namespace foretell::vllm
