#include "base/library.h"

#include <gtest/gtest.h>

#include <string_view>

namespace foretell {
namespace {

TEST(Library, AVersionTakesTheNearestThatIsFollowed) {
  struct Case {
    std::string_view stated;
    std::string_view taken;
    bool is_followed;
  };
  for (const Case& one :
       {Case{"5.23", "5.23", true}, Case{"5.23.0", "5.23", true},
        Case{"5.0", "5.23", false}, Case{"6.1", "5.23", false},
        Case{"4.57.6", "4.57", true}, Case{"4.57.0.dev0", "4.57", true},
        Case{"4.36", "4.57", false}, Case{"3.0", "4.57", false}}) {
    EXPECT_EQ(LibraryFor(one.stated).name, one.taken) << one.stated;
    EXPECT_EQ(IsFollowed(one.stated), one.is_followed) << one.stated;
  }
}

TEST(Library, WhatNamesNoVersionIsRefused) {
  for (const std::string_view text :
       {"", "5", "five", "5.", "-1.2", "5.-2", "5.2x", "v5.23", "99999999999.1",
        "5.99999999999"}) {
    EXPECT_FALSE(ParseLibraryVersion(text)) << text;
    EXPECT_EQ(LibraryFor(text).name, NewestLibrary().name) << text;
    EXPECT_FALSE(IsFollowed(text)) << text;
  }
}

TEST(Library, TheNewestComesFirst) {
  const Library* before = nullptr;
  for (const Library& one : FollowedLibraries()) {
    if (before != nullptr) {
      EXPECT_TRUE(before->version.major > one.version.major ||
                  (before->version.major == one.version.major &&
                   before->version.minor > one.version.minor));
    }
    before = &one;
  }
}

}  // namespace
}  // namespace foretell
