#include "input/http_address.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

bool Same(std::string_view a, std::string_view b) {
  return SameOrigin(*ParseAddress(a), *ParseAddress(b));
}

TEST(HttpAddress, TakesApart) {
  const auto address = ParseAddress("HTTPS://Hub.Example:8443/a/b?c=/d#e");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->is_secure);
  EXPECT_EQ(address->host, "hub.example");
  EXPECT_EQ(address->port, 8443);
  EXPECT_EQ(address->path, "/a/b");
  EXPECT_EQ(ParseAddress("http://[::1]:80/")->host, "[::1]");
  EXPECT_EQ(ParseAddress("https://h")->port, 443);
}

TEST(HttpAddress, WhatTwoReadersCouldReadDifferentlyIsNone) {
  for (const char* text :
       {"", "huggingface.co", "ftp://h/", "file:///etc/passwd", "https://",
        "https://user:password@h/", "https://h\\@evil/", "https://h h/",
        "https://h:0/", "https://h:65536/", "https://h:/", "https://h:8o/",
        "https://h\n/", "https://[::1/", "https://h%2e/", "https:/h/"}) {
    EXPECT_EQ(ParseAddress(text), std::nullopt) << text;
  }
}

TEST(HttpAddress, Origins) {
  EXPECT_TRUE(Same("https://h/a", "https://H:443/b"));
  EXPECT_FALSE(Same("https://h/", "http://h/"));
  EXPECT_FALSE(Same("https://h/", "https://h:444/"));
  EXPECT_FALSE(Same("https://h/", "https://h.evil/"));
  EXPECT_TRUE(IsLoopback(*ParseAddress("http://127.1.2.3:9/")));
  EXPECT_TRUE(IsLoopback(*ParseAddress("http://localhost/")));
  EXPECT_TRUE(IsLoopback(*ParseAddress("http://[::1]/")));
  EXPECT_FALSE(IsLoopback(*ParseAddress("http://127.evil.org/")));
}

TEST(HttpAddress, ShowsNoSecrets) {
  EXPECT_EQ(ShownAddress("https://cdn.example/x/y?Signature=abc#f"),
            "https://cdn.example/x/y");
  EXPECT_EQ(ShownAddress("https://user:password@h/x"), "(no address)");
  EXPECT_EQ(ShownAddress("http://H:8080"), "http://h:8080");
}

}  // namespace
}  // namespace foretell
