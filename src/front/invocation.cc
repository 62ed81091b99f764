#include "front/invocation.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "front/command_line.h"
#include "front/command_table.h"

namespace foretell {
namespace {

const ArgumentRow* FindArgument(const CommandRow* command,
                                std::string_view name) {
  if (command == nullptr) return nullptr;
  const auto row =
      std::ranges::find(command->arguments, name, &ArgumentRow::name);
  return row == command->arguments.end() ? nullptr : &*row;
}

const OptionRow& OptionOf(const Invocation& invocation, std::string_view name) {
  const OptionRow* row =
      FindOption(invocation.table(), invocation.command(), name);
  FORETELL_CHECK(row != nullptr && row->name == name,
                 "the command has no option " + std::string(name));
  return *row;
}

}  // namespace

Invocation::Invocation(const CommandTable& table, const CommandRow* command,
                       std::vector<std::string> words,
                       std::vector<Given> arguments, std::vector<Given> options)
    : table_(&table),
      command_(command),
      words_(std::move(words)),
      arguments_(std::move(arguments)),
      options_(std::move(options)) {}

const std::string& Invocation::Argument(std::string_view name) const {
  const auto given = std::ranges::find(arguments_, name, &Given::name);
  FORETELL_CHECK(given != arguments_.end(),
                 "no such argument: " + std::string(name));
  return given->value;
}

std::vector<std::string> Invocation::Arguments(std::string_view name) const {
  FORETELL_CHECK(FindArgument(command_, name) != nullptr,
                 "the command has no argument " + std::string(name));
  std::vector<std::string> values;
  for (const Given& given : arguments_) {
    if (given.name == name) values.push_back(given.value);
  }
  return values;
}

bool Invocation::Has(std::string_view option) const {
  OptionOf(*this, option);
  return std::ranges::find(options_, option, &Given::name) != options_.end();
}

std::optional<std::string> Invocation::Text(std::string_view option) const {
  const OptionRow& row = OptionOf(*this, option);
  const auto given = std::ranges::find(options_, option, &Given::name);
  if (given != options_.end()) {
    if (given->value.empty()) return std::nullopt;
    return given->value;
  }
  if (row.default_value.empty()) return std::nullopt;
  return std::string(row.default_value);
}

std::optional<int64_t> Invocation::Integer(std::string_view option) const {
  FORETELL_CHECK(OptionOf(*this, option).kind == ValueKind::kInteger,
                 "not a whole number: " + std::string(option));
  const auto text = Text(option);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), number);
  FORETELL_CHECK(error == std::errc() && end == text->data() + text->size(),
                 "an unchecked number: " + *text);
  return number;
}

std::vector<std::string> Invocation::Texts(std::string_view option) const {
  OptionOf(*this, option);
  std::vector<std::string> values;
  for (const Given& given : options_) {
    if (given.name == option && !given.value.empty()) {
      values.push_back(given.value);
    }
  }
  return values;
}

Place Invocation::PlaceOf(std::string_view name, size_t index,
                          size_t inside) const {
  for (const std::vector<Given>* list : {&arguments_, &options_}) {
    for (const Given& given : *list) {
      if (given.name != name) continue;
      if (index-- > 0) continue;
      return PlaceInCommandLine(table_->program, words_, given.word,
                                given.offset + inside);
    }
  }
  return PlaceInCommandLine(table_->program, words_, words_.size());
}

Format Invocation::format() const {
  if (Has("json")) return Format::kJson;
  const auto format = ParseFormat(Text("format").value_or("text"));
  FORETELL_CHECK(format.has_value(), "an unchecked format");
  return *format;
}

}  // namespace foretell
