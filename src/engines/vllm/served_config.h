// A model's configuration as vLLM's classes read it: the text part, with the
// defaults of transformers' classes where a key is absent.
//
// In: a ModelConfig. Out: bounded whole numbers, flags and lists; nothing
// where neither the configuration nor its class says. A number past the bounds
// counts as absent.
// Source: vllm/transformers_utils/model_arch_config_convertor.py of 0.33.0;
// defaults and layer types of transformers 5.23.
#ifndef FORETELL_ENGINES_VLLM_SERVED_CONFIG_H_
#define FORETELL_ENGINES_VLLM_SERVED_CONFIG_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/config_value.h"
#include "spec/model_config.h"

namespace foretell::vllm {

class ServedConfig {
 public:
  explicit ServedConfig(const ModelConfig& config);

  // The first of `architectures`; empty where there is none.
  const std::string& architecture() const { return architecture_; }
  const std::string& root_type() const { return root_type_; }
  const std::string& text_type() const { return text_type_; }
  bool has_towers() const { return text_ != root_; }

  // The first of `keys` that the text part has, or that its class defaults.
  std::optional<int64_t> Size(
      std::initializer_list<std::string_view> keys) const;
  int64_t SizeOr(std::initializer_list<std::string_view> keys,
                 int64_t otherwise) const {
    return Size(keys).value_or(otherwise);
  }
  // As Size, but of what is written only.
  std::optional<int64_t> Written(std::string_view key) const;
  bool Flag(std::string_view key, bool otherwise) const;
  std::string Text(std::string_view key) const;  // empty where absent
  std::vector<int64_t> Integers(std::string_view key) const;
  std::vector<std::string> Texts(std::string_view key) const;
  // In the text part, then in the whole; null where absent or JSON null.
  const ConfigValue* Find(std::string_view key) const;
  const ConfigValue* FindInRoot(std::string_view key) const;

  int64_t layers() const;  // num_hidden_layers
  int64_t hidden_size() const;
  int64_t attention_heads() const;
  int64_t key_value_heads() const;  // all of them, before splitting
  int64_t head_dim() const;
  // Of every layer, "full_attention", "sliding_attention", "conv", … as the
  // class fills them in; empty where the class has none.
  std::vector<std::string> LayerTypes() const;
  // quantization_config, of the whole or of the text part; null without one.
  const ConfigValue* quantization() const;

 private:
  const ConfigValue* root_ = nullptr;
  const ConfigValue* text_ = nullptr;
  std::string architecture_;
  std::string root_type_;
  std::string text_type_;
};

// What transformers' class of that type takes for an absent key.
std::optional<int64_t> ClassDefault(std::string_view model_type,
                                    std::string_view key);

// Past these a number is no size of a layer.
inline constexpr int64_t kMostSize = int64_t{1} << 22;
inline constexpr int64_t kMostLayers = 4096;

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_SERVED_CONFIG_H_
