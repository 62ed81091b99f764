// What --help prints, made from the command table. Lines are at most 80
// columns wide.
//
// In: the table, or one row. Out: plain text, no colour; examples last.
#ifndef FORETELL_FRONT_COMMAND_HELP_H_
#define FORETELL_FRONT_COMMAND_HELP_H_

#include <string>
#include <string_view>

#include "front/command_table.h"

namespace foretell {

// "foretell model [OPTIONS] TARGET"
std::string UsageLine(const CommandTable& table, const CommandRow& command);

// "--explain [WHAT]", "-h, --help"
std::string OptionHead(const OptionRow& row);
// Its doc with what follows from the row: allowed values, default.
std::string OptionDoc(const OptionRow& row);

// What to do about a command that does not exist: the nearest names, and all.
std::string NearestCommandCure(const CommandTable& table,
                               std::string_view name);

std::string ProgramHelp(const CommandTable& table);
std::string CommandHelp(const CommandTable& table, const CommandRow& command);

}  // namespace foretell

#endif  // FORETELL_FRONT_COMMAND_HELP_H_
