#include "spec/config_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/ignorable_keys.h"

namespace foretell {

ConfigView::ConfigView(const ModelConfig& config, ConfigLog& log)
    : config_(&config), log_(&log), object_(&config.root) {}

ConfigView ConfigView::Nested(std::string_view key) const {
  ConfigView out = *this;
  out.prefix_ = PathOf(key) + ".";
  out.object_ = nullptr;
  const ConfigValue* value = Raw(key);
  if (value == nullptr || value->is_null()) return out;
  if (!value->is_object()) {
    WrongKind({key, value}, "an object");
    return out;
  }
  out.object_ = value;
  return out;
}

ConfigView ConfigView::NestedOr(std::string_view key,
                                const ConfigValue* otherwise) const {
  ConfigView out = Nested(key);
  if (!Has(key)) out.object_ = otherwise;
  return out;
}

std::string ConfigView::PathOf(std::string_view key) const {
  return prefix_ + std::string(key);
}

Place ConfigView::PlaceOf(std::string_view key) const {
  const ConfigValue* value = object_ ? object_->Find(key) : nullptr;
  if (value != nullptr) return config_->PlaceOf(*value, PathOf(key));
  Place place;
  place.source = config_->source;
  place.key = PathOf(key);
  return place;
}

const ConfigValue* ConfigView::Raw(std::string_view key) const {
  log_->read.insert(PathOf(key));
  return object_ ? object_->Find(key) : nullptr;
}

bool ConfigView::Has(std::string_view key) const {
  const ConfigValue* value = Raw(key);
  return value != nullptr && !value->is_null();
}

void ConfigView::Ignore(Keys keys) const {
  for (const std::string_view key : keys) log_->read.insert(PathOf(key));
}

void ConfigView::Problem(std::string_view key, std::string what,
                         std::string cure) const {
  log_->problems.push_back({PlaceOf(key), std::move(what), std::move(cure)});
}

void ConfigView::Find(std::string_view rule, Severity severity,
                      std::string_view key, std::string what, std::string why,
                      std::string fix) const {
  log_->findings.push_back({std::string(rule), severity, std::move(what),
                            std::move(why), std::move(fix), PlaceOf(key)});
}

bool ConfigView::RefuseNull(Keys keys, std::string_view wanted) const {
  for (const std::string_view key : keys) {
    const ConfigValue* value = Raw(key);
    if (value == nullptr || !value->is_null()) continue;
    Problem(key, fmt::format("is null, not {}", wanted),
            "write a value or remove the key: the class takes no null here");
    return true;
  }
  return false;
}

ConfigView::Found ConfigView::Get(Keys keys) const {
  Found found;
  for (const std::string_view key : keys) {
    const ConfigValue* value = Raw(key);
    if (value == nullptr || value->is_null()) continue;
    if (found.value == nullptr) {
      found = {key, value};
    } else if (!(*found.value == *value)) {
      Find("config/two-names", Severity::kWarn, key,
           fmt::format("{} and {} name one setting and differ: {} and {}",
                       PathOf(found.key), PathOf(key), found.value->ToJson(),
                       value->ToJson()),
           fmt::format("the library applies {} last, so its value is used",
                       found.key),
           fmt::format("remove {}", PathOf(key)));
    }
  }
  return found;
}

void ConfigView::Derive(std::string_view key, ConfigValue value) const {
  log_->derived.push_back({PathOf(key), std::move(value)});
}

void ConfigView::NoteDefault(Keys keys, std::string value) const {
  const std::string path = PathOf(*keys.begin());
  const auto same = [&path](const ConfigLog::Default& entry) {
    return entry.key == path;
  };
  if (std::ranges::any_of(log_->defaults, same)) return;
  log_->defaults.push_back({path, std::move(value)});
}

void ConfigView::WrongKind(const Found& found, std::string_view wanted) const {
  Problem(found.key,
          fmt::format("is {}, not {}", found.value->KindName(), wanted),
          fmt::format("write {} or remove the key", wanted));
}

int64_t ConfigView::Bounded(Keys keys, int64_t otherwise, int64_t least,
                            int64_t most, std::string_view kind) const {
  const std::string wanted = fmt::format("{} from {} to {}", kind, least, most);
  const Found found = Get(keys);
  // Also of a name beside one that is stated: each is set, or its type checked.
  if (RefuseNull(keys, wanted)) return otherwise;
  if (found.value == nullptr) {
    NoteDefault(keys, std::to_string(otherwise));
    return otherwise;
  }
  if (!found.value->is_number()) {
    WrongKind(found, wanted);
    return otherwise;
  }
  const auto whole = found.value->AsInteger();
  if (!whole || *whole < least || *whole > most) {
    Problem(found.key,
            fmt::format("is {}, not {}", found.value->spelling().substr(0, 40),
                        wanted),
            "correct the value");
    return otherwise;
  }
  // transformers 5.23 checks types strictly: 4096.0 is no int.
  if (found.value->spelling().find_first_of(".eE") != std::string::npos) {
    Problem(found.key,
            fmt::format("is {}, a number with a fraction or exponent, which "
                        "the class does not take as a whole number",
                        found.value->spelling().substr(0, 40)),
            fmt::format("write {}", *whole));
  }
  return *whole;
}

int64_t ConfigView::Whole(Keys keys, int64_t otherwise) const {
  return Bounded(keys, otherwise, -kLargestSize, kLargestSize,
                 "a whole number");
}

int64_t ConfigView::Size(Keys keys, int64_t otherwise) const {
  return Bounded(keys, otherwise, 1, kLargestSize, "a size");
}

int64_t ConfigView::Layers(Keys keys, int64_t otherwise) const {
  const int64_t layers = Bounded(keys, otherwise, -kLargestLayerCount,
                                 kLargestLayerCount, "a number of layers");
  if (layers < 1) {
    Find("model/no-layers", Severity::kWarn, *keys.begin(),
         fmt::format("{} is {}", PathOf(*keys.begin()), layers),
         "the library builds a model without any layer and says nothing",
         "state the number of layers");
  }
  return std::max<int64_t>(
      0, std::min(layers, log_->most_layers.value_or(layers)));
}

int64_t ConfigView::SizeOrZero(Keys keys, int64_t otherwise) const {
  const int64_t size = Bounded(keys, otherwise, 0, kLargestSize, "a size");
  if (size == 0 && otherwise != 0) {
    Find("config/zero-size", Severity::kWarn, *keys.begin(),
         fmt::format("{} is 0", PathOf(*keys.begin())),
         "the library builds tensors without elements, or leaves the part out",
         "state the size that is meant");
  }
  return size;
}

std::optional<int64_t> ConfigView::OptionalSize(Keys keys) const {
  if (Get(keys).value == nullptr) return std::nullopt;
  return Size(keys, 1);
}

std::optional<int64_t> ConfigView::OptionalInteger(Keys keys) const {
  const Found found = Get(keys);
  if (found.value == nullptr) return std::nullopt;
  const auto whole = found.value->AsInteger();
  if (!whole) WrongKind(found, "a whole number");
  return whole;
}

double ConfigView::Real(Keys keys, double otherwise) const {
  const Found found = Get(keys);
  if (found.value == nullptr) {
    if (!RefuseNull(keys, "a number")) {
      NoteDefault(keys, fmt::format("{}", otherwise));
    }
    return otherwise;
  }
  const auto real = found.value->AsReal();
  if (!real) {
    WrongKind(found, "a number");
    return otherwise;
  }
  return *real;
}

std::optional<double> ConfigView::OptionalReal(Keys keys) const {
  if (Get(keys).value == nullptr) return std::nullopt;
  return Real(keys, 0);
}

bool ConfigView::Flag(Keys keys, bool otherwise) const {
  const Found found = Get(keys);
  if (found.value == nullptr) {
    if (!RefuseNull(keys, "true or false")) {
      NoteDefault(keys, otherwise ? "true" : "false");
    }
    return otherwise;
  }
  const auto flag = found.value->AsBool();
  if (flag) return *flag;
  WrongKind(found, "true or false");
  return otherwise;
}

std::string ConfigView::Text(Keys keys, std::string_view otherwise) const {
  const Found found = Get(keys);
  if (found.value == nullptr) {
    if (!RefuseNull(keys, "a string")) {
      NoteDefault(keys, fmt::format("\"{}\"", otherwise));
    }
    return std::string(otherwise);
  }
  const auto text = found.value->AsString();
  if (!text) {
    WrongKind(found, "a string");
    return std::string(otherwise);
  }
  return std::string(*text);
}

std::optional<std::string> ConfigView::OptionalText(Keys keys) const {
  if (Get(keys).value == nullptr) return std::nullopt;
  return Text(keys, "");
}

std::optional<std::vector<std::string>> ConfigView::TextList(Keys keys) const {
  const Found found = Get(keys);
  if (found.value == nullptr) return std::nullopt;
  std::vector<std::string> out;
  for (const ConfigValue& item : found.value->items()) {
    const auto text = item.AsString();
    if (!text) {
      WrongKind(found, "a list of strings");
      return std::nullopt;
    }
    out.emplace_back(*text);
  }
  if (!found.value->is_array()) {
    WrongKind(found, "a list of strings");
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<int64_t>> ConfigView::IntegerList(Keys keys) const {
  const Found found = Get(keys);
  if (found.value == nullptr) return std::nullopt;
  std::vector<int64_t> out;
  for (const ConfigValue& item : found.value->items()) {
    const auto whole = item.AsInteger();
    if (!whole) {
      WrongKind(found, "a list of whole numbers");
      return std::nullopt;
    }
    out.push_back(*whole);
  }
  if (!found.value->is_array()) {
    WrongKind(found, "a list of whole numbers");
    return std::nullopt;
  }
  return out;
}

namespace {

bool AnyReadBelow(const ConfigLog& log, const std::string& prefix) {
  const auto at = log.read.lower_bound(prefix);
  return at != log.read.end() && at->starts_with(prefix);
}

void CollectUnread(const ConfigValue& object, const std::string& prefix,
                   const ConfigLog& log, std::vector<std::string>& out) {
  for (const auto& [key, value] : object.members()) {
    const std::string path = prefix + key;
    const bool nested = value.is_object() && AnyReadBelow(log, path + ".");
    if (nested) {
      CollectUnread(value, path + ".", log, out);
    } else if (!log.read.contains(path) && !IsIgnorableKey(path)) {
      out.push_back(path);
    }
  }
}

}  // namespace

std::vector<std::string> UnreadKeys(const ModelConfig& config,
                                    const ConfigLog& log) {
  std::vector<std::string> out;
  CollectUnread(config.root, "", log, out);
  return out;
}

}  // namespace foretell
