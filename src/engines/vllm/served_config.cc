#include "engines/vllm/served_config.h"

#include <algorithm>

namespace foretell::vllm {
namespace {

// Where the text part of a model with towers stands, the order in which
// transformers' get_text_config and vLLM's own classes look.
constexpr std::string_view kTextParts[] = {
    "text_config",           "llm_config",     "language_config",
    "language_model_config", "thinker_config", "text_model_config"};

const ConfigValue* Present(const ConfigValue* object, std::string_view key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const ConfigValue* value = object->Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const ConfigValue* TextPart(const ConfigValue& root) {
  const ConfigValue* at = &root;
  // A thinker's configuration has a text_config of its own: twice is enough.
  for (int depth = 0; depth < 2; ++depth) {
    const ConfigValue* inner = nullptr;
    for (const std::string_view key : kTextParts) {
      const ConfigValue* value = Present(at, key);
      if (value != nullptr && value->is_object()) {
        inner = value;
        break;
      }
    }
    if (inner == nullptr) break;
    at = inner;
  }
  return at;
}

std::string TextOf(const ConfigValue* value) {
  if (value == nullptr) return {};
  return std::string(value->AsString().value_or(std::string_view()));
}

std::optional<int64_t> Bounded(const ConfigValue* value) {
  if (value == nullptr) return std::nullopt;
  const auto whole = value->AsInteger();
  if (!whole || *whole < 0 || *whole > kMostSize) return std::nullopt;
  return whole;
}

std::vector<std::string> Pattern(int64_t layers, int64_t every) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < layers; ++i) {
    out.emplace_back(every > 0 && (i + 1) % every != 0 ? "sliding_attention"
                                                       : "full_attention");
  }
  return out;
}

}  // namespace

ServedConfig::ServedConfig(const ModelConfig& config)
    : root_(&config.root), text_(TextPart(config.root)) {
  const ConfigValue* names = Present(root_, "architectures");
  if (names != nullptr && names->is_array() && !names->items().empty()) {
    architecture_ = TextOf(&names->items().front());
  }
  root_type_ = TextOf(Present(root_, "model_type"));
  text_type_ = TextOf(Present(text_, "model_type"));
  if (text_type_.empty()) text_type_ = root_type_;
}

const ConfigValue* ServedConfig::Find(std::string_view key) const {
  if (const ConfigValue* value = Present(text_, key)) return value;
  return Present(root_, key);
}

const ConfigValue* ServedConfig::FindInRoot(std::string_view key) const {
  return Present(root_, key);
}

std::optional<int64_t> ServedConfig::Written(std::string_view key) const {
  return Bounded(Present(text_, key));
}

std::optional<int64_t> ServedConfig::Size(
    std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (const auto value = Written(key)) return value;
  }
  for (const std::string_view key : keys) {
    // A key that is written as null keeps its null.
    if (text_->is_object() && text_->Find(key) != nullptr) continue;
    if (const auto value = ClassDefault(text_type_, key)) return value;
  }
  return std::nullopt;
}

bool ServedConfig::Flag(std::string_view key, bool otherwise) const {
  const ConfigValue* value = Find(key);
  if (value == nullptr) {
    const auto known = ClassDefault(text_type_, key);
    return known ? *known != 0 : otherwise;
  }
  return value->AsBool().value_or(otherwise);
}

std::string ServedConfig::Text(std::string_view key) const {
  return TextOf(Find(key));
}

std::vector<int64_t> ServedConfig::Integers(std::string_view key) const {
  std::vector<int64_t> out;
  const ConfigValue* value = Find(key);
  if (value == nullptr || !value->is_array()) return out;
  for (const ConfigValue& item : value->items()) {
    const auto as_flag = item.AsBool();
    out.push_back(as_flag ? (*as_flag ? 1 : 0) : item.AsInteger().value_or(0));
    if (out.size() >= static_cast<size_t>(kMostLayers)) break;
  }
  return out;
}

std::vector<std::string> ServedConfig::Texts(std::string_view key) const {
  std::vector<std::string> out;
  const ConfigValue* value = Find(key);
  if (value == nullptr || !value->is_array()) return out;
  for (const ConfigValue& item : value->items()) {
    out.push_back(TextOf(&item));
    if (out.size() >= static_cast<size_t>(kMostLayers)) break;
  }
  return out;
}

