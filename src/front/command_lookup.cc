// Finding rows in a command table, and the options that every table has.
#include <algorithm>

#include "front/command_table.h"
#include "report/render.h"

namespace foretell {
namespace {

const OptionRow* FindIn(const std::vector<OptionRow>& rows,
                        std::string_view name) {
  for (const OptionRow& row : rows) {
    if (row.name == name ||
        std::ranges::find(row.aliases, name) != row.aliases.end()) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

const CommandRow* FindCommand(const CommandTable& table,
                              std::string_view name) {
  const auto row = std::ranges::find(table.commands, name, &CommandRow::name);
  return row == table.commands.end() ? nullptr : &*row;
}

const OptionRow* FindOption(const CommandTable& table,
                            const CommandRow* command, std::string_view name) {
  if (command != nullptr) {
    const OptionRow* row = FindIn(command->options, name);
    if (row != nullptr) return row;
  }
  return FindIn(table.global_options, name);
}

std::vector<OptionRow> GlobalOptions() {
  return {
      {.name = "json", .doc = "Answer in JSON; the same as --format json."},
      {.name = "format",
       .value = "NAME",
       .doc = "How to write the answer.",
       .allowed = FormatNames(),
       .default_value = "text",
       .aliases = {"output"}},
      {.name = "strict",
       .doc = "Exit with 1 also where a rule could not be judged."},
      {.name = "help", .short_name = 'h', .doc = "Say how this is used."},
      {.name = "version", .doc = "Print the version."},
  };
}

}  // namespace foretell
