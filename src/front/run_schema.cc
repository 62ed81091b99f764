#include "front/run_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/input_error.h"
#include "front/command_help.h"
#include "front/command_table.h"
#include "report/json_schema.h"

namespace foretell {

Outcome RunSchema(const Invocation& invocation) {
  const CommandTable& table = invocation.table();
  const std::string& name = invocation.Argument("COMMAND");
  if (name == "errors") return {.text = ErrorsJsonSchema()};
  const CommandRow* command = FindCommand(table, name);
  if (command != nullptr && command->shape != nullptr) {
    return {.text = JsonSchema(command->shape())};
  }
  if (command == nullptr) {
    throw InputErrors({invocation.PlaceOf("COMMAND"),
                       fmt::format("there is no command {}", name),
                       NearestCommandCure(table, name)});
  }
  std::vector<std::string_view> with_schema;
  for (const CommandRow& row : table.commands) {
    if (row.shape != nullptr && !row.hidden) with_schema.push_back(row.name);
  }
  throw InputErrors(
      {invocation.PlaceOf("COMMAND"),
       fmt::format("{} {} answers with a text", table.program, name),
       fmt::format("schemas exist for {}, errors",
                   fmt::join(with_schema, ", "))});
}

}  // namespace foretell
