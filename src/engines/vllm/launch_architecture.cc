// Heads, experts, layers, precision and length, as
// vllm/transformers_utils/model_arch_config_convertor.py and
// vllm/config/model.py read them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

constexpr std::array<std::string_view, 27> kLatent = {"axk1",
                                                      "AXK1",
                                                      "deepseek_v2",
                                                      "deepseek_v3",
                                                      "deepseek_v32",
                                                      "deepseek_v4",
                                                      "deepseek_v41",
                                                      "dots3_note",
                                                      "deepseek_mtp",
                                                      "k3_dspark",
                                                      "glm5_next",
                                                      "glm5_next_text",
                                                      "glm_moe_dsa",
                                                      "glm4_moe_lite",
                                                      "glm4_moe_lite_mtp",
                                                      "kimi_k2",
                                                      "kimi_linear",
                                                      "longcat_flash",
                                                      "pangu_ultra_moe",
                                                      "pangu_ultra_moe_mtp",
                                                      "bailing_hybrid",
                                                      "bailing_hybrid_mtp",
                                                      "bailing_hybrid_v3_mtp",
                                                      "hy_v4",
                                                      "hy_v4_mtp",
                                                      "kimi_k25",
                                                      "mistral_large_3"};

bool IsLatent(const HfConfig& text) {
  if (std::ranges::find(kLatent, text.model_type()) == kLatent.end()) {
    return false;
  }
  if (text.Get("compress_ratios") != nullptr) {
    return text.Get("head_dim") != nullptr;
  }
  return text.Get("kv_lora_rank") != nullptr;
}

// The first of the names that the configuration has.
const ConfigValue* FirstOf(const HfConfig& config,
                           std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (config.HasAttribute(name)) return config.Get(name);
  }
  return nullptr;
}

int64_t Experts(const HfConfig& text) {
  const ConfigValue* value =
      FirstOf(text, {"num_experts", "moe_num_experts", "n_routed_experts",
                     "num_local_experts"});
  int64_t count = 0;
  if (value != nullptr && value->is_array()) {
    count =
        value->items().empty() ? 0 : value->items()[0].AsInteger().value_or(0);
  } else if (value != nullptr) {
    count = value->AsInteger().value_or(0);
  }
  if (count != 0) return count;
  if (const ConfigValue* blocks = text.Get("block_configs")) {
    for (const ConfigValue& block : blocks->items()) {
      const ConfigValue* type = block.Find("block_type");
      const ConfigValue* routed = block.Find("n_routed_experts");
      if (type != nullptr && type->AsString() == "moe" && routed != nullptr) {
        count = std::max(count, routed->AsInteger().value_or(0));
      }
    }
  }
  return count;
}

int64_t KvHeads(const State& state) {
  const HfConfig& text = state.text;
  const std::string& type = state.config.model_type();
  if (type == "mamba" || type == "falcon_mamba" || type == "timm_wrapper") {
    return 0;
  }
  if (type == "falcon" || type == "RefinedWeb" || type == "RefinedWebModel") {
    if (!text.Truth("new_decoder_architecture") && text.Truth("multi_query")) {
      return 1;
    }
  }
  if (type == "gpt_bigcode" && text.Truth("multi_query")) return 1;
  if (type == "dbrx" || type == "mpt") {
    if (const ConfigValue* attn = text.Get("attn_config")) {
      const ConfigValue* heads = attn->Find("kv_n_heads");
      if (heads != nullptr) return heads->AsInteger().value_or(state.heads);
    }
    return state.heads;
  }
  if (type == "nemotron-nas") {
    if (const ConfigValue* blocks = text.Get("block_configs")) {
      for (const ConfigValue& block : blocks->items()) {
        const ConfigValue* attention = block.Find("attention");
        const ConfigValue* group = attention == nullptr
                                       ? nullptr
                                       : attention->Find("n_heads_in_group");
        if (group == nullptr || group->AsInteger().value_or(0) <= 0) continue;
        return state.heads / *group->AsInteger();
      }
    }
  }
  const ConfigValue* value =
      FirstOf(text, {"n_head_kv", "num_kv_heads", "num_key_value_heads",
                     "multi_query_group_num", "num_attention_groups"});
  if (value == nullptr) return state.heads;
  return value->AsInteger().value_or(state.heads);
}

