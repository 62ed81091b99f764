// What completion offers for a row of the command table.
//
// In: a row. Out: words in the row's order, the same for every shell; nothing
// where any text may stand.
#ifndef FORETELL_FRONT_OFFERED_WORDS_H_
#define FORETELL_FRONT_OFFERED_WORDS_H_

#include <string_view>
#include <vector>

#include "front/command_table.h"

namespace foretell {

// The commands that are not hidden.
std::vector<std::string_view> OfferedCommands(const CommandTable& table);

// Allowed values, else suggested ones.
std::vector<std::string_view> OfferedValues(const OptionRow& row);
// Allowed values, or the commands where the argument is one.
std::vector<std::string_view> OfferedValues(const CommandTable& table,
                                            const ArgumentRow& row);

}  // namespace foretell

#endif  // FORETELL_FRONT_OFFERED_WORDS_H_
