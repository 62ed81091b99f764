// The cache that the official client and Foretell share: what it wrote we
// read, and what we wrote it reads.
//
// The client itself runs where Python has huggingface_hub (FORETELL_PYTHON
// names another interpreter than python3); tests/hub/cache is what its version
// 2.4.0 wrote from the hub of these tests, for machines that lack it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <filesystem>

#include "base/input_error.h"
#include "input/json.h"
#include "input/model_lookup.h"
#include "input/source_hub.h"
#include "tests/hub/hub_environment.h"
#include "tests/hub/hub_server.h"

namespace foretell {
namespace {

constexpr char kId[] = "acme/tiny";
constexpr char kConfig[] = "{\"model_type\": \"llama\", \"hidden_size\": 64}\n";
constexpr char kTable[] = "{\"weight_map\": {}}\n";
// git's own hash of the first, and SHA-256 of the second, which is large: as
// the hub's entity tags are.
constexpr char kConfigBlob[] = "e6f199d80c3fd2239bdd622b849e204dfe5127fa";
constexpr char kTableBlob[] =
    "97d2065b23dd8d516cca4177ca2d71fc53d985690f8840ecdbc24d3b8cb3316f";
const std::string kCommit = "0e9e39f249a16976918f6564b8830bc894c89659";

// What a command prints; nothing where it fails.
std::optional<std::string> OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  char bytes[4096];
  for (size_t got = 0; (got = fread(bytes, 1, sizeof bytes, pipe)) > 0;) {
    out.append(bytes, got);
  }
  if (pclose(pipe) != 0) return std::nullopt;
  return out;
}

// A Python with the client; empty where there is none.
std::string ClientsPython() {
  const char* named = getenv("FORETELL_PYTHON");
  std::string python = named == nullptr ? "python3" : named;
  const auto found =
      OutputOf(python + " -c 'import huggingface_hub' 2>/dev/null");
  return found ? python : "";
}

class OfficialClientTest : public testing::Test {
 protected:
  void SetUp() override {
    python_ = ClientsPython();
    environment_.Set("HF_ENDPOINT", server_.address());
    // The client's own files, as a test's process is.
    environment_.Set("HF_HUB_DISABLE_TELEMETRY", "1");
    environment_.Set("HF_HUB_DISABLE_UPDATE_CHECK", "1");
    server_.AddFile(kId, kCommit, "config.json", {kConfig, kConfigBlob});
    server_.AddFile(kId, kCommit, "sub/table.json",
                    {kTable, kTableBlob, /*is_large=*/true});
    for (const char* revision : {"main", "0e9e39f", "refs/pr/1"}) {
      server_.SetRevision(kId, revision, kCommit);
    }
  }

  // What official_client.py prints; "" where it fails.
  std::string Client(const std::string& revision, const std::string& files) {
    return OutputOf(python_ +
                    " " FORETELL_SOURCE_DIR "/tests/hub/official_client.py " +
                    kId + " " + revision + " " + files)
        .value_or("");
  }

  HubEnvironment environment_;
  HubServer server_;
  std::string python_;
};

#define SKIP_WITHOUT_CLIENT() \
  if (python_.empty()) GTEST_SKIP() << "no Python with huggingface_hub here"

void ExpectAllRevisions(const std::string& cache) {
  for (const char* revision :
       {"", "main", "0e9e39f", "0e9e", "refs/pr/1", kCommit.c_str()}) {
    ModelLookup how;
    how.offline = true;
    how.revision = revision;
    const ModelConfig config = LookUpModel(kId, how);
    ASSERT_TRUE(config.hub) << revision;
    EXPECT_EQ(config.hub->commit, kCommit) << revision;
    EXPECT_EQ(config.hub->path, cache + "/models--acme--tiny/snapshots/" +
                                    kCommit + "/config.json");
    EXPECT_EQ(*config.text, kConfig);
  }
}

TEST_F(OfficialClientTest, WhatItWroteOnceWeRead) {
  const std::string cache = FORETELL_SOURCE_DIR "/tests/hub/cache";
  ASSERT_TRUE(std::filesystem::is_symlink(
      cache + "/models--acme--tiny/snapshots/" + kCommit + "/config.json"))
      << "this checkout has no links";
  environment_.Set("HF_HUB_CACHE", cache);
  ExpectAllRevisions(cache);
  const HubCache read(cache, true);
  EXPECT_THAT(read.FilesOf(kId, kCommit),
              testing::ElementsAre("config.json", "sub/table.json"));
  EXPECT_TRUE(read.IsKnownMissing({kId, kCommit, "none.json"}));
  EXPECT_THAT(server_.requests(), testing::IsEmpty());
}

TEST_F(OfficialClientTest, WhatItWritesWeRead) {
  SKIP_WITHOUT_CLIENT();
  for (const char* revision : {"main", "0e9e39f", "refs/pr/1"}) {
    ASSERT_NE(Client(revision, "config.json sub/table.json none.json"), "");
  }
  ExpectAllRevisions(environment_.cache());
  EXPECT_TRUE(HubCache(environment_.cache(), true)
                  .IsKnownMissing({kId, kCommit, "none.json"}));
}

TEST_F(OfficialClientTest, WhatWeWriteItReads) {
  SKIP_WITHOUT_CLIENT();
  Hub hub(HubSettingsOfEnvironment().settings, nullptr);
  for (const char* revision : {"main", "0e9e39f", "refs/pr/1"}) {
    for (const char* file : {"config.json", "sub/table.json"}) {
      const HubFile kept = hub.Fetch(kId, revision, file, 1 << 20);
      ASSERT_FALSE(kept.error) << ToString(*kept.error);
      ASSERT_EQ(kept.not_kept, "");
    }
    ASSERT_TRUE(hub.Fetch(kId, revision, "none.json", 1 << 20).is_missing);
  }
  environment_.Set("HF_HUB_OFFLINE", "1");
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  for (const std::string& revision :
       {std::string("main"), std::string("0e9e39f"), std::string("refs/pr/1"),
        kCommit}) {
    const std::string text = Client(revision, "config.json sub/table.json");
    ASSERT_NE(text, "") << revision;
    const ConfigValue said = ParseJson(text, "the client");
    EXPECT_EQ(said.Find("files")->Find("config.json")->AsString(), kConfig);
    EXPECT_EQ(said.Find("files")->Find("sub/table.json")->AsString(), kTable);
    EXPECT_EQ(said.Find("repositories")->ToJson(), "[\"acme/tiny\"]");
    EXPECT_EQ(said.Find("commits")->ToJson(), "[\"" + kCommit + "\"]");
    EXPECT_EQ(said.Find("warnings")->ToJson(), "[]");
  }
}

TEST_F(OfficialClientTest, AfterUsItHasNothingToFetch) {
  SKIP_WITHOUT_CLIENT();
  Hub hub(HubSettingsOfEnvironment().settings, nullptr);
  ASSERT_FALSE(hub.Fetch(kId, "main", "config.json", 1 << 20).error);
  const size_t before = server_.requests().size();
  ASSERT_NE(Client("main", "config.json"), "");
  for (size_t i = before; i < server_.requests().size(); ++i) {
    EXPECT_EQ(server_.requests()[i].method, "HEAD");
  }
}

}  // namespace
}  // namespace foretell
