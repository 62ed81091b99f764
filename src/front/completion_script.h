// The completion scripts of the shells, made from the command table.
//
// They complete commands, options, allowed values, files, and model ids by
// calling the hidden `foretell complete-ids PREFIX`. Written for bash 4, zsh 5
// and fish 3.
#ifndef FORETELL_FRONT_COMPLETION_SCRIPT_H_
#define FORETELL_FRONT_COMPLETION_SCRIPT_H_

#include <string>

#include "front/command_table.h"

namespace foretell {

std::string BashCompletion(const CommandTable& table);
std::string ZshCompletion(const CommandTable& table);
std::string FishCompletion(const CommandTable& table);

}  // namespace foretell

#endif  // FORETELL_FRONT_COMPLETION_SCRIPT_H_
