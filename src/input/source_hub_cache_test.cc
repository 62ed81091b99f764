#include "input/source_hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "input/source_disk.h"
#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kId[] = "acme/tiny";
constexpr char kRepository[] = "models--acme--tiny/";
const std::string kFirst = "abcd" + std::string(36, '1');
const std::string kSecond = "abce" + std::string(36, '2');

class HubCacheTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) const {
    folder_.Write(kRepository + name, bytes);
  }
  std::string CommitOf(const std::string& revision) const {
    const CachedCommit found = cache_.CommitOf(kId, revision);
    return found.error ? folder_.Shown(ToString(*found.error)) : found.commit;
  }

  ScratchFolder folder_;
  HubCache cache_{folder_.path(), true};
};

TEST_F(HubCacheTest, RevisionsByBranchTagAndHash) {
  Write("refs/main", kFirst);
  Write("refs/refs/pr/1", kSecond + "\n");
  Write("snapshots/" + kFirst + "/config.json", "{}");
  Write("snapshots/" + kSecond + "/config.json", "{}");
  EXPECT_EQ(CommitOf("main"), kFirst);
  EXPECT_EQ(CommitOf("refs/pr/1"), kSecond);
  EXPECT_EQ(CommitOf(kSecond), kSecond);
  EXPECT_EQ(CommitOf("abcd"), kFirst);
  EXPECT_EQ(CommitOf("abce2222"), kSecond);
  EXPECT_EQ(CommitOf("v1"), "");
  EXPECT_EQ(CommitOf("abcf"), "");
  EXPECT_THAT(cache_.RevisionsOf(kId),
              ElementsAre("main", "refs/pr/1", kFirst, kSecond));
}

TEST_F(HubCacheTest, AHashThatFitsTwoIsTold) {
  const std::string third = "abcd" + std::string(36, '3');
  Write("snapshots/" + kFirst + "/config.json", "{}");
  Write("snapshots/" + third + "/config.json", "{}");
  EXPECT_EQ(CommitOf("abcd"),
            "error: acme/tiny: has 2 commits in the cache that begin with "
            "abcd\ncure: write more digits: " +
                kFirst + ", " + third + "\n");
}

TEST_F(HubCacheTest, ARefThatHoldsNoCommitIsTold) {
  Write("refs/main", "../../../etc/passwd");
  EXPECT_EQ(CommitOf("main"),
            "error: DIR/models--acme--tiny/refs/main: holds no commit's hash\n"
            "cure: delete this file; it is written again when the revision is "
            "next fetched\n");
  // As a client that is just writing it leaves it for a moment.
  Write("refs/main", "");
  EXPECT_EQ(CommitOf("main"), "");
}

TEST_F(HubCacheTest, KeepsAndFinds) {
  const HubPlace place = {kId, kFirst, "sub/config.json"};
  EXPECT_EQ(cache_.PathOf(place), "");
  EXPECT_EQ(cache_.Keep(place, "e7a6", "{}"), "");
  EXPECT_EQ(cache_.KeepRevision(kId, "main", kFirst), "");
  EXPECT_EQ(ReadWholeFile(cache_.PathOf(place), 10), "{}");
  EXPECT_EQ(CommitOf("main"), kFirst);
  EXPECT_THAT(cache_.FilesOf(kId, kFirst), ElementsAre("sub/config.json"));
  EXPECT_THAT(cache_.BlobsOf(kId, "sub/config.json"), ElementsAre("e7a6"));
  EXPECT_THAT(cache_.BlobsOf(kId, "config.json"), IsEmpty());
  EXPECT_THAT(ReadFileStart(folder_.Path("CACHEDIR.TAG"), 60),
              HasSubstr("8a477f597d28d172789f06886806bc55"));
  const HubPlace missing = {kId, kFirst, "none"};
  EXPECT_FALSE(cache_.IsKnownMissing(missing));
  EXPECT_EQ(cache_.KeepMissing(missing), "");
  EXPECT_TRUE(cache_.IsKnownMissing(missing));
}

TEST_F(HubCacheTest, ALinkWhoseBlobIsGoneIsNoFile) {
  const HubPlace place = {kId, kFirst, "config.json"};
  ASSERT_EQ(cache_.KeepKnown(place, "gone"), "");
  EXPECT_EQ(cache_.PathOf(place), "");
  EXPECT_THAT(cache_.BlobsOf(kId, "config.json"), IsEmpty());
}

TEST_F(HubCacheTest, ManyProcessesWriteAndReadAtOnce) {
  constexpr int kProcesses = 8;
  constexpr int kTimes = 40;
  const HubPlace place = {kId, kFirst, "config.json"};
  const std::string bytes(100'000, 'x');
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    bool good = true;
    for (int n = 0; n < kTimes && good; ++n) {
      good = cache_.Keep(place, "e7a6", bytes).empty() &&
             cache_.KeepRevision(kId, "main", n % 2 == 0 ? kFirst : kSecond)
                 .empty() &&
             ReadFileOrError(cache_.PathOf(place), 1 << 20).bytes == bytes &&
             !cache_.CommitOf(kId, "main").commit.empty();
    }
    _exit(good ? 0 : 1);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  // Nothing is left over.
  EXPECT_THAT(NamesInFolder(folder_.Path(kRepository + std::string("blobs"))),
              ElementsAre("e7a6"));
  EXPECT_THAT(NamesInFolder(folder_.Path(kRepository + std::string("refs"))),
              ElementsAre("main"));
  EXPECT_THAT(
      NamesInFolder(folder_.Path(kRepository + ("snapshots/" + kFirst))),
      ElementsAre("config.json"));
}

}  // namespace
}  // namespace foretell
