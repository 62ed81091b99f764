#include "input/source_disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class SourceDiskTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return root_.Path(name); }
  std::string Write(const std::string& name, const std::string& text) const {
    return root_.Write(name, text);
  }
  // The error of reading `name`.
  std::string ErrorOf(const std::string& name, int64_t max_bytes = 100) const {
    const FileResult result = ReadFileOrError(Path(name), max_bytes);
    if (!result.error) return "read: " + result.bytes;
    return root_.Shown(ToString(*result.error));
  }

  ScratchFolder root_;
};

TEST_F(SourceDiskTest, ReadsAFileWhole) {
  const std::string bytes("a\0b\n", 4);
  EXPECT_EQ(ReadWholeFile(Write("x", bytes), 4), bytes);
  EXPECT_EQ(ReadWholeFile(Write("empty", ""), 0), "");
}

TEST_F(SourceDiskTest, RefusesAByteTooManyAndTakesTheLast) {
  Write("x", std::string(100, 'x'));
  EXPECT_EQ(ErrorOf("x", 100), "read: " + std::string(100, 'x'));
  EXPECT_EQ(ErrorOf("x", 99),
            "error: DIR/x: has 100 bytes; at most 99 are read\n"
            "cure: check that this is the right file\n");
}

TEST_F(SourceDiskTest, RefusesTwoTerabytesAtOnce) {
  Write("big", "");
  fs::resize_file(Path("big"), uintmax_t{2} << 40);
  EXPECT_EQ(ErrorOf("big", kConfigFileBytes),
            "error: DIR/big: has 2199023255552 bytes; at most 33554432 are "
            "read\ncure: check that this is the right file\n");
}

TEST_F(SourceDiskTest, NamesWhatIsNearAMissingFile) {
  Write("config.json", "{}");
  Write("weights.bin", "");
  EXPECT_EQ(ErrorOf("confg.json"),
            "error: DIR/confg.json: does not exist\n"
            "cure: check the path; in DIR there is config.json\n");
  EXPECT_EQ(ErrorOf("something-else-altogether"),
            "error: DIR/something-else-altogether: does not exist\n"
            "cure: check the path\n");
  EXPECT_EQ(ErrorOf("no/such/file"),
            "error: DIR/no/such/file: does not exist: there is no folder "
            "DIR/no/such\ncure: check the path\n");
  EXPECT_EQ(ErrorOf("config.json/below"),
            "error: DIR/config.json/below: does not exist: there is no folder "
            "DIR/config.json\ncure: check the path\n");
}

TEST_F(SourceDiskTest, TellsWhatIsNoRegularFile) {
  fs::create_directory(Path("folder"));
  EXPECT_EQ(ErrorOf("folder"),
            "error: DIR/folder: is a folder\ncure: pass a file in it\n");
  // Opening a pipe that nobody writes to would wait for ever.
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf("pipe"),
            "error: DIR/pipe: is a pipe, which may never end\n"
            "cure: write its text to a file and pass that\n");
  fs::create_symlink("/dev/zero", Path("zero"));
  EXPECT_EQ(ErrorOf("zero"),
            "error: DIR/zero: is a device\ncure: pass a regular file\n");
  fs::create_symlink("loop", Path("loop"));
  EXPECT_EQ(ErrorOf("loop"),
            "error: DIR/loop: is a link that leads back to itself\n"
            "cure: let the link point to a file\n");
  EXPECT_EQ(KindOfPath(Path("folder")), PathKind::kFolder);
  EXPECT_EQ(KindOfPath(Path("pipe")), PathKind::kOther);
  EXPECT_EQ(KindOfPath(Path("loop")), PathKind::kOther);
  EXPECT_EQ(KindOfPath(Path("none")), PathKind::kMissing);
}

TEST_F(SourceDiskTest, TellsASocket) {
  const int number = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(number, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = Path("socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(
      bind(number, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(ErrorOf("socket"),
            "error: DIR/socket: is a socket\ncure: pass a regular file\n");
  close(number);
}

TEST_F(SourceDiskTest, TellsAFileThatMayNotBeRead) {
  Write("secret", "x");
  fs::permissions(Path("secret"), fs::perms::none);
  if (access(Path("secret").c_str(), R_OK) == 0) {
    GTEST_SKIP() << "this user may read everything";
  }
  EXPECT_EQ(ErrorOf("secret"),
            "error: DIR/secret: may not be read by this user\n"
            "cure: allow it: chmod u+r, and u+x for the folders above\n");
}

TEST_F(SourceDiskTest, RefusesWhatIsNoPath) {
  EXPECT_EQ(ToString(*ReadFileOrError("", 10).error),
            "error: \"\": is no path\ncure: pass the path of a file\n");
  EXPECT_TRUE(ReadFileOrError(std::string("a\0b", 3), 10).error.has_value());
  const std::string longer(5000, 'x');
  EXPECT_EQ(ToString(*ReadFileOrError(longer, 10).error),
            "error: " + std::string(60, 'x') +
                "…: is too long for a path\n"
                "cure: pass a path of fewer than 4096 bytes\n");
  EXPECT_EQ(KindOfPath(longer), PathKind::kMissing);
}

TEST_F(SourceDiskTest, ReadsAFileThatHidesItsSize) {
  // Files of /proc say that they are empty.
  const FileResult result = ReadFileOrError("/proc/self/status", 1 << 20);
  EXPECT_THAT(result.bytes, testing::HasSubstr("Pid:"));
  EXPECT_TRUE(ReadFileOrError("/proc/self/status", 10).error.has_value());
}

TEST_F(SourceDiskTest, ListsNamesSorted) {
  Write("b", "");
  Write("a", "");
  fs::create_directory(Path("c"));
  EXPECT_THAT(NamesInFolder(root_.path()),
              testing::ElementsAre("a", "b", "c/"));
  EXPECT_EQ(NamesInFolder(root_.path(), 1).size(), 1u);
  EXPECT_THAT(NamesInFolder(Path("none")), testing::IsEmpty());
}

TEST_F(SourceDiskTest, ReadsAFilesStart) {
  EXPECT_EQ(ReadFileStart(Write("x", "abcdef"), 4), "abcd");
  EXPECT_EQ(ReadFileStart(Write("y", "ab"), 4), "ab");
  EXPECT_EQ(ReadFileStart(Path("none"), 4), "");
}

TEST(SourceDisk, TakesPathsApart) {
  EXPECT_EQ(FolderOf("a/b/c.json"), "a/b");
  EXPECT_EQ(FolderOf("c.json"), ".");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(LastNameOf("/a/b/../c/"), "c");
  EXPECT_EQ(LastNameOf("/a/b/."), "b");
  EXPECT_EQ(LastNameOf("."), fs::current_path().filename());
  EXPECT_EQ(ExpandHome("/a"), "/a");
  EXPECT_EQ(ExpandHome("~a"), "~a");
  EXPECT_EQ(ExpandHome("~/a"), std::string(getenv("HOME")) + "/a");
}

}  // namespace
}  // namespace foretell
