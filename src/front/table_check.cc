// CheckTable of front/command_table.h: what must hold for every table.
#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "front/command_table.h"
#include "front/value_check.h"

namespace foretell {
namespace {

bool IsKebabCase(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  return name.back() != '-' && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

void CheckOption(const OptionRow& row, std::set<std::string_view>* names) {
  const std::string name(row.name);
  std::vector<std::string_view> spellings = row.aliases;
  spellings.push_back(row.name);
  for (const std::string_view spelling : spellings) {
    FORETELL_CHECK(IsKebabCase(spelling), "not kebab-case: " + name);
    FORETELL_CHECK(names->insert(spelling).second,
                   "an option's name twice: " + std::string(spelling));
  }
  FORETELL_CHECK(row.doc.ends_with('.'), "no doc sentence: --" + name);
  FORETELL_CHECK(row.short_name == 0 || row.is_flag(),
                 "a short name for an option with a value: --" + name);
  FORETELL_CHECK(!row.value_optional || !row.allowed.empty(),
                 "an optional value of any text: --" + name);
  FORETELL_CHECK(row.least <= row.most, "no number is allowed: --" + name);
  FORETELL_CHECK(
      row.default_value.empty() || !CheckOptionValue(row, row.default_value),
      "a default that is not allowed: --" + name);
}

void CheckArguments(const CommandRow& command) {
  bool optional = false;
  bool repeatable = false;
  std::set<std::string_view> names;
  for (const ArgumentRow& row : command.arguments) {
    const std::string name(row.name);
    FORETELL_CHECK(names.insert(row.name).second,
                   "an argument's name twice: " + name);
    FORETELL_CHECK(row.doc.ends_with('.'), "no doc sentence: " + name);
    FORETELL_CHECK(row.optional || !optional,
                   "a required argument after an optional one: " + name);
    FORETELL_CHECK(!repeatable, "an argument after a repeatable one: " + name);
    optional = row.optional;
    repeatable = row.repeatable;
  }
}

void CheckCommand(const CommandTable& table, const CommandRow& command) {
  const std::string name(command.name);
  FORETELL_CHECK(IsKebabCase(command.name), "not kebab-case: " + name);
  FORETELL_CHECK(!command.summary.empty() && !command.summary.ends_with('.'),
                 "a summary is one line without a full stop: " + name);
  FORETELL_CHECK(command.description.ends_with('.'), "no description: " + name);
  FORETELL_CHECK(command.run != nullptr, "nothing to run: " + name);
  CheckArguments(command);
  std::set<std::string_view> names;
  for (const OptionRow& row : table.global_options) CheckOption(row, &names);
  for (const OptionRow& row : command.options) CheckOption(row, &names);
  FORETELL_CHECK(command.hidden || !command.examples.empty(),
                 "no example: " + name);
  for (const ExampleRow& row : command.examples) {
    FORETELL_CHECK(row.command.find(std::string(table.program) + " " + name) !=
                           std::string_view::npos &&
                       row.shows.ends_with('.'),
                   "an example of something else: " + name);
  }
  if (command.shape != nullptr) CheckShape(command.shape());
}

}  // namespace

void CheckTable(const CommandTable& table) {
  for (const std::string_view name :
       {"json", "format", "strict", "help", "version"}) {
    FORETELL_CHECK(
        std::ranges::find(table.global_options, name, &OptionRow::name) !=
            table.global_options.end(),
        "a table without --" + std::string(name));
  }
  std::set<std::string_view> names;
  for (const CommandRow& command : table.commands) {
    FORETELL_CHECK(names.insert(command.name).second,
                   "a command twice: " + std::string(command.name));
    CheckCommand(table, command);
  }
}

}  // namespace foretell
