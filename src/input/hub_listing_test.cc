#include "input/hub_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using ::testing::HasSubstr;

const std::string kSha = "0e9e39f249a16976918f6564b8830bc894c89659";

TEST(HubListing, NamesAndSizesByName) {
  const HubListing list =
      ParseHubListing(R"({"sha": ")" + kSha + R"(", "new": [1], "siblings": [
          {"rfilename": "model.safetensors", "size": 130,
           "lfs": {"size": 5000000000, "pointerSize": 130}},
          {"rfilename": "config.json", "size": 700},
          {"rfilename": "../../etc/passwd"}, {"rfilename": 5}, null,
          {"rfilename": "config.json"}, {"rfilename": "x", "size": -1}]})",
                      "list");
  ASSERT_FALSE(list.error) << ToString(*list.error);
  EXPECT_EQ(list.commit, kSha);
  ASSERT_EQ(list.files.size(), 3u);
  EXPECT_EQ(list.files[0].name, "config.json");
  EXPECT_EQ(list.files[0].size, 700);
  EXPECT_EQ(list.files[1].name, "model.safetensors");
  EXPECT_EQ(list.files[1].size, 5000000000);
  EXPECT_EQ(list.files[2].size, std::nullopt);
}

TEST(HubListing, WhatIsNoListIsTold) {
  const auto error = [](const std::string& text) {
    const HubListing list = ParseHubListing(text, "list");
    return list.error ? ToString(*list.error) : "none";
  };
  EXPECT_THAT(error("<html>"), HasSubstr("list:1:1"));
  EXPECT_THAT(error("[]"), HasSubstr("(sha): names no commit"));
  EXPECT_THAT(error(R"({"sha": "main", "siblings": []})"),
              HasSubstr("(sha): names no commit"));
  EXPECT_THAT(error(R"({"sha": ")" + kSha + R"("})"),
              HasSubstr("(siblings): lists no files"));
}

}  // namespace
}  // namespace foretell