int64_t ServedConfig::layers() const {
  return std::min(
      SizeOr({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, 0),
      kMostLayers);
}

int64_t ServedConfig::hidden_size() const {
  return SizeOr({"hidden_size", "n_embd", "d_model"}, 0);
}

int64_t ServedConfig::attention_heads() const {
  return SizeOr({"num_attention_heads", "n_head", "n_heads", "num_heads"}, 0);
}

int64_t ServedConfig::key_value_heads() const {
  const std::string& type = text_type_;
  if (type == "falcon" || type == "RefinedWeb" || type == "RefinedWebModel") {
    if (!Flag("new_decoder_architecture", false) && Flag("multi_query", true)) {
      return 1;
    }
    return SizeOr({"num_kv_heads", "n_head_kv"}, attention_heads());
  }
  if (type == "gpt_bigcode") {
    return Flag("multi_query", true) ? 1 : attention_heads();
  }
  if (type == "dbrx" || type == "mpt") {
    const ConfigValue* part = Find("attn_config");
    return Bounded(Present(part, "kv_n_heads")).value_or(attention_heads());
  }
  return Size({"n_head_kv", "num_kv_heads", "num_key_value_heads",
               "multi_query_group_num", "num_attention_groups"})
      .value_or(attention_heads());
}

int64_t ServedConfig::head_dim() const {
  const auto named = Size({"head_dim", "attention_head_dim", "kv_channels",
                           "hidden_size_per_head"});
  if (named && *named > 0) return *named;
  const int64_t heads = attention_heads();
  return heads > 0 ? hidden_size() / heads : 0;
}

std::vector<std::string> ServedConfig::LayerTypes() const {
  std::vector<std::string> written = Texts("layer_types");
  if (written.empty()) written = Texts("layers_block_type");
  if (!written.empty()) {
    // Gemma 4's class makes its last layer a full one.
    if (text_type_.starts_with("gemma4")) written.back() = "full_attention";
    return written;
  }
  const int64_t n = layers();
  const std::string& type = text_type_;
  if (type == "gemma2" || type == "vaultgemma" || type == "gpt_oss") {
    return Pattern(n, 2);
  }
  if (type == "gemma3_text" || type == "gemma3") {
    return Pattern(n, SizeOr({"sliding_window_pattern"}, 6));
  }
  if (type.starts_with("gemma4")) {
    std::vector<std::string> out = Pattern(n, 6);
    if (!out.empty()) out.back() = "full_attention";
    return out;
  }
  if (type == "gemma3n_text" || type == "gemma3n") return Pattern(n, 5);
  if (type == "cohere2" || type == "olmo3") {
    return Pattern(n, SizeOr({"sliding_window_pattern"}, 4));
  }
  if (type == "afmoe") {
    return Pattern(n, SizeOr({"global_attn_every_n_layers"}, 4));
  }
  if (type == "exaone4" || type == "exaone_moe") {
    if (!Size({"sliding_window"})) return Pattern(n, 0);
    // "LLLG" is a pattern of as many letters.
    const std::string letters = Text("sliding_window_pattern");
    return Pattern(n, letters.empty() ? SizeOr({"sliding_window_pattern"}, 4)
                                      : static_cast<int64_t>(letters.size()));
  }
  if (type.starts_with("qwen2") || type == "qwen3" || type == "qwen3_moe" ||
      type == "qwen2_moe" || type == "dots1" || type == "ministral") {
    std::vector<std::string> out(static_cast<size_t>(n), "full_attention");
    const bool is_ministral = type == "ministral";
    if (!is_ministral && !Flag("use_sliding_window", false)) return out;
    if (!Size({"sliding_window"})) return out;
    const int64_t first = is_ministral ? 0 : SizeOr({"max_window_layers"}, 28);
    for (int64_t i = first; i < n; ++i) {
      out[static_cast<size_t>(i)] = "sliding_attention";
    }
    return out;
  }
  if (type.starts_with("qwen3_next") || type.starts_with("qwen3_5") ||
      type.starts_with("qwen3_6")) {
    const int64_t every = SizeOr({"full_attention_interval"}, 4);
    std::vector<std::string> out = Pattern(n, every);
    std::ranges::replace(out, std::string("sliding_attention"),
                         std::string("linear_attention"));
    return out;
  }
  return {};
}

const ConfigValue* ServedConfig::quantization() const {
  for (const ConfigValue* part : {root_, text_}) {
    for (const std::string_view key :
         {"quantization_config", "compression_config"}) {
      const ConfigValue* value = Present(part, key);
      if (value != nullptr && value->is_object()) return value;
    }
  }
  return nullptr;
}

}  // namespace foretell::vllm
