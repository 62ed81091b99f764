// Which of cache, catalogue and hub answers for a name, and what is said of it;
// through the command line, as a user sees it.
#include "input/model_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/input_error.h"
#include "front/cli/run_cli.h"
#include "front/command_table.h"
#include "input/catalogue.h"
#include "tests/hub/hub_environment.h"
#include "tests/hub/hub_server.h"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kKnown[] = "Qwen/Qwen3-0.6B";  // of the catalogue
constexpr char kToken[] = "hf_SecretOfTheTest0123456789";

const std::string kCommit = "0e9e39f" + std::string(33, 'c');

// A small Llama whose count is worked out below.
constexpr char kConfig[] = R"({"architectures": ["LlamaForCausalLM"],
  "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
  "vocab_size": 100, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
// Embeddings and head 2 x 6,400; a layer: q 4,096, k and v 2,048 each, o 4,096,
// MLP 3 x 6,144, norms 2 x 64; the last norm 64.
constexpr char kParameters[] = "74,560";

// Reports are wrapped: the same with single blanks.
std::string OneLine(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank || !out.ends_with(' ')) out += blank ? ' ' : c;
  }
  return out;
}

class ModelLookupTest : public testing::Test {
 protected:
  ModelLookupTest() {
    environment_.Set("HF_ENDPOINT", server_.address());
    environment_.Set("HF_HUB_DISABLE_PROGRESS_BARS", "1");
    environment_.Set("HF_HUB_DOWNLOAD_TIMEOUT", "1");
    for (const char* id : {"acme/tiny", kKnown}) {
      server_.AddFile(id, kCommit, "config.json", {kConfig, "c0ffee"});
      server_.SetRevision(id, "main", kCommit);
      server_.SetRevision(id, "0e9e39f", kCommit);
    }
  }

  // What the program prints for a command line; the status before it.
  std::string Run(std::vector<std::string> words) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = RunCli(Commands(), words, {}, out, err);
    const std::string text =
        OneLine(std::to_string(status) + "\n" + out.str() + err.str());
    EXPECT_THAT(text, Not(HasSubstr(kToken)));
    return text;
  }

  HubEnvironment environment_;
  HubServer server_;
};

TEST_F(ModelLookupTest, AnUnknownIdIsAskedForOnceAndThenCached) {
  EXPECT_THAT(
      Run({"model", "acme/tiny"}),
      AllOf(StartsWith("0 "), HasSubstr(kParameters),
            HasSubstr("hub: commit " + kCommit +
                      " (revision main), just now from " + server_.address())));
  EXPECT_EQ(server_.requests().size(), 1u);
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_THAT(Run({"model", "acme/tiny"}),
              AllOf(HasSubstr(kParameters),
                    HasSubstr("(revision main), from the cache as it was last "
                              "fetched")));
  EXPECT_THAT(Run({"model", "acme/tiny", "--offline"}), HasSubstr(kParameters));
  EXPECT_THAT(Run({"step", "acme/tiny", "--seq", "8"}),
              HasSubstr("acme/tiny@" + kCommit));
  EXPECT_THAT(Run({"graph", "acme/tiny", "--seq", "8", "--json"}),
              HasSubstr("acme/tiny@" + kCommit));
}

