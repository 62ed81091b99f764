// The hub's client against a hub of the tests' own: what it asks, what it
// keeps, and what it says when a server does not do what it should.
#include "input/source_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/hub/hub_fixture.h"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

TEST_F(HubTest, KeepsAFileAsTheClientLaysItOut) {
  const HubFile file = Fetch();
  EXPECT_EQ(file.bytes, kBytes);
  EXPECT_EQ(file.commit, kCommit);
  EXPECT_EQ(file.not_kept, "");
  EXPECT_EQ(Contents(Repository() + "/refs/main"), kCommit);
  EXPECT_EQ(Contents(Repository() + "/blobs/" + kEtag), kBytes);
  const std::string link = Repository() + "/snapshots/" + kCommit + "/" + kFile;
  EXPECT_EQ(file.path, link);
  EXPECT_EQ(std::filesystem::read_symlink(link),
            std::string("../../blobs/") + kEtag);
  ASSERT_EQ(server_.requests().size(), 1u);
  const HubRequest asked = server_.requests().front();
  EXPECT_EQ(asked.path, "/acme/tiny/resolve/main/config.json");
  EXPECT_EQ(asked.Header("accept-encoding"), "identity");
  EXPECT_EQ(asked.Header("authorization"), "");
  EXPECT_THAT(asked.Header("user-agent"), HasSubstr("foretell/"));
}

TEST_F(HubTest, AFileInAFolderIsLinkedFromThere) {
  server_.AddFile(kId, kCommit, "a/b/c.json", {"{}", "e1"});
  const HubFile file = Fetch("main", "a/b/c.json");
  EXPECT_EQ(std::filesystem::read_symlink(file.path), "../../../../blobs/e1");
  EXPECT_EQ(Contents(file.path), "{}");
}

TEST_F(HubTest, ShortHashesAndBranchesWithSlashesAreRefs) {
  EXPECT_EQ(Fetch("aaaaaaa").commit, kCommit);
  EXPECT_EQ(Contents(Repository() + "/refs/aaaaaaa"), kCommit);
  server_.SetRevision(kId, "refs/pr/1", kCommit);
  EXPECT_EQ(Fetch("refs/pr/1").commit, kCommit);
  EXPECT_EQ(server_.requests().back().path,
            "/acme/tiny/resolve/refs%2Fpr%2F1/config.json");
  EXPECT_EQ(Contents(Repository() + "/refs/refs/pr/1"), kCommit);
}

TEST_F(HubTest, WithoutLinksTheSnapshotHoldsTheFile) {
  environment_.Set("HF_HUB_DISABLE_SYMLINKS", "1");
  const HubFile file = Fetch();
  EXPECT_FALSE(std::filesystem::is_symlink(file.path));
  EXPECT_EQ(Contents(file.path), kBytes);
}

TEST_F(HubTest, AnUnchangedFileIsNotSentAgain) {
  Fetch();
  // A later commit with the same file.
  server_.AddFile(kId, kLater, kFile, {kBytes, kEtag});
  server_.SetRevision(kId, "main", kLater);
  const HubFile file = Fetch();
  EXPECT_EQ(server_.requests().back().Header("if-none-match"),
            std::string("\"") + kEtag + "\"");
  EXPECT_EQ(file.bytes, kBytes);
  EXPECT_EQ(file.commit, kLater);
  EXPECT_EQ(Contents(Repository() + "/refs/main"), kLater);
  EXPECT_EQ(Contents(Repository() + "/snapshots/" + kLater + "/" + kFile),
            kBytes);
}

TEST_F(HubTest, A304ThatNamesNoCommitIsAskedAgainInFull) {
  Fetch();
  server_.Answer([](const HubRequest& request) -> std::optional<HubReply> {
    if (request.Header("if-none-match").empty()) return std::nullopt;
    return HubReply{.status = 304};
  });
  EXPECT_EQ(Fetch().commit, kCommit);
  EXPECT_EQ(server_.requests().size(), 3u);
}

TEST_F(HubTest, A304ForAnotherFileIsNotBelieved) {
  Fetch();
  AnswerAlways({.status = 304,
                .headers = {"ETag: \"other\"", "X-Repo-Commit: " + kLater}});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("is unchanged and not which"));
}

TEST_F(HubTest, FollowsARelativeRedirectWithTheToken) {
  environment_.Set("HF_TOKEN", std::string(kToken) + "\n");
  server_.Answer([](const HubRequest& request) -> std::optional<HubReply> {
    if (request.path.starts_with("/api/resolve-cache")) {
      return HubReply{.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kCommit},
                      .body = "{}"};
    }
    return HubReply{.status = 307,
                    .headers = {"Location: /api/resolve-cache/x",
                                "X-Repo-Commit: " + kCommit}};
  });
  EXPECT_EQ(Fetch().bytes, "{}");
  ASSERT_EQ(server_.requests().size(), 2u);
  for (const HubRequest& asked : server_.requests()) {
    EXPECT_EQ(asked.Header("authorization"), std::string("Bearer ") + kToken);
  }
}