int64_t HeadSize(const State& state) {
  const HfConfig& text = state.text;
  const std::string& type = state.config.model_type();
  if (type == "mamba" || type == "falcon_mamba" || type == "timm_wrapper") {
    return 0;
  }
  if (type == "zamba2") return text.Integer("attention_head_dim").value_or(0);
  if (IsLatent(text)) {
    if (text.Get("compress_ratios") != nullptr) {
      return text.Integer("head_dim").value_or(0);
    }
    const int64_t rope = text.Integer("qk_rope_head_dim").value_or(0);
    if (!state.Environment("VLLM_MLA_DISABLE")) {
      return text.Integer("kv_lora_rank").value_or(0) + rope;
    }
    const int64_t plain = text.Integer("qk_nope_head_dim").value_or(0);
    if (rope > 0 && plain > 0) return rope + plain;
  }
  if (type.starts_with("gemma4") && !state.Since(0, 20)) {
    const int64_t wide = std::max(text.Integer("head_dim").value_or(0),
                                  text.Integer("global_head_dim").value_or(0));
    if (wide > 0) return wide;
  }
  if (const auto head = text.Integer("head_dim"); head && *head > 0) {
    return *head;
  }
  if (const auto head = text.Integer("hidden_size_per_head")) return *head;
  return state.heads == 0 ? 0 : state.hidden / state.heads;
}

std::string DtypeOf(const HfConfig& config) {
  for (const std::string_view key : {"dtype", "torch_dtype"}) {
    std::string text = config.Text(key);
    if (text.starts_with("torch.")) text = text.substr(6);
    if (text == "half") text = "float16";
    if (text == "float") text = "float32";
    if (!text.empty() && text != "auto") return text;
  }
  return "";
}

// Models whose float16 overflows: _FLOAT16_NOT_SUPPORTED_MODELS.
bool BarsHalf(const State& state, const std::string& type) {
  if (!state.Since(0, 9)) return false;
  return type == "gemma2" || type == "gemma3" || type == "gemma3_text" ||
         type == "glm4" || (type == "plamo2" && !state.Since(0, 27));
}

struct RopeScaling {
  std::string type;
  std::optional<double> factor;
  std::optional<int64_t> original;
};

// rope_parameters, else the older rope_scaling; one entry per kind of layer
// where they are nested.
std::vector<RopeScaling> RopeOf(const State& state) {
  std::vector<RopeScaling> out;
  const HfConfig& text = state.text;
  const ConfigValue* value = text.Get("rope_parameters");
  const ConfigValue* older = text.Get("rope_scaling");
  // Under transformers 4 an object that --hf-overrides sets there comes after
  // the engine has read it.
  const ConfigValue* overrides = state.Flag("hf_overrides");
  if (older != nullptr && overrides != nullptr && !state.Since(0, 20) &&
      overrides->Find("rope_scaling") != nullptr) {
    older = state.in->model->root.Find("rope_scaling");
    if (older != nullptr && older->is_null()) older = nullptr;
  }
  if (value == nullptr || (older != nullptr && !state.Since(0, 20))) {
    value = older != nullptr ? older : value;
  }
  if (value == nullptr || !value->is_object()) return out;
  const auto add = [&](const ConfigValue& one) {
    RopeScaling scaling;
    const ConfigValue* type = one.Find("rope_type");
    if (type == nullptr) type = one.Find("type");
    scaling.type = type == nullptr ? "default"
                                   : std::string(type->AsString().value_or(""));
    if (scaling.type == "su") scaling.type = "longrope";
    if (scaling.type == "mrope") scaling.type = "default";
    if (const ConfigValue* factor = one.Find("factor")) {
      scaling.factor = factor->AsReal();
    }
    if (const ConfigValue* original =
            one.Find("original_max_position_embeddings")) {
      scaling.original = original->AsInteger();
    }
    out.push_back(std::move(scaling));
  };
  bool nested = !value->members().empty();
  for (const auto& [key, inner] : value->members()) {
    nested = nested && inner.is_object() && key.ends_with("attention");
  }
  if (nested) {
    for (const auto& [key, inner] : value->members()) add(inner);
  } else {
    add(*value);
  }
  return out;
}

