#include "front/written_file.h"

#include <gtest/gtest.h>

#include <string>

#include "input/source_disk.h"
#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

TEST(WriteNamedFile, WritesAndReplacesItsOwn) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/a.svg";
  EXPECT_FALSE(WriteNamedFile(path, "mark one", "mark"));
  EXPECT_EQ(ReadWholeFile(path, 100), "mark one");
  EXPECT_FALSE(WriteNamedFile(path, "mark two", "mark"));
  EXPECT_EQ(ReadWholeFile(path, 100), "mark two");
  EXPECT_EQ(NamesInFolder(folder.path()).size(), 1u) << "a file is left over";
}

TEST(WriteNamedFile, KeepsWhatIsNotItsOwn) {
  const ScratchFolder folder;
  const std::string path =
      folder.Write("config.json", "{\"model_type\": \"gpt2\"}");
  const auto error = WriteNamedFile(path, "mark", "mark");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, path + " exists and holds something else");
  EXPECT_EQ(ReadWholeFile(path, 100), "{\"model_type\": \"gpt2\"}");
}

TEST(WriteNamedFile, FillsAnEmptyFile) {
  const ScratchFolder folder;
  const std::string path = folder.Write("a.svg", "");
  EXPECT_FALSE(WriteNamedFile(path, "mark", "mark"));
}

TEST(WriteNamedFile, RefusesFoldersAndMissingOnes) {
  const ScratchFolder folder;
  auto error = WriteNamedFile(folder.path(), "mark", "mark");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, folder.path() + " is a folder");
  error = WriteNamedFile(folder.path() + "/none/a.svg", "mark", "mark");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, "there is no folder " + folder.path() + "/none");
  EXPECT_NE(error->cure, "");
}

}  // namespace
}  // namespace foretell
