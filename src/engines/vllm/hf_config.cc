#include "engines/vllm/hf_config.h"

#include <array>
#include <utility>

namespace foretell {
namespace {

// The class that an engine borrows under a model type of its own.
const ConfigClassFacts* Borrowed(const EngineFacts& facts,
                                 const ConfigClassFacts* type) {
  if (type == nullptr || !type->own || !type->has.empty()) return type;
  for (const auto& [name, one] : facts.model_types) {
    if (&one != type && one.class_name == type->class_name &&
        !one.has.empty()) {
      return &one;
    }
  }
  return type;
}

std::string_view Renamed(const ConfigClassFacts* type, std::string_view name) {
  if (type == nullptr) return "";
  for (const auto& [other, real] : type->map) {
    if (other == name) return real;
  }
  return "";
}

const ConfigValue* NotNull(const ConfigValue* value) {
  return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace

HfConfig::HfConfig(const ConfigValue* object, std::string model_type,
                   const EngineFacts& facts)
    : object_(object),
      model_type_(std::move(model_type)),
      type_(Borrowed(facts, facts.FindModelType(model_type_))),
      facts_(&facts) {}

const ConfigValue* HfConfig::Get(std::string_view name) const {
  // An attribute of another name is that other one, in the file and the class.
  const std::string_view real = Renamed(type_, name);
  if (object_ != nullptr) {
    if (!real.empty()) {
      if (const ConfigValue* value = NotNull(object_->Find(real))) return value;
    }
    if (const ConfigValue* value = object_->Find(name)) {
      if (name == "sliding_window" && type_ != nullptr &&
          type_->Default("use_sliding_window") != nullptr &&
          !Truth("use_sliding_window")) {
        return nullptr;
      }
      return NotNull(value);
    }
  }
  if (type_ == nullptr) return nullptr;
  if (name == "sliding_window" &&
      type_->Default("use_sliding_window") != nullptr &&
      !Truth("use_sliding_window")) {
    return nullptr;
  }
  if (!real.empty()) {
    if (const ConfigValue* value = NotNull(type_->Default(real))) return value;
  }
  return NotNull(type_->Default(name));
}

std::optional<int64_t> HfConfig::Integer(std::string_view name) const {
  const ConfigValue* value = Get(name);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

std::optional<double> HfConfig::Real(std::string_view name) const {
  const ConfigValue* value = Get(name);
  return value == nullptr ? std::nullopt : value->AsReal();
}

std::string HfConfig::Text(std::string_view name) const {
  const ConfigValue* value = Get(name);
  return value == nullptr ? "" : std::string(value->AsString().value_or(""));
}

bool HfConfig::Truth(std::string_view name) const {
  const ConfigValue* value = Get(name);
  return value != nullptr && value->AsBool().value_or(false);
}

bool HfConfig::HasAttribute(std::string_view name) const {
  if (object_ != nullptr && object_->Find(name) != nullptr) return true;
  return type_ != nullptr &&
         (type_->Default(name) != nullptr || !Renamed(type_, name).empty());
}

std::optional<HfConfig> HfConfig::Sub(std::string_view key) const {
  const ConfigValue* inner = object_ == nullptr ? nullptr : object_->Find(key);
  std::string type;
  if (type_ != nullptr) {
    for (const auto& [name, sub] : type_->sub) {
      if (name == key) type = sub;
    }
  }
  if (inner != nullptr && inner->is_object()) {
    if (const ConfigValue* said = inner->Find("model_type")) {
      const std::string stated(said->AsString().value_or(type));
      // A class that the library does not know is the one that it names.
      if (type.empty() || facts_->FindModelType(stated) != nullptr) {
        type = stated;
      }
    }
    return HfConfig(inner, type, *facts_);
  }
  if (inner == nullptr && !type.empty()) {
    // Older files of composite models write the text part flat.
    const bool flat = key == "text_config" && object_ != nullptr &&
                      object_->Find("hidden_size") != nullptr;
    return HfConfig(flat ? object_ : nullptr, type, *facts_);
  }
  return std::nullopt;
}

HfConfig HfConfig::TextPart() const {
  // Composite classes that answer for a part of a part.
  if (const auto thinker = Sub("thinker_config")) return thinker->TextPart();
  constexpr std::array<std::string_view, 6> kKeys = {
      "text_encoder", "decoder",    "generator",
      "text_config",  "llm_config", "language_config"};
  for (const std::string_view key : kKeys) {
    if (const auto part = Sub(key)) return *part;
  }
  return *this;
}

}  // namespace foretell
