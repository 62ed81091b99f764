#include "front/command_help.h"

#include <gtest/gtest.h>

#include <string>

#include "front/example_table.h"

namespace foretell {
namespace {

TEST(ProgramHelp, ListsCommandsAndGlobalOptions) {
  EXPECT_EQ(ProgramHelp(ExampleTable()),
            R"(tool: measures things

usage: tool COMMAND [ARGUMENTS]

Says how large a thing is.

Nothing is changed.

Commands:
  size        how large a thing is
  list        list the things
  completion  print a completion script
  schema      print a schema
  help        say how it is used

Options of every command:
  --json         Answer in JSON; the same as --format json.
  --format NAME  How to write the answer. NAME is one of text, json, markdown.
                 (default: text)
  --strict       Exit with 1 also where a rule could not be judged.
  -h, --help     Say how this is used.
  --version      Print the version.

`tool help COMMAND` says more about one command.
)");
}

TEST(CommandHelp, SaysEverythingThatTheRowSays) {
  EXPECT_EQ(CommandHelp(ExampleTable(), ExampleTable().commands[0]),
            R"(tool size: how large a thing is

usage: tool size [OPTIONS] TARGET [OTHER...]

Measures one thing.

Arguments:
  TARGET  The thing.
  OTHER   Further things.

Options:
  --batch N         How many at once. (default: 1)
  --dtype NAME      The type.
  --attn NAME       The attention. NAME is one of eager, sdpa.
  --explain [WHAT]  Say why. WHAT is one of params, bytes.
  --tag TEXT        A remark, several times.
  -l, --long        Say more.

Options of every command:
  --json         Answer in JSON; the same as --format json.
  --format NAME  How to write the answer. NAME is one of text, json, markdown.
                 (default: text)
  --strict       Exit with 1 also where a rule could not be judged.
  -h, --help     Say how this is used.
  --version      Print the version.

Examples:
  tool size thing
      The size of one thing.
)");
}

}  // namespace
}  // namespace foretell