struct Derived {
  double tokens = std::numeric_limits<double>::infinity();
  std::string key;
};

Derived DerivedLength(const State& state) {
  constexpr std::array<std::string_view, 9> kKeys = {"max_position_embeddings",
                                                     "n_positions",
                                                     "max_seq_len",
                                                     "seq_length",
                                                     "model_max_length",
                                                     "max_target_positions",
                                                     "max_sequence_length",
                                                     "max_seq_length",
                                                     "seq_len"};
  Derived out;
  for (const std::string_view key : kKeys) {
    const auto tokens = state.text.Real(key);
    if (!tokens) continue;
    if (key == "model_max_length" && !state.Since(0, 4)) continue;
    if (*tokens < out.tokens) {
      out.key = key;
      out.tokens = *tokens;
    }
  }
  // Until 0.8.4 it was one key among the others.
  if (const auto tokens = state.text.Real("model_max_length");
      tokens && *tokens != 0 && state.Since(0, 8, 4)) {
    out.key = "model_max_length";
    out.tokens = *tokens;
  }
  return out;
}

}  // namespace

void ReadArchitecture(State& state) {
  const HfConfig& text = state.text;
  if (const ConfigValue* heads = text.Get("num_attention_heads");
      heads != nullptr && heads->is_array()) {
    state.Refuse("other", "model",
                 fmt::format("{} has another number of heads at every stage",
                             state.config.model_type()),
                 "the engine divides by one number of heads",
                 "a model whose layers are alike");
  }
  state.heads = text.Integer("num_attention_heads").value_or(0);
  state.hidden = text.Integer("hidden_size").value_or(0);
  state.vocabulary = text.Integer("vocab_size").value_or(0);
  state.layers = text.Integer(state.config.model_type() == "longcat_flash"
                                  ? "num_layers"
                                  : "num_hidden_layers")
                     .value_or(0);
  state.kv_heads = KvHeads(state);
  state.head_size = HeadSize(state);
  state.experts = Experts(text);
  ServingSettings& out = state.settings();
  out.is_moe = state.experts > 0;
  const ConfigValue* kinds = text.Get("layers_block_type");
  if (kinds != nullptr && state.layers == 0) {
    state.layers = static_cast<int64_t>(kinds->items().size());
  }
  if (const ConfigValue* pattern = text.Get("hybrid_override_pattern");
      pattern != nullptr && state.layers == 0) {
    // NemotronHConfig: a letter for each layer.
    state.layers =
        static_cast<int64_t>(pattern->AsString().value_or("").size());
  }
  out.use_mla = IsLatent(text) && !state.Environment("VLLM_MLA_DISABLE");
  if (state.arch != nullptr && state.arch->group == "transformers-backend") {
    out.use_mla = out.use_mla || text.Get("kv_lora_rank") != nullptr;
  }
  state.sliding_window = text.Integer("sliding_window");
  if (const auto before = text.Integer("sliding_window_size");
      before && text.model_type() == "mimo_v2_flash" &&
      text.type() != nullptr) {
    // MiMoV2FlashConfig: the tokens before one, and that one.
    state.sliding_window = *before + 1;
  }
  // Gemma3TextConfig halves a window that looks both ways.
  if (state.sliding_window && text.model_type() == "gemma3_text" &&
      text.Truth("use_bidirectional_attention")) {
    state.sliding_window = *state.sliding_window / 2 + 1;
  }
  const std::string& type = state.config.model_type();
  if (type == "modernbert" && state.Since(0, 20)) {
    // ModernBertConfig: half of it on either side.
    state.sliding_window = text.Integer("local_attention").value_or(128) / 2;
  }
  const bool mixed_heads = type.starts_with("gemma4") && state.Since(0, 20) &&
                           text.Integer("global_head_dim").value_or(0) >
                               text.Integer("head_dim").value_or(0);
  // Layers of two widths are described by the wider one.
  if (mixed_heads) state.head_size = *text.Integer("global_head_dim");
  if (mixed_heads) {
    state.prefix_lm = false;
  } else if (const ConfigValue* said = state.config.Get("is_mm_prefix_lm")) {
    state.prefix_lm = said->AsBool().value_or(false);
  } else if (type.starts_with("gemma4") && state.Since(0, 20)) {
    state.prefix_lm = text.Text("use_bidirectional_attention") == "vision";
  } else {
    state.prefix_lm = type == "bagel" || type == "gemma3" || type == "molmo2" ||
                      type == "moondream3" || type == "paligemma";
  }
}

