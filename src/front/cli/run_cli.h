// One run of the command line: parse, run, render, and the only place where
// exceptions end.
//
// Exit status: 0 nothing blocks, 1 something blocks, differs or falls short
// (with --strict also: a rule could not be judged), 2 the input cannot be
// read or the command line is wrong, 3 a bug of Foretell.
#ifndef FORETELL_FRONT_CLI_RUN_CLI_H_
#define FORETELL_FRONT_CLI_RUN_CLI_H_

#include <ostream>
#include <string>
#include <vector>

#include "front/command_table.h"
#include "report/render.h"

namespace foretell {

enum ExitStatus : int {
  kNothingBlocks = 0,
  kBlocks = 1,
  kUnreadable = 2,
  kOurBug = 3,
};

// `words` are the arguments after the program's name. The answer goes to
// `out`, errors and notes to `err`; with --json errors go to `out`, as JSON.
int RunCli(const CommandTable& table, const std::vector<std::string>& words,
           const TextStyle& style, std::ostream& out, std::ostream& err);

}  // namespace foretell

#endif  // FORETELL_FRONT_CLI_RUN_CLI_H_