TEST_F(HubTest, AnotherHostGetsNeitherTheTokenNorTheBlobsNames) {
  environment_.Set("HF_TOKEN", kToken);
  server_.AddFile(kId, kCommit, "big.json", {"{\"big\": 1}", "f00d", true});
  Fetch("main", "big.json");
  const HubFile file = Fetch("main", "big.json");
  EXPECT_EQ(file.bytes, "{\"big\": 1}");
  EXPECT_EQ(Contents(Repository() + "/blobs/f00d"), file.bytes);
  const auto asked = server_.requests();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_NE(asked[2].Header("authorization"), "");
  EXPECT_NE(asked[2].Header("if-none-match"), "");
  EXPECT_THAT(asked[3].path, HasSubstr("/large/f00d"));
  EXPECT_EQ(asked[3].Header("authorization"), "");
  EXPECT_EQ(asked[3].Header("if-none-match"), "");
}

TEST_F(HubTest, ARedirectLoopEnds) {
  AnswerAlways({.status = 302, .headers = {"Location: /again"}});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("redirects more than 10 times"));
  EXPECT_EQ(server_.requests().size(), 11u);
}

TEST_F(HubTest, ARedirectToAnotherSchemeIsNotFollowed) {
  AnswerAlways({.status = 302, .headers = {"Location: file:///etc/passwd"}});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("redirects to what is no address"));
}

TEST_F(HubTest, AGatedModelSaysHowToGetIn) {
  server_.SetGate(kId, kToken);
  EXPECT_EQ(ErrorOf(Fetch()),
            "error: acme/tiny: is gated: its files are given to accounts that "
            "have accepted its terms, and no token was sent\n"
            "cure: accept the terms at HUB/acme/tiny, then set HF_TOKEN to a "
            "token of HUB/settings/tokens (or run `hf auth login`)\n");
  environment_.Set("HF_TOKEN", "hf_AnotherAccount");
  const std::string other = ErrorOf(Fetch());
  EXPECT_THAT(other, HasSubstr("has not been given access"));
  EXPECT_THAT(other, Not(HasSubstr("hf_AnotherAccount")));
  environment_.Set("HF_TOKEN", kToken);
  EXPECT_EQ(Fetch().bytes, kBytes);
  environment_.Set("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
  EXPECT_THAT(ErrorOf(Fetch("aaaaaaa")), HasSubstr("is gated"));
}

TEST_F(HubTest, TheTokensFileIsRead) {
  server_.SetGate(kId, kToken);
  environment_.folder().Write("hf/token", std::string(kToken) + "\n");
  EXPECT_EQ(Fetch().bytes, kBytes);
}

TEST_F(HubTest, ATokenThatIsNotAcceptedIsSaidSo) {
  environment_.Set("HF_TOKEN", kToken);
  AnswerAlways({.status = 401,
                .headers = {"X-Error-Message: Invalid credentials in "
                            "Authorization header"}});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("does not accept the token in "
                                          "HF_TOKEN"));
}

TEST_F(HubTest, WhatIsNotThereIsTold) {
  Hub hub(Settings(), nullptr);
  hub.set_near({"acme/tiny"});
  const HubFile none = hub.Fetch("acme/tinny", "main", kFile, kMost);
  EXPECT_EQ(ErrorOf(none),
            "error: acme/tinny: is no repository of HUB that everyone may "
            "see\n"
            "cure: check the spelling; where it is private, set HF_TOKEN to a "
            "token of HUB/settings/tokens (or run `hf auth login`); the "
            "nearest that are known: acme/tiny\n");
  EXPECT_THAT(ErrorOf(Fetch("v9")), HasSubstr("has no revision v9"));
  const HubFile missing = Fetch("main", "nope.json");
  EXPECT_TRUE(missing.is_missing);
  EXPECT_THAT(ErrorOf(missing), HasSubstr("has no file nope.json"));
  EXPECT_TRUE(std::filesystem::exists(Repository() + "/.no_exist/" + kCommit +
                                      "/nope.json"));
}

TEST_F(HubTest, WaitsAsLongAsItIsAskedToAndNoLonger) {
  int left = 1;
  std::string wait = "1";
  server_.Answer([&](const HubRequest&) -> std::optional<HubReply> {
    if (left-- <= 0) return std::nullopt;
    return HubReply{.status = 429, .headers = {"Retry-After: " + wait}};
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Fetch().bytes, kBytes);
  const auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(taken, std::chrono::seconds(1));
  EXPECT_THAT(notes_, testing::Contains(HasSubstr("asks to wait 1 s")));
  left = 1000;
  wait = "86400";
  const std::string error = ErrorOf(Fetch());
  EXPECT_THAT(error, HasSubstr("too many requests come from here (429)"));
  EXPECT_THAT(error, HasSubstr("try again in 86400 s"));
}

TEST_F(HubTest, AServersOwnErrorIsTriedAgain) {
  int left = 2;
  server_.Answer([&](const HubRequest&) -> std::optional<HubReply> {
    if (left-- <= 0) return std::nullopt;
    return HubReply{.status = 503};
  });
  EXPECT_EQ(Fetch().bytes, kBytes);
  left = 1000;
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("with an error of its own (503)"));
  EXPECT_EQ(server_.requests().size(), 6u);
}

