#include "input/hub_id.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

TEST(HubId, TakesWhatTheHubTakes) {
  for (const char* id :
       {"gpt2", "Qwen/Qwen3-8B", "Foo-BAR_foo.bar123/x_", "_a/b", "a/b.c-d"}) {
    EXPECT_TRUE(IsRepositoryId(id)) << id;
  }
  const std::string long_id(97, 'a');
  for (const std::string& id :
       {std::string(), std::string("a/b/c"), std::string("/a"),
        std::string("a/"), std::string("../a"), std::string("a/.."),
        std::string("a--b"), std::string("a..b"), std::string("-a"),
        std::string("a/b."), std::string("a/b.git"), std::string("a b"),
        std::string("a/b\n"), std::string("a\0b", 3), long_id}) {
    EXPECT_FALSE(IsRepositoryId(id)) << id;
  }
  EXPECT_TRUE(IsOwnedId("a/b"));
  EXPECT_FALSE(IsOwnedId("gpt2"));
}

TEST(HubId, TellsHashesFromNames) {
  EXPECT_TRUE(IsCommitHash("0e9e39f249a16976918f6564b8830bc894c89659"));
  EXPECT_FALSE(IsCommitHash("0e9e39f"));
  EXPECT_FALSE(IsCommitHash("0E9E39F249A16976918F6564B8830BC894C89659"));
  EXPECT_TRUE(MayBeShortHash("0e9e39f"));
  EXPECT_FALSE(MayBeShortHash("0e9"));
  EXPECT_FALSE(MayBeShortHash("main"));
}

TEST(HubId, ARevisionNeverLeavesItsFolder) {
  for (const char* revision :
       {"main", "v1.0", "refs/pr/1", "0e9e39f", "feature/a-b_c", "release+1"}) {
    EXPECT_EQ(WhyNoRevision(revision), "") << revision;
  }
  EXPECT_EQ(WhyNoRevision(""), "is empty");
  EXPECT_EQ(WhyNoRevision("a..b"), "holds \"..\"");
  EXPECT_EQ(WhyNoRevision("a b"), "holds a blank or a control character");
  EXPECT_EQ(WhyNoRevision("a:b"),
            "holds \":\", which no branch or tag may hold");
  for (const char* revision :
       {"../x", "/x", "x/", "x//y", ".x", "x/.y", "x.lock", "x."}) {
    EXPECT_NE(WhyNoRevision(revision), "") << revision;
  }
  EXPECT_EQ(WhyNoRevision(std::string(201, 'a')),
            "has 201 bytes, at most 200 are allowed");
}

TEST(HubId, APathStaysInTheRepository) {
  EXPECT_TRUE(IsRepositoryPath("config.json"));
  EXPECT_TRUE(IsRepositoryPath("a b/.gitattributes"));
  for (const char* path : {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/",
                           ".", "a\\b", "a\nb"}) {
    EXPECT_FALSE(IsRepositoryPath(path)) << path;
  }
}

TEST(HubId, SpellsFoldersAndAddresses) {
  EXPECT_EQ(CacheFolderName("Qwen/Qwen3-8B"), "models--Qwen--Qwen3-8B");
  EXPECT_EQ(CacheFolderName("gpt2"), "models--gpt2");
  EXPECT_EQ(PercentEncoded("refs/pr/1", false), "refs%2Fpr%2F1");
  EXPECT_EQ(PercentEncoded("a b/\xC3\xA4?#", true), "a%20b/%C3%A4%3F%23");
}

TEST(HubId, ReadsPastedAddresses) {
  const auto read = [](const char* text) {
    const HubTarget target = ReadHubTarget(text);
    return target.id + "@" + target.revision;
  };
  EXPECT_EQ(read("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B@");
  EXPECT_EQ(read("https://huggingface.co/Qwen/Qwen3-8B"), "Qwen/Qwen3-8B@");
  EXPECT_EQ(read("https://hf.co/Qwen/Qwen3-8B/tree/main"), "Qwen/Qwen3-8B@");
  EXPECT_EQ(read("huggingface.co/a/b/blob/v1/config.json?x#y"), "a/b@v1");
  EXPECT_EQ(read("https://huggingface.co/gpt2"), "gpt2@");
  EXPECT_EQ(read("https://huggingface.co/"), "@");
}

}  // namespace
}  // namespace foretell