TEST_F(ModelLookupTest, TheCatalogueAnswersWithoutTheHub) {
  EXPECT_THAT(Run({"model", kKnown}), HasSubstr("catalogue:"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ModelLookupTest, ARevisionIsAskedForWhereTheCatalogueKnowsTheId) {
  EXPECT_THAT(Run({"model", kKnown, "--revision", "0e9e39f"}),
              AllOf(HasSubstr(kParameters), Not(HasSubstr("catalogue:")),
                    HasSubstr("(revision 0e9e39f)")));
  // The cache then knows it by the short hash, the whole one, and as what it
  // has of the id: it comes before the catalogue where main is here too.
  const std::string full = Run({"model", kKnown, "--revision", kCommit});
  EXPECT_THAT(full, HasSubstr("hub: commit " + kCommit + ", from the cache"));
  EXPECT_EQ(server_.requests().size(), 1u);
  EXPECT_THAT(Run({"model", kKnown}), HasSubstr("catalogue:"));
  Run({"model", kKnown, "--refresh"});
  EXPECT_THAT(Run({"model", kKnown}), HasSubstr("from the cache"));
}

TEST_F(ModelLookupTest, ThePastedAddressOfARevisionIsThatRevision) {
  EXPECT_THAT(Run({"model", "https://huggingface.co/acme/tiny/tree/0e9e39f"}),
              HasSubstr("(revision 0e9e39f)"));
}

TEST_F(ModelLookupTest, TheCatalogueStandsInWithAWarning) {
  environment_.Set("HF_HUB_OFFLINE", "1");
  EXPECT_THAT(
      Run({"model", kKnown, "--revision", "v2"}),
      AllOf(StartsWith("0 "), HasSubstr("catalogue:"),
            HasSubstr("revision v2 was not looked at: HF_HUB_OFFLINE forbids "
                      "asking the hub")));
  environment_.Unset("HF_HUB_OFFLINE");
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_THAT(Run({"step", kKnown, "--revision", "v2", "--layers", "1"}),
              AllOf(HasSubstr("revision v2 was not looked at:"),
                    HasSubstr("cannot be reached")));
  // A refusal is no silence: it is not covered up.
  environment_.Set("HF_ENDPOINT", server_.address());
  EXPECT_THAT(Run({"model", kKnown, "--revision", "v2"}),
              AllOf(StartsWith("2 "), HasSubstr("has no revision v2")));
}

TEST_F(ModelLookupTest, WhatNobodyKnows) {
  EXPECT_THAT(Run({"model", "Qwen/Qwen3-9B", "--offline"}),
              HasSubstr("error: Qwen/Qwen3-9B: is not in the catalogue or in "
                        "the hub's cache, and no file or folder has this "
                        "name; --offline forbids asking the hub"));
  EXPECT_THAT(
      Run({"model", "Qwen/Qwen3-9B"}),
      AllOf(HasSubstr("is no repository of"), HasSubstr("Qwen/Qwen3-8B")));
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_THAT(
      Run({"model", "Qwen/Qwen3-9B"}),
      AllOf(HasSubstr("is not in the catalogue or in the hub's cache"),
            HasSubstr("cannot be reached"), HasSubstr("Qwen/Qwen3-8B")));
}

TEST_F(ModelLookupTest, ANameWithoutAnOwnerAsksNobody) {
  EXPECT_THAT(Run({"model", "nothing-like-this"}),
              HasSubstr("the hub is asked for names with an owner alone"));
  EXPECT_THAT(Run({"model", "no model at all"}), HasSubstr("such a name no hub "
                                                           "has"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ModelLookupTest, AFileAsksNobodyAndHasNoRevision) {
  const std::string file =
      environment_.folder().Write("mine/config.json", kConfig);
  EXPECT_THAT(Run({"model", file}), HasSubstr(kParameters));
  EXPECT_THAT(Run({"model", file, "--revision", "main"}),
              HasSubstr("is a path, which has no revisions"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ModelLookupTest, ARevisionThatCouldLeaveTheCacheIsRefused) {
  EXPECT_THAT(Run({"model", "acme/tiny", "--revision", "../../x"}),
              HasSubstr("the revision holds \"..\""));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ModelLookupTest, RefreshComparesWithTheHub) {
  Run({"model", "acme/tiny"});
  const std::string later(40, 'd');
  server_.AddFile("acme/tiny", later, "config.json", {kConfig, "c0ffee"});
  server_.SetRevision("acme/tiny", "main", later);
  EXPECT_THAT(Run({"model", "acme/tiny"}), HasSubstr(kCommit));
  EXPECT_THAT(Run({"model", "acme/tiny", "--refresh"}), HasSubstr(later));
  EXPECT_EQ(server_.requests().back().Header("if-none-match"), "\"c0ffee\"");
  EXPECT_THAT(Run({"model", "acme/tiny"}), HasSubstr(later));
  EXPECT_THAT(Run({"model", "acme/tiny", "--refresh", "--offline"}),
              HasSubstr("--refresh asks the hub, and --offline forbids it"));
  environment_.Set("HF_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_THAT(Run({"model", "acme/tiny", "--refresh"}),
              AllOf(StartsWith("2 "), HasSubstr("cannot be reached")));
}

TEST_F(ModelLookupTest, ARepositoryWithoutAConfigurationIsDescribed) {
  server_.AddFile("acme/gguf", kCommit, "tiny-Q4_K_M.gguf", {"GGUF", "e1"});
  server_.SetRevision("acme/gguf", "main", kCommit);
  EXPECT_THAT(Run({"model", "acme/gguf"}),
              HasSubstr("acme/gguf: has no config.json at revision main, but "
                        "tiny-Q4_K_M.gguf"));
}

TEST_F(ModelLookupTest, AConfigurationThatCannotBeReadShowsItsPlace) {
  server_.AddFile("acme/bad", kCommit, "config.json", {"{\"a\": }", "e2"});
  server_.SetRevision("acme/bad", "main", kCommit);
  EXPECT_THAT(
      Run({"model", "acme/bad"}),
      HasSubstr("models--acme--bad/snapshots/" + kCommit + "/config.json:1:7"));
}

TEST_F(ModelLookupTest, AGatedModelIsNotHiddenByTheCatalogue) {
  server_.SetGate(kKnown, "hf_other");
  environment_.Set("HF_TOKEN", kToken);
  EXPECT_THAT(Run({"model", kKnown, "--revision", "0e9e39f"}),
              AllOf(StartsWith("2 "), HasSubstr("is gated"),
                    HasSubstr("accept the terms at")));
}

TEST_F(ModelLookupTest, ALaunchsModelIsFoundAtTheHub) {
  const std::string told = Run({"serve", "--gpu", "h100", "--engine-version",
                                "0.19", "--", "vllm", "serve", "acme/tiny"});
  EXPECT_THAT(told, StartsWith("0 "));
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(ModelLookupTest, AnEnvironmentThatCannotBeMeantMattersToTheHubAlone) {
  environment_.Set("HF_ENDPOINT", "https://user:password@hub.example");
  EXPECT_THAT(Run({"model", kKnown}), HasSubstr("catalogue:"));
  EXPECT_THAT(Run({"model", "acme/tiny"}),
              AllOf(HasSubstr("HF_ENDPOINT: is no address of a hub"),
                    Not(HasSubstr("password@"))));
  environment_.Set("HF_ENDPOINT", server_.address());
  environment_.Set("HF_TOKEN", "two words");
  EXPECT_THAT(Run({"model", "acme/tiny"}),
              AllOf(HasSubstr("HF_TOKEN: holds what cannot be a token"),
                    Not(HasSubstr("two words"))));
}

}  // namespace
}  // namespace foretell
