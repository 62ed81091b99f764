#include "front/run_help.h"

#include <fmt/format.h>

#include <vector>

#include "base/input_error.h"
#include "front/command_help.h"
#include "front/command_table.h"

namespace foretell {

Outcome RunHelp(const Invocation& invocation) {
  const CommandTable& table = invocation.table();
  const std::vector<std::string> names = invocation.Arguments("COMMAND");
  if (names.empty()) return {.text = ProgramHelp(table)};
  const CommandRow* command = FindCommand(table, names[0]);
  if (command == nullptr) {
    throw InputErrors({invocation.PlaceOf("COMMAND"),
                       fmt::format("there is no command {}", names[0]),
                       NearestCommandCure(table, names[0])});
  }
  return {.text = CommandHelp(table, *command)};
}

}  // namespace foretell
