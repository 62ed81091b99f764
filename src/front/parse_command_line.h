// From the words of a command line to an `Invocation`, as the table says.
//
// CLI11 tells options from values; what a word means, which values are
// allowed and what an error says comes from the table. All mistakes of a line
// are collected, then thrown together as InputErrors, each with a caret under
// the word and a cure.
//
//   foretell model Qwen/Qwen3-8B --dtyp=fp16
//   error: command line: there is no option --dtyp
//     foretell model Qwen/Qwen3-8B --dtyp=fp16
//                                  ^
//   cure: did you mean --dtype?
//
// Where --help or --version is among the words, missing and wrong arguments
// are forgiven.
#ifndef FORETELL_FRONT_PARSE_COMMAND_LINE_H_
#define FORETELL_FRONT_PARSE_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

// `words` are the arguments after the program's name.
Invocation ParseCommandLine(const CommandTable& table,
                            std::vector<std::string> words);

// Whether the line asks for JSON, so that even errors about the line itself
// are written as JSON.
bool AsksForJson(const CommandTable& table,
                 const std::vector<std::string>& words);

}  // namespace foretell

#endif  // FORETELL_FRONT_PARSE_COMMAND_LINE_H_