void ResolveDtype(State& state) {
  std::string config = DtypeOf(state.config);
  if (config.empty()) config = DtypeOf(state.text);
  for (const std::string_view key : {"vision_config", "encoder_config"}) {
    if (!config.empty()) break;
    if (const auto sub = state.config.Sub(key)) config = DtypeOf(*sub);
  }
  if (config.empty()) config = "float32";
  const std::string& type = state.config.model_type();
  const int capability = state.in->card->capability;
  std::vector<std::string> supported;
  if (capability >= 80) supported.emplace_back("bfloat16");
  if (capability >= 60 && !BarsHalf(state, type)) {
    supported.emplace_back("float16");
  }
  supported.emplace_back("float32");
  const auto has = [&](std::string_view one) {
    return std::ranges::find(supported, one) != supported.end();
  };
  // Before 0.9.1 "auto" did not look at the card.
  const bool looks = state.Since(0, 9, 1);
  std::string wanted = state.Text("dtype");
  if (wanted == "half") wanted = "float16";
  if (wanted == "float") wanted = "float32";
  std::string& dtype = state.settings().dtype;
  if (wanted.empty() || wanted == "auto") {
    const bool pools = state.runner == "pooling" && has("float16");
    const std::string preferred = pools ? "float16" : supported.front();
    if (config == "float32") {
      const bool wide = type == "gemma2" || type.starts_with("gemma3");
      config = looks ? preferred : wide ? "bfloat16" : "float16";
    }
    dtype = has(config) || !looks ? config : preferred;
    if (dtype != config) {
      state.Warn("dtype", "dtype",
                 fmt::format("{} (compute capability {}.{}) has no {}, so that "
                             "{} is taken",
                             state.in->card->name, capability / 10,
                             capability % 10, config, dtype),
                 "answers may differ from those of the trained precision");
    }
  } else {
    dtype = wanted;
  }
  if (dtype == "float16" && BarsHalf(state, type)) {
    state.Refuse("dtype", "dtype",
                 fmt::format("{} is not numerically stable in float16", type),
                 "it ends with \"does not support float16\"",
                 "--dtype bfloat16");
  } else if (dtype == "bfloat16" && capability > 0 && capability < 80) {
    state.RefuseAtStart(
        "dtype", "dtype",
        fmt::format("bfloat16 needs compute capability 8.0; {} has {}.{}",
                    state.in->card->name, capability / 10, capability % 10),
        "the worker ends with \"Bfloat16 is only supported on GPUs with "
        "compute "
        "capability of at least 8.0\"",
        "--dtype half");
  }
}

