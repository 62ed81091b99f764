#include "input/truth_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"
#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

std::string Row(const std::string& label, const std::string& rest = "") {
  return "{\"config\": \"" + label + "\", \"class\": \"C\", \"parameters\": 1" +
         rest + "}\n";
}

TEST(TruthSet, FindsConfigurationsByLabel) {
  const ScratchFolder dir;
  dir.Write("configs/o--M.json", R"({"hidden_size": 1})");
  dir.Write("configs/o--p/unet.json", R"({"a": 1})");
  const std::string file =
      dir.Write("t.jsonl", Row("o--M") + Row("o--p/unet") + Row("o--none"));
  const TruthSet set = LoadTruthSet(file, dir.Path("configs"));
  EXPECT_EQ(set.source, file);
  ASSERT_EQ(set.cases.size(), 3u);
  EXPECT_EQ(set.cases[0].config->root.ToJson(), R"({"hidden_size":1})");
  // The recorder names the folder that it gives to the library so.
  EXPECT_EQ(set.cases[0].config->name, "o--m");
  EXPECT_EQ(set.cases[1].config->name, "unet");
  EXPECT_FALSE(set.cases[2].config);
  EXPECT_EQ(dir.Shown(set.cases[2].no_config),
            "no configuration of this label in DIR/configs");
}

TEST(TruthSet, AppliesEditsAndLeavesOverrides) {
  const ScratchFolder dir;
  dir.Write("configs/o--m.json", R"({"a": 1, "b": 2})");
  const std::string file = dir.Write(
      "t.jsonl", Row("o--m", R"(, "case": {"edit": "a=5,-b", "over": "c=1"})") +
                     Row("o--m"));
  const TruthSet set = LoadTruthSet(file, dir.Path("configs"));
  EXPECT_EQ(set.cases[0].config->root.ToJson(), R"({"a":5})");
  EXPECT_EQ(set.cases[0].recording.overrides.size(), 1u);
  EXPECT_EQ(set.cases[1].config->root.ToJson(), R"({"a":1,"b":2})");
}

TEST(TruthSet, SaysWhyAConfigurationCannotBeRead) {
  const ScratchFolder dir;
  dir.Write("configs/o--m.json", "{\"a\": 1,}");
  dir.Write("configs/o--n.json", "[]");
  const std::string file =
      dir.Write("t.jsonl", Row("o--m") + Row("o--n") + Row("../secret") +
                               Row("/etc/passwd"));
  const TruthSet set = LoadTruthSet(file, dir.Path("configs"));
  EXPECT_EQ(set.cases[0].no_config,
            "its configuration cannot be read: a comma stands before the "
            "closing }");
  EXPECT_EQ(set.cases[1].no_config,
            "its configuration cannot be read: holds an array, not an object "
            "of settings");
  EXPECT_EQ(set.cases[2].no_config, "its label is no name of a configuration");
  EXPECT_EQ(set.cases[3].no_config, "its label is no name of a configuration");
}

TEST(TruthSet, FallsBackToTheCatalogueButNotToAnAlias) {
  const ScratchFolder dir;
  // Qwen/Qwen3-8B-Base is an alias: its own file may differ.
  const std::string file = dir.Write(
      "t.jsonl", Row("Qwen--Qwen3-8B") + Row("Qwen--Qwen3-8B-Base-x"));
  const TruthSet set = LoadTruthSet(file);
  ASSERT_TRUE(set.cases[0].config);
  EXPECT_EQ(set.cases[0].config->root.Find("hidden_size")->spelling(), "4096");
  EXPECT_FALSE(set.cases[1].config);
  EXPECT_THAT(set.cases[1].no_config, testing::EndsWith("in the catalogue"));
}

TEST(TruthSet, RefusesAFolderThatIsNone) {
  const ScratchFolder dir;
  const std::string file = dir.Write("t.jsonl", Row("o--m"));
  try {
    LoadTruthSet(file, dir.Path("nowhere"));
    FAIL();
  } catch (const InputErrors& errors) {
    EXPECT_EQ(dir.Shown(errors.what()),
              "error: DIR/nowhere: is no folder\ncure: pass the folder that "
              "holds the configurations (LABEL.json)\n");
  }
}

TEST(TruthSet, RefusesAFileThatIsMissing) {
  const ScratchFolder dir;
  EXPECT_THROW(LoadTruthSet(dir.Path("t.jsonl")), InputErrors);
}

}  // namespace
}  // namespace foretell