TEST_F(HubTest, ABodyCutShortIsTriedAgainAndThenTold) {
  AnswerAlways({.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kCommit},
                .body = "{\"a\": ",
                .claimed_length = 5000});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("broke off within its answer"));
  EXPECT_EQ(server_.requests().size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(Repository() + "/blobs"));
}

TEST_F(HubTest, ABodyShorterThanTheHubSaidIsTold) {
  server_.Answer([this](const HubRequest& request) -> std::optional<HubReply> {
    if (request.path.starts_with("/large")) return HubReply{.body = "{"};
    return HubReply{
        .status = 302,
        .headers = {"Location: " + server_.other_address() + "/large/x",
                    "X-Linked-Etag: \"e\"", "X-Linked-Size: 100",
                    "X-Repo-Commit: " + kCommit}};
  });
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("1 of 100 bytes came"));
}

TEST_F(HubTest, AServerThatFallsSilentIsLeft) {
  AnswerAlways({.headers = {"X-Repo-Commit: " + kCommit},
                .body = "{",
                .claimed_length = 50,
                .hang = true});
  const auto begin = std::chrono::steady_clock::now();
  const HubFile file = Fetch();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_TRUE(file.is_unreachable);
  EXPECT_THAT(ErrorOf(file), HasSubstr("did not answer in time"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("asking " + server_.address())));
}

TEST_F(HubTest, LargerThanAskedForIsLeftAtOnce) {
  AnswerAlways({.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kCommit},
                .body = std::string(1 << 20, 'x'),
                .claimed_length = size_t{1} << 60});
  EXPECT_THAT(ErrorOf(Fetch("main", kFile, 4096)),
              HasSubstr("sends more than is read: its body"));
}

TEST_F(HubTest, HeadersWithoutEndAreLeft) {
  AnswerAlways({.headers = std::vector<std::string>(
                    1000, "X-Filler: " + std::string(1000, 'x'))});
  EXPECT_THAT(ErrorOf(Fetch()),
              HasSubstr("sends more than is read: its headers"));
}

TEST_F(HubTest, APackedBodyIsNotUnpacked) {
  AnswerAlways({.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kCommit,
                            "Content-Encoding: gzip"},
                .body = "\x1f\x8b bomb"});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("sends its answer packed (gzip)"));
}

TEST_F(HubTest, WhatIsNoHubIsTold) {
  AnswerAlways({.body = "<html>please log in</html>"});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("does not say which commit"));
  AnswerAlways({.raw = "SSH-2.0-OpenSSH_9.2\r\n"});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("gives no answer that can be read"));
}

TEST_F(HubTest, AnswersForAnotherCommitAreNotBelieved) {
  AnswerAlways(
      {.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kLater}, .body = "{}"});
  EXPECT_THAT(ErrorOf(Fetch(kCommit)), HasSubstr("answers with commit bbbb"));
}

TEST_F(HubTest, AnEntityTagIsNoPath) {
  AnswerAlways(
      {.headers = {"ETag: \"../../../evil\"", "X-Repo-Commit: " + kCommit},
       .body = "{}"});
  const HubFile file = Fetch();
  EXPECT_EQ(file.bytes, "{}");
  EXPECT_THAT(file.not_kept, HasSubstr("no entity tag"));
  EXPECT_FALSE(std::filesystem::exists(Repository()));
}

TEST_F(HubTest, AFolderThatMayNotBeWrittenToIsDoneWithout) {
  environment_.folder().Write("hf/hub", "a file where a folder should be");
  const HubFile file = Fetch();
  EXPECT_EQ(file.bytes, kBytes);
  EXPECT_EQ(file.path, "");
  EXPECT_THAT(file.not_kept, HasSubstr("hf/hub"));
}

TEST_F(HubTest, NobodyListening) {
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  const HubFile file = Fetch();
  EXPECT_TRUE(file.is_unreachable);
  EXPECT_THAT(ErrorOf(file), HasSubstr("http://127.0.0.1:1/acme/tiny/resolve/"
                                       "main/config.json cannot be reached"));
}

TEST_F(HubTest, AProxyThatIsNotThereIsNotUsedForThisMachine) {
  environment_.Set("http_proxy", "http://127.0.0.1:1");
  environment_.Set("HTTP_PROXY", "http://127.0.0.1:1");
  EXPECT_EQ(Fetch().bytes, kBytes);
  environment_.Set("HF_ENDPOINT", "http://hub.invalid");
  const HubFile file = Fetch("main", "other.json");
  EXPECT_TRUE(file.is_unreachable);
  EXPECT_THAT(ErrorOf(file), HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace foretell
