#include "answers/score/score_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace foretell {
namespace {

// Copies what lies at `path` of `from` to the same path of `to`.
void CopyPath(const ConfigValue& from, std::string_view path, ConfigValue& to) {
  const size_t dot = path.find('.');
  std::string_view key = path.substr(0, dot);
  const bool is_each = key.ends_with("[]") && dot != std::string_view::npos;
  if (is_each) key.remove_suffix(2);
  const ConfigValue* value = from.Find(key);
  if (is_each && value != nullptr && value->is_array()) {
    // Of every item of a list, the rest of the path.
    if (to.Find(key) == nullptr) to.Set(key, ConfigValue::Array());
    std::vector<ConfigValue>& items = to.Find(key)->mutable_items();
    for (size_t i = 0; i < value->items().size(); ++i) {
      if (i >= items.size()) items.push_back(ConfigValue::Object());
      CopyPath(value->items()[i], path.substr(dot + 1), items[i]);
    }
    return;
  }
  if (value == nullptr) return;
  if (dot == std::string_view::npos) {
    to.Set(key, *value);
    return;
  }
  if (!value->is_object()) return;
  if (to.Find(key) == nullptr) to.Set(key, ConfigValue::Object());
  CopyPath(*value, path.substr(dot + 1), *to.Find(key));
}

std::string NumberText(double value) {
  if (std::abs(value) < 9e15 && value == std::floor(value)) {
    return WithSeparators(static_cast<int64_t>(value));
  }
  return fmt::format("{:.6g}", value);
}

std::string RangeText(const Measured& measured) {
  if (measured.low == measured.high) return NumberText(measured.value);
  return fmt::format("{} to {}", NumberText(measured.low),
                     NumberText(measured.high));
}

void CompareFigure(const AnyFigure& figure, const Measured& measured,
                   Score& out) {
  out.predicted = figure.ToString();
  out.measured = RangeText(measured);
  const auto value = figure.value();
  if (figure.is_unknown() || !value) {
    out.predicted = "nothing";
    for (const std::string& reason : figure.missing()) {
      if (!out.note.empty()) break;
      out.note = reason;
    }
    out.error = 1;
    return;
  }
  const double near = std::clamp(*value, measured.low, measured.high);
  out.equal = *value == near;
  if (measured.comparison == Comparison::kInside) {
    out.error = out.equal ? 0 : 1;
    return;
  }
  if (measured.comparison == Comparison::kCovered) {
    out.equal = figure.low().value_or(*value) <= measured.high &&
                figure.high().value_or(*value) >= measured.low;
    out.error = out.equal ? 0 : 1;
    return;
  }
  if (near == 0) {
    out.error = *value == 0 ? 0 : 1;
  } else {
    out.error = std::abs(*value / near - 1);
    const double ratio = *value / near;
    if (ratio > 0) out.ratio = ratio;
  }
  if (figure.is_exact() || !figure.low() || !figure.high()) return;
  out.covered =
      *figure.low() <= measured.high && *figure.high() >= measured.low;
}

}  // namespace

ScoreSettings::ScoreSettings(const ConfigValue& fields,
                             std::span<const std::string_view> allowed)
    : fields_(ConfigValue::Object()) {
  for (const std::string_view path : allowed) CopyPath(fields, path, fields_);
}

const ConfigValue* FieldAt(const ConfigValue& object, std::string_view path) {
  const ConfigValue* at = &object;
  while (true) {
    const size_t dot = path.find('.');
    at = at->Find(path.substr(0, dot));
    if (at == nullptr || at->is_null()) return nullptr;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

const ConfigValue* ScoreSettings::Get(std::string_view path) const {
  return FieldAt(fields_, path);
}

std::optional<std::string> ScoreSettings::Text(std::string_view path) const {
  const ConfigValue* value = Get(path);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(*value->AsString());
}

std::optional<int64_t> ScoreSettings::Integer(std::string_view path) const {
  const ConfigValue* value = Get(path);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

std::optional<double> ScoreSettings::Real(std::string_view path) const {
  const ConfigValue* value = Get(path);
  return value == nullptr ? std::nullopt : value->AsReal();
}

std::optional<bool> ScoreSettings::Flag(std::string_view path) const {
  const ConfigValue* value = Get(path);
  return value == nullptr ? std::nullopt : value->AsBool();
}

Measured MeasuredNumber(std::string quantity, double value,
                        std::vector<std::string> groups) {
  return {.quantity = std::move(quantity),
          .comparison = Comparison::kRelative,
          .value = value,
          .low = value,
          .high = value,
          .groups = std::move(groups)};
}

Measured MeasuredInside(std::string quantity, double low, double high,
                        std::vector<std::string> groups) {
  return {.quantity = std::move(quantity),
          .comparison = Comparison::kInside,
          .value = (low + high) / 2,
          .low = low,
          .high = high,
          .groups = std::move(groups)};
}

Measured MeasuredText(std::string quantity, std::string text,
                      std::vector<std::string> groups) {
  return {.quantity = std::move(quantity),
          .comparison = Comparison::kText,
          .text = std::move(text),
          .groups = std::move(groups)};
}

Score Compare(const Predicted& predicted, const Measured& measured) {
  Score out;
  out.quantity = measured.quantity;
  out.groups = measured.groups;
  out.groups.insert(out.groups.begin(), "all");
  out.comparison = measured.comparison;
  out.note = predicted.note;
  out.measured_value = measured.value;
  const auto* figure = std::get_if<AnyFigure>(&predicted.value);
  if (measured.comparison != Comparison::kText && figure != nullptr) {
    CompareFigure(*figure, measured, out);
    return out;
  }
  out.predicted = figure != nullptr ? figure->ToString()
                                    : std::get<std::string>(predicted.value);
  out.measured = measured.comparison == Comparison::kText ? measured.text
                                                          : RangeText(measured);
  out.equal = measured.comparison == Comparison::kText && figure == nullptr &&
              out.predicted == measured.text;
  out.error = out.equal ? 0 : 1;
  return out;
}

}  // namespace foretell