void ResolveLength(State& state) {
  ServingSettings& out = state.settings();
  Derived derived = DerivedLength(state);
  state.user_max_len = state.Number("max_model_len");
  if (!state.Given("max_model_len")) state.user_max_len.reset();
  const auto asked = state.user_max_len;
  if (asked && *asked < -1) {
    state.Refuse("context-length", "max_model_len",
                 fmt::format("--max-model-len is {}", *asked),
                 "a length of less than -1 is refused", "--max-model-len auto");
    return;
  }
  // Qwen2MoeConfig of transformers 5 writes an unused window as 0, which the
  // engine takes as switched off.
  const bool zero_window = state.text.model_type() == "qwen2_moe" &&
                           state.Since(0, 20) &&
                           !state.text.Truth("use_sliding_window");
  const bool no_window = state.Truth("disable_sliding_window") || zero_window;
  out.disable_sliding_window = no_window;
  if (no_window && state.sliding_window &&
      static_cast<double>(*state.sliding_window) < derived.tokens) {
    derived = {static_cast<double>(*state.sliding_window), "sliding_window"};
  }
  if (derived.tokens == std::numeric_limits<double>::infinity()) {
    if (asked) {
      out.max_model_len = *asked;
      return;
    }
    derived.tokens = 2048;  // vllm/config/model.py: default_max_len
    derived.key = "no key of the configuration";
  }
  const std::vector<RopeScaling> ropes = RopeOf(state);
  bool longrope = false;
  if (!ropes.empty() &&
      state.text.model_type().find("gemma3") == std::string::npos) {
    double factor = 1;
    for (const RopeScaling& rope : ropes) {
      longrope = longrope || rope.type == "longrope";
      const bool own = rope.type == "longrope" || rope.type == "llama3";
      if (own) continue;
      if (state.Since(0, 20)) {
        // Since transformers 5 the length of a yarn model is the stretched one.
        if (rope.type == "yarn" || rope.type == "deepseek_yarn" ||
            rope.type == "deepseek_llama_scaling") {
          continue;
        }
        factor = rope.factor.value_or(factor);
      } else {
        factor = rope.factor.value_or(factor);
        if (rope.type == "yarn" && rope.original) {
          derived.tokens = static_cast<double>(*rope.original);
        }
      }
    }
    derived.tokens *= factor;
  }
  out.derived_max_model_len = static_cast<int64_t>(derived.tokens);
  if (!asked || *asked == -1) {
    out.max_model_len = out.derived_max_model_len;
    if (longrope) {
      out.max_model_len = state.text.Integer("original_max_position_embeddings")
                              .value_or(out.derived_max_model_len);
    }
    return;
  }
  out.max_model_len = *asked;
  if (static_cast<double>(*asked) > derived.tokens) {
    const auto limit = state.Since(0, 4)
                           ? state.text.Integer("model_max_length")
                           : std::nullopt;
    if (!limit || *asked > *limit) {
      const bool allowed = state.Since(0, 5, 5) &&
                           state.Environment("VLLM_ALLOW_LONG_MAX_MODEL_LEN");
      const std::string what =
          fmt::format("--max-model-len {} is past the model's own {} ({})",
                      *asked, out.derived_max_model_len, derived.key);
      if (allowed) {
        state.Warn(
            "context-length", "max_model_len", what,
            "VLLM_ALLOW_LONG_MAX_MODEL_LEN lets it pass; positions past "
            "the trained range give poor text or NaN",
            fmt::format("--max-model-len {}", out.derived_max_model_len));
      } else {
        state.Refuse(
            "context-length", "max_model_len", what,
            "it ends with \"greater than the derived max_model_len\"",
            fmt::format("--max-model-len {}", out.derived_max_model_len));
      }
    }
  }
  if (*asked == 0 && state.Since(0, 23)) {
    state.Refuse("context-length", "max_model_len", "--max-model-len is 0",
                 "a positive length is required",
                 fmt::format("--max-model-len {}", out.derived_max_model_len));
  }
}

}  // namespace foretell::vllm
