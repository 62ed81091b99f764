#include "front/command_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "base/check.h"
#include "front/command_help.h"
#include "front/example_table.h"
#include "front/parse_command_line.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

TEST(Commands, KeepEveryRuleOfTables) {
  EXPECT_NO_THROW(CheckTable(Commands()));
  EXPECT_NO_THROW(CheckTable(ExampleTable()));
}

// The list is frozen: a command or option that people have written into
// scripts is not renamed, and a new one is a decision.
TEST(Commands, AreThese) {
  std::string list;
  for (const CommandRow& command : Commands().commands) {
    list += std::string(command.name) + ":";
    for (const OptionRow& row : command.options) {
      list += " " + std::string(row.name);
    }
    list += "\n";
  }
  EXPECT_EQ(
      list,
      "model: class task dtype against quant tensors explain revision "
      "refresh offline\n"
      "train: gpu gpu-mem fits gpus accumulate sync global-batch fsdp zero "
      "eval-batch eval-batches timeline offload workers host-mem tokens "
      "samples epochs price grid pue network method "
      "rank targets dora rslora saved-modules adapter weights "
      "no-double-quant prepare-kbit loss loop preference reference "
      "packing mean-seq kernels compile fp8 optimizer-in-backward "
      "master-weights class task layers dtype batch seq tgt mask "
      "autocast attn experts checkpoint freeze optimizer transformers "
      "torch runs revision refresh offline\n"
      "step: class task layers dtype mode batch seq tgt mask autocast "
      "attn experts sm checkpoint lora freeze optimizer accumulate "
      "first-step transformers torch by reconcile timeline revision "
      "refresh offline\n"
      "models:\n"
      "verify: configs\n"
      "score: configs aliases bar svg points\n"
      "scorecard: truth configs aliases svg points\n"
      "serve: gpu gpus gpu-mem engine-version against isl osl "
      "sensitivity explain want settings configs offline\n"
      "speed: gpu engine quant kv-dtype tp pp dp ep isl osl cached "
      "concurrency drafts acceptance draft-share offload ngl backend "
      "price runs "
      "revision refresh offline\n"
      "run: measured note runs\n"
      "gpus:\n"
      "gpu: device\n"
      "graph: after class task layers dtype mode batch seq tgt mask "
      "autocast attn experts sm checkpoint lora freeze optimizer "
      "accumulate first-step transformers torch revision refresh "
      "offline\n"
      "completion:\n"
      "schema:\n"
      "help:\n"
      "complete-ids:\n");
}

TEST(Commands, EveryExampleParses) {
  for (const CommandRow& command : Commands().commands) {
    for (const ExampleRow& example : command.examples) {
      std::string text(example.command);
      const size_t start = text.find("foretell ");
      ASSERT_NE(start, std::string::npos);
      std::istringstream stream(text.substr(start));
      std::vector<std::string> words;
      std::string word;
      stream >> word;
      // What follows is the shell's: "> FILE", ")".
      while (stream >> word && word != ">") {
        if (word.back() == ')') word.pop_back();
        words.push_back(word);
      }
      const Invocation line = ParseCommandLine(Commands(), words);
      EXPECT_EQ(line.command(), &command) << text;
    }
  }
}

TEST(Commands, HelpIsNoWiderThanATerminal) {
  std::vector<std::string> pages = {ProgramHelp(Commands())};
  for (const CommandRow& command : Commands().commands) {
    pages.push_back(CommandHelp(Commands(), command));
  }
  for (const std::string& page : pages) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), 80u) << line;
    }
  }
}

TEST(CheckTable, RefusesFaultyTables) {
  const struct {
    std::string fault;
    std::function<void(CommandTable&)> spoil;
  } cases[] = {
      {"a command twice", [](auto& t) { t.commands.push_back(t.commands[0]); }},
      {"not kebab-case", [](auto& t) { t.commands[0].name = "Size"; }},
      {"full stop", [](auto& t) { t.commands[0].summary = "A size."; }},
      {"no description", [](auto& t) { t.commands[0].description = ""; }},
      {"nothing to run", [](auto& t) { t.commands[0].run = nullptr; }},
      {"no example", [](auto& t) { t.commands[0].examples.clear(); }},
      {"an example of something else",
       [](auto& t) { t.commands[0].examples[0].command = "tool list"; }},
      {"no doc sentence", [](auto& t) { t.commands[0].options[0].doc = ""; }},
      {"no doc sentence",
       [](auto& t) { t.commands[0].arguments[0].doc = "x"; }},
      {"an option's name twice",
       [](auto& t) { t.commands[0].options[0].aliases = {"dtype"}; }},
      {"an option's name twice",
       [](auto& t) { t.commands[0].options[0].name = "json"; }},
      {"not kebab-case",
       [](auto& t) { t.commands[0].options[0].aliases = {"a_b"}; }},
      {"a default that is not allowed",
       [](auto& t) { t.commands[0].options[0].default_value = "0"; }},
      {"an optional value of any text",
       [](auto& t) { t.commands[0].options[3].allowed.clear(); }},
      {"a short name for an option with a value",
       [](auto& t) { t.commands[0].options[0].short_name = 'b'; }},
      {"a required argument after an optional one",
       [](auto& t) {
         t.commands[0].arguments.push_back({.name = "X", .doc = "X."});
       }},
      {"a table without --json",
       [](auto& t) { t.global_options.erase(t.global_options.begin()); }},
  };
  for (const auto& [fault, spoil] : cases) {
    CommandTable table = ExampleTable();
    spoil(table);
    try {
      CheckTable(table);
      ADD_FAILURE() << "accepted: " << fault;
    } catch (const InternalError& error) {
      EXPECT_NE(std::string(error.what()).find(fault), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace foretell
