#include "input/http_headers.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(HttpHeaders, TheLastAnswersLinesHold) {
  HttpHeaders headers;
  for (const char* line : {"HTTP/1.1 100 Continue\r\n", "ETag: \"old\"\r\n",
                           "\r\n", "HTTP/1.1 200 OK\r\n", "etag:  \"new\" \r\n",
                           "no colon\r\n", ": nameless\r\n", "X-Twice: 1\r\n",
                           "x-twice: 2\r\n", "\r\n", "ETag: \"trailer\"\r\n"}) {
    headers.AddLine(line);
  }
  EXPECT_EQ(headers.Text("ETag"), "\"new\"");
  EXPECT_EQ(headers.Text("X-TWICE"), "2");
  EXPECT_EQ(headers.Find("absent"), nullptr);
}

TEST(HttpHeaders, ABlobsNameIsTheTagWithoutQuotes) {
  EXPECT_EQ(BlobNameOfEtag("\"abc\""), "abc");
  EXPECT_EQ(BlobNameOfEtag("W/\"a-b.c_9\""), "a-b.c_9");
  for (const char* etag :
       {"", "\"\"", "\"../x\"", "\".x\"", "\"a/b\"", "\"a b\"", "\"a\nb\""}) {
    EXPECT_EQ(BlobNameOfEtag(etag), std::nullopt) << etag;
  }
  EXPECT_EQ(BlobNameOfEtag(std::string(201, 'a')), std::nullopt);
}

TEST(HttpHeaders, Ranges) {
  const auto range = ParseContentRange("bytes 0-7/5000");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 0);
  EXPECT_EQ(range->last, 7);
  EXPECT_EQ(range->total, 5000);
  EXPECT_EQ(ParseContentRange("Bytes 3-3/*")->total, std::nullopt);
  for (const char* value :
       {"", "bytes", "bytes */5", "bytes 7-3/9", "bytes 0-9/9", "bytes 0-/9",
        "bytes -1-3/9", "bytes 0-7/5000x", "items 0-7/9",
        "bytes 0-99999999999999999999/*"}) {
    EXPECT_EQ(ParseContentRange(value), std::nullopt) << value;
  }
}

TEST(HttpHeaders, Lengths) {
  EXPECT_EQ(ParseLength("9223372036854775807"), INT64_MAX);
  for (const char* value :
       {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(ParseLength(value), std::nullopt) << value;
  }
}

TEST(HttpHeaders, HowLongToWait) {
  EXPECT_EQ(ParseRetryAfter(" 120 ", 0), 120);
  // RFC 9110, section 5.6.7, gives this date; `date -d` its seconds.
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 - 5), 5);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", 784111778), 0);
  EXPECT_EQ(ParseRetryAfter("Thu, 29 Feb 2024 00:00:00 GMT", 1709164800), 0);
  for (const char* value :
       {"", "soon", "-3", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT"}) {
    EXPECT_EQ(ParseRetryAfter(value, 0), std::nullopt) << value;
  }
  EXPECT_EQ(ParseRateLimit("\"api\";r=0;t=55"), 55);
  EXPECT_EQ(ParseRateLimit("\"api\"; r=0; t=55"), 55);
  EXPECT_EQ(ParseRateLimit("\"api\";r=3;t=55"), std::nullopt);
  EXPECT_EQ(ParseRateLimit(""), std::nullopt);
}

}  // namespace
}  // namespace foretell
