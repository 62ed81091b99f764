#include "front/completion_script.h"

#include <gtest/gtest.h>

#include <string>

#include "front/example_table.h"

namespace foretell {
namespace {

TEST(Completion, EveryShellKnowsEveryCommandOptionAndValue) {
  for (const CommandTable* table : {&Commands(), &ExampleTable()}) {
    for (const std::string& script :
         {BashCompletion(*table), ZshCompletion(*table),
          FishCompletion(*table)}) {
      for (const CommandRow& command : table->commands) {
        if (command.hidden) continue;
        EXPECT_NE(script.find(std::string(command.name)), std::string::npos);
        for (const OptionRow& row : command.options) {
          EXPECT_NE(script.find(std::string(row.name)), std::string::npos)
              << row.name;
          for (const std::string_view value : row.allowed) {
            if (row.value_optional) continue;
            EXPECT_NE(script.find(std::string(value)), std::string::npos)
                << value;
          }
        }
      }
      EXPECT_NE(script.find("complete-ids"), std::string::npos);
    }
  }
}

TEST(Completion, HiddenCommandsAreNotOffered) {
  EXPECT_NE(BashCompletion(ExampleTable())
                .find("\"\") words=\"size list completion schema help\" ;;"),
            std::string::npos);
  EXPECT_EQ(ZshCompletion(ExampleTable()).find("'complete-ids:"),
            std::string::npos);
  EXPECT_EQ(FishCompletion(ExampleTable()).find("-a complete-ids"),
            std::string::npos);
}

TEST(Completion, BashCompletesAliasesLikeTheirOption) {
  EXPECT_NE(BashCompletion(ExampleTable())
                .find("size:--batch|size:--micro-batch|size:--mbs) return ;;"),
            std::string::npos);
}

TEST(Completion, QuotesInDocsDoNotEndAWord) {
  CommandTable table = ExampleTable();
  table.commands[0].options[0].doc = "A model's [size]: it counts.";
  EXPECT_NE(ZshCompletion(table).find(
                "'--batch[A model'\\''s \\[size\\]\\: it counts.]:N: '"),
            std::string::npos);
  EXPECT_NE(FishCompletion(table).find("-d 'A model\\'s [size]: it counts'"),
            std::string::npos);
}

}  // namespace
}  // namespace foretell
