#include "input/row_fields.h"

#include <fmt/format.h>

#include <utility>

#include "input/json.h"
#include "spec/model_config.h"

namespace foretell {
namespace {

const std::vector<ConfigValue>& NoItems() {
  static const auto& items = *new std::vector<ConfigValue>();
  return items;
}

}  // namespace

const ConfigValue* RowFields::Get(std::string_view key) const {
  const ConfigValue* value = object_->Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void RowFields::Problem(const ConfigValue* value, std::string_view key,
                        std::string what, std::string cure) const {
  const int64_t offset = (value == nullptr ? object_ : value)->offset();
  Place place = PlaceAt(*line_->text, offset, line_->source, std::string(key));
  if (line_->line != kOwnLines) place.line = line_->line;
  errors_->push_back({std::move(place), std::move(what), std::move(cure)});
}

std::string RowFields::Text(std::string_view key) const {
  if (Get(key) == nullptr) {
    Problem(nullptr, key, "is missing", "write a string");
    return "";
  }
  return OptionalText(key);
}

std::string RowFields::OptionalText(std::string_view key) const {
  const ConfigValue* value = Get(key);
  if (value == nullptr) return "";
  const auto text = value->AsString();
  if (!text) {
    Problem(value, key, fmt::format("is {}, not a string", value->KindName()),
            "write a string");
    return "";
  }
  return std::string(*text);
}

int64_t RowFields::Count(std::string_view key) const {
  const ConfigValue* value = Get(key);
  if (value == nullptr) {
    Problem(nullptr, key, "is missing", "write a whole number from 0");
    return 0;
  }
  const auto count = value->AsInteger();
  if (!count || *count < 0) {
    Problem(value, key, "is not a whole number from 0",
            "write a whole number from 0");
    return 0;
  }
  return *count;
}

const ConfigValue* RowFields::Object(std::string_view key) const {
  const ConfigValue* value = Get(key);
  if (value == nullptr || value->is_object()) return value;
  Problem(value, key, fmt::format("is {}, not an object", value->KindName()),
          "write an object");
  return nullptr;
}

const std::vector<ConfigValue>& RowFields::Items(std::string_view key) const {
  const ConfigValue* value = Get(key);
  if (value == nullptr) return NoItems();
  if (!value->is_array()) {
    Problem(value, key, fmt::format("is {}, not an array", value->KindName()),
            "write an array");
    return NoItems();
  }
  return value->items();
}

std::optional<ConfigValue> ReadRow(const RowLine& line,
                                   std::vector<InputError>& errors) {
  JsonResult json = ReadJson(*line.text, line.source);
  if (json.error) {
    if (line.line != kOwnLines) json.error->place.line = line.line;
    errors.push_back(std::move(*json.error));
    return std::nullopt;
  }
  if (json.value.is_object()) return std::move(json.value);
  Place place = PlaceAt(*line.text, json.value.offset(), line.source, "");
  if (line.line != kOwnLines) place.line = line.line;
  errors.push_back(
      {std::move(place),
       fmt::format("a row is {}, not an object", json.value.KindName()),
       "write one JSON object a line"});
  return std::nullopt;
}

}  // namespace foretell
