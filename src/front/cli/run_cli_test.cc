#include "front/cli/run_cli.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "front/command_help.h"
#include "front/example_table.h"
#include "report/json_schema.h"

namespace foretell {
namespace {

struct Ran {
  int status;
  std::string out;
  std::string err;
};

Ran RunTool(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = RunCli(ExampleTable(), words, {}, out, err);
  return {status, out.str(), err.str()};
}

TEST(RunCli, WithoutACommandPrintsTheHelp) {
  const Ran ran = RunTool({});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, ProgramHelp(ExampleTable()));
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(RunTool({"--help"}).out, ran.out);
  EXPECT_EQ(RunTool({"help"}).out, ran.out);
}

TEST(RunCli, PrintsTheHelpOfACommand) {
  const std::string help =
      CommandHelp(ExampleTable(), ExampleTable().commands[0]);
  EXPECT_EQ(RunTool({"size", "--help"}).out, help);
  EXPECT_EQ(RunTool({"help", "size"}).out, help);
  EXPECT_EQ(RunTool({"size", "-h"}).status, 0);
  EXPECT_EQ(RunTool({"--version"}).out, "tool 1.2.3\n");
}

TEST(RunCli, StatusSaysWhetherSomethingBlocks) {
  const struct {
    std::vector<std::string> words;
    int status;
  } cases[] = {
      {{"size", "x"}, 0},
      {{"size", "blocks"}, 1},
      {{"size", "blocks", "--json"}, 1},
      {{"size", "differs"}, 1},
      {{"size", "unsure"}, 0},
      {{"size", "unsure", "--strict"}, 1},
      {{"size", "x", "--strict"}, 0},
      {{"size", "unreadable"}, 2},
      {{"size"}, 2},
      {{"nope"}, 2},
      {{"size", "memory"}, 3},
      {{"size", "bug"}, 3},
      {{"size", "odd"}, 3},
      {{"list"}, 0},
  };
  for (const auto& [words, status] : cases) {
    EXPECT_EQ(RunTool(words).status, status) << words.back();
  }
}

TEST(RunCli, AnswersInTheFormatAskedFor) {
  EXPECT_EQ(RunTool({"size", "x", "--batch", "4"}).out,
            "  Target  x\n"
            "  Batch   4\n"
            "\n"
            "Findings\n"
            "\n"
            "  Findings: none\n"
            "\n"
            "  Rules that ran  size/small\n"
            "\n"
            "  Rules that could not run: none\n");
  EXPECT_TRUE(
      RunTool({"size", "x", "--json"}).out.starts_with("{\n  \"target\""));
  EXPECT_TRUE(RunTool({"size", "x", "--format", "markdown"})
                  .out.starts_with("# The size of a thing\n"));
  EXPECT_EQ(RunTool({"list", "--json"}).out, "text\n");
}

TEST(RunCli, OtherSpellingsAreNamedOnTheSide) {
  const Ran ran = RunTool({"size", "x", "--mbs", "2"});
  EXPECT_EQ(ran.err, "note: --mbs is --batch here\n");
  EXPECT_NE(ran.out.find("Batch   2\n"), std::string::npos);
}

TEST(RunCli, AWrongCommandGetsNoPageOfHelp) {
  const Ran ran = RunTool({"sise"});
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "error: command line: there is no command sise\n"
            "  tool sise\n"
            "       ^\n"
            "cure: did you mean size or list? the commands are size, list, "
            "completion, schema, help\n");
}

TEST(RunCli, ErrorsAreHarmless) {
  EXPECT_EQ(RunTool({"\x1b[2J\xff"}).err.substr(0, 60),
            "error: command line: there is no command \\x1b[2J\\xff\n"
            "  tool ");
}

TEST(RunCli, UnreadableInputPointsAtTheWord) {
  EXPECT_EQ(RunTool({"size", "unreadable"}).err,
            "error: command line: cannot be read\n"
            "  tool size unreadable\n"
            "            ^\n"
            "cure: name another\n");
}

TEST(RunCli, OurBugsSaySo) {
  EXPECT_EQ(RunTool({"size", "bug"}).err,
            "error: tool: this is a bug of tool: it \\x1b broke\n"
            "cure: report it with the command line and the input\n");
  EXPECT_EQ(RunTool({"size", "odd"}).err,
            "error: tool: this is a bug of tool\n"
            "cure: report it with the command line and the input\n");
  EXPECT_EQ(RunTool({"size", "memory"}).err,
            "error: tool: out of memory\n"
            "cure: free memory; where the input is small, this is a bug of "
            "tool: report it with the command line and the input\n");
}

TEST(RunCli, WithJsonErrorsAreJsonToo) {
  Ran ran = RunTool({"size", "unreadable", "--json"});
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, R"({
  "errors": [
    {
      "place": {
        "source": "command line",
        "line": 0,
        "column": 11,
        "key": ""
      },
      "what": "cannot be read",
      "cure": "name another"
    }
  ]
}
)");
  ran = RunTool({"nope", "--format", "json"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.out.starts_with("{\n  \"errors\": ["));
}

TEST(RunCli, PrintsSchemas) {
  EXPECT_EQ(RunTool({"schema", "size"}).out, JsonSchema(ExampleAnswerShape()));
  EXPECT_EQ(RunTool({"schema", "errors"}).out, ErrorsJsonSchema());
  EXPECT_EQ(RunTool({"schema", "list"}).err,
            "error: command line: tool list answers with a text\n"
            "  tool schema list\n"
            "              ^\n"
            "cure: schemas exist for size, errors\n");
  EXPECT_EQ(RunTool({"schema", "siz"}).status, 2);
  EXPECT_EQ(RunTool({"help", "siz"}).err,
            "error: command line: there is no command siz\n"
            "  tool help siz\n"
            "            ^\n"
            "cure: did you mean size? the commands are size, list, "
            "completion, schema, help\n");
}

}  // namespace
}  // namespace foretell
