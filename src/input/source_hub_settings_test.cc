#include "input/source_hub_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>

#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// What the environment says with these variables and no others of the hub.
class HubSettingsTest : public testing::Test {
 protected:
  HubSettingsResult Read(const std::map<std::string, std::string>& variables) {
    for (const char* name :
         {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME",
          "HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
          "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
          "HF_HUB_DISABLE_IMPLICIT_TOKEN", "HF_HUB_ETAG_TIMEOUT"}) {
      unsetenv(name);
    }
    setenv("HOME", folder_.path().c_str(), 1);
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    return HubSettingsOfEnvironment();
  }
  std::string CacheWith(const std::map<std::string, std::string>& variables) {
    return folder_.Shown(Read(variables).settings.cache);
  }

  void TearDown() override {
    Read({});
    setenv("HOME", home_.c_str(), 1);
  }

  const std::string home_ = getenv("HOME") == nullptr ? "/" : getenv("HOME");
  ScratchFolder folder_;
};

TEST_F(HubSettingsTest, TheCacheIsWhereTheClientHasIt) {
  EXPECT_EQ(CacheWith({}), "DIR/.cache/huggingface/hub");
  EXPECT_EQ(CacheWith({{"XDG_CACHE_HOME", "/x"}}), "/x/huggingface/hub");
  EXPECT_EQ(CacheWith({{"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "~/hf"}}),
            "DIR/hf/hub");
  EXPECT_EQ(CacheWith({{"HF_HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/c"}}),
            "/c");
  EXPECT_EQ(CacheWith({{"HUGGINGFACE_HUB_CACHE", "/c"},
                       {"HF_HUB_CACHE", "$HOME/${HOME}$NOT_SET-"}}),
            "DIR/DIR$NOT_SET-");
  EXPECT_EQ(CacheWith({{"HF_HOME", ""}}), "DIR/.cache/huggingface/hub");
}

TEST_F(HubSettingsTest, TheTokenIsTheFirstThatIsThere) {
  EXPECT_EQ(Read({}).settings.token, "");
  EXPECT_EQ(Read({}).settings.token_from, "");
  folder_.Write(".cache/huggingface/token", " hf_file\n");
  EXPECT_EQ(Read({}).settings.token, "hf_file");
  EXPECT_EQ(folder_.Shown(Read({}).settings.token_from),
            "DIR/.cache/huggingface/token");
  const HubSettings named =
      Read({{"HF_TOKEN", "hf_a\n"}, {"HUGGING_FACE_HUB_TOKEN", "hf_b"}})
          .settings;
  EXPECT_EQ(named.token, "hf_a");
  EXPECT_EQ(named.token_from, "HF_TOKEN");
  EXPECT_EQ(Read({{"HF_HUB_DISABLE_IMPLICIT_TOKEN", "true"}}).settings.token,
            "");
  const auto bad = Read({{"HF_TOKEN", "hf_a\tb"}}).error;
  ASSERT_TRUE(bad);
  EXPECT_THAT(ToString(*bad), HasSubstr("HF_TOKEN: holds what cannot be"));
  EXPECT_EQ(ToString(*bad).find("hf_a"), std::string::npos);
}

TEST_F(HubSettingsTest, OfflineIsWhatTheClientTakesForIt) {
  EXPECT_EQ(Read({{"HF_HUB_OFFLINE", "1"}}).settings.offline, "HF_HUB_OFFLINE");
  EXPECT_EQ(Read({{"HF_HUB_OFFLINE", "0"}}).settings.offline, "");
  EXPECT_EQ(Read({{"TRANSFORMERS_OFFLINE", "yes"}}).settings.offline,
            "TRANSFORMERS_OFFLINE");
  EXPECT_EQ(Read({{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", "1"}})
                .settings.offline,
            "");
}

TEST_F(HubSettingsTest, EndpointsAndSeconds) {
  EXPECT_EQ(Read({}).settings.endpoint, "https://huggingface.co");
  EXPECT_EQ(Read({{"HF_ENDPOINT", "https://mirror/hf//"}}).settings.endpoint,
            "https://mirror/hf");
  EXPECT_TRUE(Read({{"HF_ENDPOINT", "mirror"}}).error);
  EXPECT_TRUE(Read({{"HF_ENDPOINT", "https://mirror/?x"}}).error);
  EXPECT_EQ(Read({{"HF_HUB_ETAG_TIMEOUT", "3"}}).settings.answer_seconds, 3);
  EXPECT_EQ(Read({{"HF_HUB_ETAG_TIMEOUT", "0"}}).settings.answer_seconds, 10);
  EXPECT_TRUE(Read({{"HF_HUB_ETAG_TIMEOUT", "soon"}}).error);
  EXPECT_TRUE(Read({{"HF_HUB_ETAG_TIMEOUT", "-1"}}).error);
}

}  // namespace
}  // namespace foretell
