#include "front/parse_command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "base/input_error.h"
#include "front/example_table.h"

namespace foretell {
namespace {

using Words = std::vector<std::string>;

Invocation Parsed(Words words) {
  return ParseCommandLine(ExampleTable(), std::move(words));
}

std::string ErrorsOf(Words words) {
  try {
    Parsed(std::move(words));
  } catch (const InputErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(ParseCommandLine, GivesArgumentsAndOptions) {
  const Invocation line =
      Parsed({"size", "thing", "--dtype", "fp16", "--batch=8", "b", "c"});
  ASSERT_NE(line.command(), nullptr);
  EXPECT_EQ(line.command()->name, "size");
  EXPECT_EQ(line.Argument("TARGET"), "thing");
  EXPECT_EQ(line.Arguments("OTHER"), (Words{"b", "c"}));
  EXPECT_EQ(line.Text("dtype"), "fp16");
  EXPECT_EQ(line.Integer("batch"), 8);
  EXPECT_FALSE(line.Has("attn"));
  EXPECT_EQ(line.Text("attn"), std::nullopt);
  EXPECT_FALSE(line.strict());
  EXPECT_EQ(line.format(), Format::kText);
}

TEST(ParseCommandLine, DefaultsComeFromTheTable) {
  const Invocation line = Parsed({"size", "thing"});
  EXPECT_FALSE(line.Has("batch"));
  EXPECT_EQ(line.Integer("batch"), 1);
  EXPECT_EQ(line.Text("format"), "text");
}

TEST(ParseCommandLine, OptionsMayStandAnywhere) {
  for (const Words& words :
       {Words{"--json", "size", "--batch", "2", "x"},
        Words{"--batch", "2", "size", "x", "--json"},
        Words{"size", "x", "--batch", "2", "--json"},
        Words{"--format", "json", "--batch=2", "size", "x"},
        Words{"--format=json", "--batch=2", "size", "--", "x"}}) {
    const Invocation line = Parsed(words);
    EXPECT_EQ(line.Argument("TARGET"), "x");
    EXPECT_EQ(line.Integer("batch"), 2);
    EXPECT_EQ(line.format(), Format::kJson);
  }
}

TEST(ParseCommandLine, AfterTwoDashesEveryWordIsAnArgument) {
  const Invocation line = Parsed({"size", "--", "--dtype", "--", "-h"});
  EXPECT_EQ(line.Argument("TARGET"), "--dtype");
  EXPECT_EQ(line.Arguments("OTHER"), (Words{"--", "-h"}));
  EXPECT_FALSE(line.Has("dtype"));
  EXPECT_FALSE(line.Has("help"));
}

TEST(ParseCommandLine, NumbersAndASingleDashAreValues) {
  const Invocation line = Parsed({"size", "-", "-5", "-.5", "--dtype", "-1"});
  EXPECT_EQ(line.Argument("TARGET"), "-");
  EXPECT_EQ(line.Arguments("OTHER"), (Words{"-5", "-.5"}));
  EXPECT_EQ(line.Text("dtype"), "-1");
}

TEST(ParseCommandLine, AnOptionalValueIsOneOfItsWordsOnly) {
  Invocation line = Parsed({"size", "--explain", "params", "x"});
  EXPECT_EQ(line.Text("explain"), "params");
  EXPECT_EQ(line.Argument("TARGET"), "x");

  line = Parsed({"size", "--explain", "x", "y"});
  EXPECT_TRUE(line.Has("explain"));
  EXPECT_EQ(line.Text("explain"), std::nullopt);
  EXPECT_EQ(line.Argument("TARGET"), "x");
  EXPECT_EQ(line.Arguments("OTHER"), (Words{"y"}));

  line = Parsed({"size", "x", "--explain"});
  EXPECT_TRUE(line.Has("explain"));
  EXPECT_EQ(line.Argument("TARGET"), "x");
}

TEST(ParseCommandLine, OtherSpellingsAreAcceptedAndNamed) {
  Invocation line = Parsed({"size", "x", "--micro_batch=4"});
  EXPECT_EQ(line.Integer("batch"), 4);
  EXPECT_EQ(line.notes(), (Words{"--micro_batch is --batch here"}));

  line = Parsed({"size", "x", "--mbs", "4", "--dtype=a"});
  EXPECT_EQ(line.notes(), (Words{"--mbs is --batch here"}));
}

TEST(ParseCommandLine, RepeatableOptionsKeepTheirOrder) {
  const Invocation line =
      Parsed({"size", "--tag", "a", "x", "--tag=b=c", "--tag", "a"});
  EXPECT_EQ(line.Texts("tag"), (Words{"a", "b=c", "a"}));
}

TEST(ParseCommandLine, ShortFlagsMayBeJoined) {
  const Invocation line = Parsed({"size", "x", "-lh"});
  EXPECT_TRUE(line.Has("long"));
  EXPECT_TRUE(line.Has("help"));
}

TEST(ParseCommandLine, HelpForgivesWhatIsMissing) {
  EXPECT_TRUE(Parsed({"size", "--help"}).Has("help"));
  EXPECT_TRUE(Parsed({"size", "--nope", "-h"}).Has("help"));
  EXPECT_TRUE(Parsed({"nope", "--version"}).Has("version"));
  EXPECT_EQ(Parsed({}).command(), nullptr);
  EXPECT_EQ(Parsed({"--json"}).command(), nullptr);
}

TEST(ParseCommandLine, SaysWhatIsWrongWhereAndHowToMendIt) {
  const std::string commands =
      "the commands are size, list, completion, schema, help\n";
  const struct {
    Words words;
    std::string text;
  } cases[] = {
      {{"sizee", "x"},
       "error: command line: there is no command sizee\n"
       "  tool sizee x\n"
       "       ^\n"
       "cure: did you mean size? " +
           commands},
      {{"--json", "org/model"},
       "error: command line: there is no command org/model\n"
       "  tool --json org/model\n"
       "              ^\n"
       "cure: " +
           commands},
      {{"size", "x", "--dtyp=fp16"},
       "error: command line: there is no option --dtyp\n"
       "  tool size x --dtyp=fp16\n"
       "              ^\n"
       "cure: did you mean --dtype? `tool help size` lists the options\n"},
      {{"size", "--zzzzzzzzz", "4", "x", "y"},
       "error: command line: there is no option --zzzzzzzzz\n"
       "  tool size --zzzzzzzzz 4 x y\n"
       "            ^\n"
       "cure: `tool help size` lists the options\n"},
      {{"size", "x", "-json"},
       "error: command line: there is no option -json\n"
       "  tool size x -json\n"
       "              ^\n"
       "cure: did you mean --json? `tool help size` lists the options\n"},
      {{"--dtype", "fp16"},
       "error: command line: there is no option --dtype\n"
       "  tool --dtype fp16\n"
       "       ^\n"
       "cure: `tool help` lists the options\n"},
      {{"size"},
       "error: command line: TARGET is missing\n"
       "  tool size\n"
       "            ^\n"
       "cure: tool size [OPTIONS] TARGET [OTHER...]\n"},
      {{"list", "all"},
       "error: command line: one argument too many: all\n"
       "  tool list all\n"
       "            ^\n"
       "cure: tool list\n"},
      {{"size", "x", "--batch"},
       "error: command line: --batch lacks its value\n"
       "  tool size x --batch\n"
       "              ^\n"
       "cure: write --batch N\n"},
      {{"size", "x", "--batch="},
       "error: command line: --batch lacks its value\n"
       "  tool size x --batch=\n"
       "                      ^\n"
       "cure: write --batch N\n"},
      {{"size", "x", "--attn", "--json"},
       "error: command line: --attn lacks its value\n"
       "  tool size x --attn --json\n"
       "              ^\n"
       "cure: write --attn and one of eager, sdpa\n"},
      {{"size", "x", "--batch", "4k"},
       "error: command line: --batch cannot be 4k\n"
       "  tool size x --batch 4k\n"
       "                      ^\n"
       "cure: write a whole number from 1 to 4096\n"},
      {{"size", "x", "--batch=99999999999999999999"},
       "error: command line: --batch cannot be 99999999999999999999\n"
       "  tool size x --batch=99999999999999999999\n"
       "                      ^\n"
       "cure: write a whole number from 1 to 4096\n"},
      {{"size", "x", "--attn=egaer"},
       "error: command line: --attn cannot be egaer\n"
       "  tool size x --attn=egaer\n"
       "                     ^\n"
       "cure: did you mean eager? --attn is one of eager, sdpa\n"},
      {{"completion", "tcsh"},
       "error: command line: SHELL cannot be tcsh\n"
       "  tool completion tcsh\n"
       "                  ^\n"
       "cure: did you mean bash? SHELL is one of bash, zsh, fish\n"},
      {{"size", "x", "--json=3"},
       "error: command line: --json takes no value\n"
       "  tool size x --json=3\n"
       "                    ^\n"
       "cure: write --json\n"},
      {{"size", "x", "--dtype", "a", "--dtype=b"},
       "error: command line: --dtype is given twice\n"
       "  tool size x --dtype a --dtype=b\n"
       "                        ^\n"
       "cure: keep one of them\n"},
      {{"size", "x", "--json", "--format", "text"},
       "error: command line: --json and --format text contradict\n"
       "  tool size x --json --format text\n"
       "                              ^\n"
       "cure: keep one of them\n"},
      {{"size", "x", "--explain=why"},
       "error: command line: --explain cannot be why\n"
       "  tool size x --explain=why\n"
       "                        ^\n"
       "cure: --explain is one of params, bytes\n"},
      {{"completion", "--explain", "bash", "x y"},
       "error: command line: there is no option --explain\n"
       "  tool completion --explain bash 'x y'\n"
       "                  ^\n"
       "cure: `tool help completion` lists the options\n"},
  };
  for (const auto& [words, text] : cases) EXPECT_EQ(ErrorsOf(words), text);
}

TEST(ParseCommandLine, CollectsEveryMistakeInTheirOrder) {
  EXPECT_EQ(ErrorsOf({"size", "--attn", "x", "--batch", "0", "--nope"}),
            "error: command line: --attn cannot be x\n"
            "  tool size --attn x --batch 0 --nope\n"
            "                   ^\n"
            "cure: --attn is one of eager, sdpa\n"
            "error: command line: --batch cannot be 0\n"
            "  tool size --attn x --batch 0 --nope\n"
            "                             ^\n"
            "cure: write a whole number from 1 to 4096\n"
            "error: command line: there is no option --nope\n"
            "  tool size --attn x --batch 0 --nope\n"
            "                               ^\n"
            "cure: `tool help size` lists the options\n"
            "error: command line: TARGET is missing\n"
            "  tool size --attn x --batch 0 --nope\n"
            "                                      ^\n"
            "cure: tool size [OPTIONS] TARGET [OTHER...]\n");
}

TEST(ParseCommandLine, OddWordsAreErrorsToo) {
  for (const char* word : {"---", "---x", "--=x", "--?=1", "-!", "-=", "-x1",
                           "--\xff", "-\x1b", "--no such", "-h-batch"}) {
    const std::string text = ErrorsOf({"size", "x", word});
    EXPECT_NE(text.find("there is no option"), std::string::npos) << word;
    EXPECT_NE(ErrorsOf({"size", "x", "--dtype", word}), "") << word;
  }
}

TEST(Invocation, KnowsWhereEachWordStands) {
  const Invocation line =
      Parsed({"size", "thing", "b", "c", "--batch=8", "--tag", "t"});
  EXPECT_EQ(line.PlaceOf("TARGET").caret, 10);
  EXPECT_EQ(line.PlaceOf("OTHER", 1).caret, 18);
  EXPECT_EQ(line.PlaceOf("batch").caret, 28);
  EXPECT_EQ(line.PlaceOf("tag").caret, 36);
  EXPECT_EQ(line.PlaceOf("dtype").caret, 38);  // the end: it was not written
  EXPECT_EQ(ToString(line.PlaceOf("TARGET")), "command line");
}

TEST(Invocation, RefusesNamesThatItsCommandLacks) {
  const Invocation line = Parsed({"list"});
  EXPECT_THROW(line.Argument("TARGET"), InternalError);
  EXPECT_THROW(line.Arguments("TARGET"), InternalError);
  EXPECT_THROW(line.Text("batch"), InternalError);
  EXPECT_THROW(Parsed({"size", "x"}).Integer("dtype"), InternalError);
  EXPECT_THROW(Parsed({"size", "x"}).Has("mbs"), InternalError);
}

TEST(AsksForJson, EvenOfALineThatIsWrong) {
  EXPECT_TRUE(AsksForJson(ExampleTable(), {"nope", "--json"}));
  EXPECT_TRUE(AsksForJson(ExampleTable(), {"--format", "json", "--x"}));
  EXPECT_TRUE(AsksForJson(ExampleTable(), {"--output=json"}));
  EXPECT_FALSE(AsksForJson(ExampleTable(), {"--format", "text"}));
  EXPECT_FALSE(AsksForJson(ExampleTable(), {"size", "--", "--json"}));
}

}  // namespace
}  // namespace foretell
