#include "models/layers/check_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace foretell {
namespace {

bool IsSpelledAsFraction(const ConfigValue& value) {
  return value.spelling().find_first_of(".eEnNiI") != std::string::npos;
}

bool IsWhole(const ConfigValue& value) {
  return value.is_number() && !IsSpelledAsFraction(value);
}

bool Fits(const ConfigValue& value, FieldKind kind) {
  switch (kind) {
    case FieldKind::kWhole:
      return IsWhole(value);
    case FieldKind::kWholes:
      return IsWhole(value) ||
             (value.is_array() && std::ranges::all_of(value.items(), IsWhole));
    case FieldKind::kFloat:
      return value.is_number() && IsSpelledAsFraction(value);
    case FieldKind::kNumber:
      return value.is_number();
    case FieldKind::kFlag:
      return value.AsBool().has_value();
    case FieldKind::kText:
      return value.is_string();
  }
  return true;
}

std::string_view NameOf(FieldKind kind) {
  switch (kind) {
    case FieldKind::kWhole:
      return "a whole number";
    case FieldKind::kWholes:
      return "a whole number or a list of them";
    case FieldKind::kFloat:
      return "a number with a decimal point or exponent";
    case FieldKind::kNumber:
      return "a number";
    case FieldKind::kFlag:
      return "true or false";
    case FieldKind::kText:
      return "a string";
  }
  return "";
}

}  // namespace

void CheckFields(const ConfigView& config,
                 std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    const ConfigValue* value = config.Raw(field.key);
    if (value == nullptr || (value->is_null() && field.nullable)) continue;
    if (Fits(*value, field.kind)) continue;
    const std::string shown = value->is_number()
                                  ? value->spelling().substr(0, 40)
                                  : std::string(value->KindName());
    config.Problem(
        field.key,
        fmt::format("is {}, not {}{}", shown, NameOf(field.kind),
                    field.nullable ? " or null" : ""),
        fmt::format("write {} or remove the key", NameOf(field.kind)));
  }
}

void CheckCommonFields(const ConfigView& config) {
  CheckFields(config, {{"use_cache", FieldKind::kFlag},
                       {"bos_token_id", FieldKind::kWhole, true},
                       {"eos_token_id", FieldKind::kWholes, true}});
  // Only fields that the class itself declares are checked, and these it
  // inherits.
  config.Ignore({"is_encoder_decoder", "output_hidden_states", "return_dict",
                 "chunk_size_feed_forward"});
  if (config.Has("per_layer_config")) {
    config.Problem("per_layer_config",
                   "gives single layers settings of their own, which no "
                   "family here reads",
                   "remove the key, or describe the model without it");
  }
}

// A row may be counted from the end too.
void CheckPadding(const ConfigView& config, int64_t vocabulary,
                  std::optional<int64_t> otherwise) {
  const bool is_absent = config.Raw("pad_token_id") == nullptr;
  const auto padding =
      is_absent ? otherwise : config.OptionalInteger({"pad_token_id"});
  if (!padding || (*padding < vocabulary && *padding >= -vocabulary)) return;
  config.Find("model/padding", Severity::kBlock, "pad_token_id",
              fmt::format("pad_token_id {} is no row of a table of {}",
                          *padding, vocabulary),
              "the embedding refuses it as the model is built",
              "correct pad_token_id, or vocab_size");
}

std::optional<int64_t> ReadPadding(const ConfigView& config, int64_t otherwise,
                                   std::initializer_list<PaddedTable> tables) {
  if (config.Raw("pad_token_id") != nullptr) {
    for (const PaddedTable& table : tables) CheckPadding(config, table.rows);
    return config.OptionalInteger({"pad_token_id"});
  }
  config.Derive("pad_token_id", ConfigValue::Number(std::to_string(otherwise)));
  for (const auto& [key, rows] : tables) {
    if (otherwise < rows) continue;
    config.Find(
        "model/padding", Severity::kBlock, key,
        fmt::format("{} is {}, and pad_token_id {} by default",
                    config.PathOf(key), rows, otherwise),
        fmt::format("the embedding has no row {} to set to zero", otherwise),
        fmt::format("correct {}", key));
  }
  return otherwise;
}

int64_t SizeOrEmpty(const ConfigView& config,
                    std::initializer_list<std::string_view> keys,
                    int64_t otherwise) {
  const int64_t size = config.SizeOrZero(keys, otherwise);
  if (size == 0) {
    config.Find("model/empty", Severity::kWarn, *keys.begin(),
                fmt::format("{} is 0", config.PathOf(*keys.begin())),
                "the library builds empty tensors and says nothing; the "
                "forward fails on them",
                fmt::format("\"{}\": {}", *keys.begin(), otherwise));
  }
  return size;
}

}  // namespace foretell
