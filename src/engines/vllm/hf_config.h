// A model's configuration as the library's class presents it to the engine:
// what the file says, what --hf-overrides set, the class's other names for an
// attribute, and the class's defaults.
//
// In: the file's values, the facts of the engine's version. Out: attributes by
// name, null where the class has none. Follows transformers'
// PreTrainedConfig (attribute_map, get_text_config) of the two releases in
// data/engines/transformers.jsonl.
//
// Does not model: what a class works out in code beyond the few rules that
// engines depend on (sliding_window without use_sliding_window, key and value
// heads that are those of attention).
#ifndef FORETELL_ENGINES_VLLM_HF_CONFIG_H_
#define FORETELL_ENGINES_VLLM_HF_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spec/config_value.h"
#include "spec/engine_facts.h"

namespace foretell {

class HfConfig {
 public:
  HfConfig() = default;
  // `object` may be null (a nested configuration that the file leaves out);
  // it and `facts` outlive this.
  HfConfig(const ConfigValue* object, std::string model_type,
           const EngineFacts& facts);

  // Null where neither the file nor the class has it, or it is None.
  const ConfigValue* Get(std::string_view name) const;
  std::optional<int64_t> Integer(std::string_view name) const;
  std::optional<double> Real(std::string_view name) const;
  std::string Text(std::string_view name) const;  // empty where none
  bool Truth(std::string_view name) const;
  // As Python's hasattr: the class or the file has it, even as None.
  bool HasAttribute(std::string_view name) const;

  const std::string& model_type() const { return model_type_; }
  const ConfigValue* object() const { return object_; }
  const ConfigClassFacts* type() const { return type_; }

  // The nested configuration of that key; nothing where there is none.
  std::optional<HfConfig> Sub(std::string_view key) const;
  // The part that generates text, or this.
  HfConfig TextPart() const;

 private:
  const ConfigValue* object_ = nullptr;
  std::string model_type_;
  const ConfigClassFacts* type_ = nullptr;
  const EngineFacts* facts_ = nullptr;
};

}  // namespace foretell

#endif  // FORETELL_ENGINES_VLLM_HF_CONFIG_H_
