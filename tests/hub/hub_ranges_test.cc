// What the hub's client reads in parts, lists, and trusts: ranges of files,
// files' names, certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/source_hub.h"
#include "tests/hub/hub_fixture.h"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using HubRangesTest = HubTest;

TEST_F(HubRangesTest, ListsFiles) {
  server_.AddFile(kId, kCommit, "sub/x.bin", {"12345", "e5"});
  Hub hub(Settings(), nullptr);
  const HubListing list = hub.List(kId, "main");
  ASSERT_FALSE(list.error) << ToString(*list.error);
  EXPECT_EQ(list.commit, kCommit);
  ASSERT_EQ(list.files.size(), 2u);
  EXPECT_EQ(list.files[1].name, "sub/x.bin");
  EXPECT_EQ(list.files[1].size, 5);
  EXPECT_THAT(ToString(*hub.List("acme/none", "main").error),
              HasSubstr("is no repository"));
}

TEST_F(HubRangesTest, ReadsRangesAndNothingElse) {
  const std::string bytes = "0123456789abcdef";
  server_.AddFile(kId, kCommit, "model.bin", {bytes, "5ha", true});
  environment_.Set("HF_TOKEN", kToken);
  Hub hub(Settings(), nullptr);
  const HubObject object = hub.Locate(kId, "main", "model.bin");
  ASSERT_FALSE(object.error) << ToString(*object.error);
  EXPECT_EQ(object.size, 16);
  EXPECT_EQ(object.commit, kCommit);
  const HubPlace place = {kId, object.commit, "model.bin"};
  EXPECT_EQ(hub.ReadRange(object, place, 0, 8).bytes, "01234567");
  EXPECT_EQ(hub.ReadRange(object, place, 12, 4).bytes, "cdef");
  const auto asked = server_.requests();
  ASSERT_EQ(asked.size(), 3u);  // a HEAD, which the storage does not see
  EXPECT_EQ(asked[0].method, "HEAD");
  EXPECT_EQ(asked[1].Header("range"), "bytes=0-7");
  EXPECT_EQ(asked[2].Header("range"), "bytes=12-15");
  EXPECT_EQ(asked[2].Header("authorization"), "");
}

TEST_F(HubRangesTest, ASignatureThatHasExpiredIsRenewed) {
  server_.AddFile(kId, kCommit, "model.bin", {"0123456789", "5ha", true});
  Hub hub(Settings(), nullptr);
  const HubObject object = hub.Locate(kId, "main", "model.bin");
  bool expired = true;
  server_.Answer([&](const HubRequest& request) -> std::optional<HubReply> {
    if (!request.path.starts_with("/large") || !expired) return std::nullopt;
    expired = false;
    return HubReply{.status = 403};
  });
  const HubPlace place = {kId, object.commit, "model.bin"};
  EXPECT_EQ(hub.ReadRange(object, place, 2, 3).bytes, "234");
}

TEST_F(HubRangesTest, AServerThatIgnoresRangesIsReadUpToThePart) {
  const std::string bytes(3 << 20, 'w');
  server_.Answer([&](const HubRequest&) -> std::optional<HubReply> {
    return HubReply{.headers = {"ETag: \"e\"", "X-Repo-Commit: " + kCommit},
                    .body = "head" + bytes};
  });
  Hub hub(Settings(), nullptr);
  const HubObject object = hub.Locate(kId, "main", "model.bin");
  const HubPlace place = {kId, kCommit, "model.bin"};
  EXPECT_EQ(hub.ReadRange(object, place, 1, 5).bytes, "eadww");
  const HubBytes far = hub.ReadRange(object, place, int64_t{1} << 40, 5);
  ASSERT_TRUE(far.error);
  EXPECT_THAT(ToString(*far.error), HasSubstr("sends the whole file"));
}

TEST_F(HubRangesTest, AnotherRangeIsNotTaken) {
  AnswerAlways(
      {.status = 206,
       .headers = {"Content-Range: bytes 4-7/16", "X-Repo-Commit: " + kCommit},
       .body = "4567"});
  Hub hub(Settings(), nullptr);
  HubObject object;
  object.address = server_.address() + "/x";
  const HubBytes part =
      hub.ReadRange(object, {kId, kCommit, "model.bin"}, 0, 4);
  ASSERT_TRUE(part.error);
  EXPECT_THAT(ToString(*part.error), HasSubstr("it sent another range"));
}

class HubTlsTest : public HubTest {
 protected:
  HubTlsTest() : HubTest(HubServer::Transport::kTls) {}
};

TEST_F(HubTlsTest, ACertificateThatIsTrustedVerifies) {
  environment_.Set("HF_TOKEN", kToken);
  for (const char* name :
       {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}) {
    environment_.Set(name, server_.authority());
    EXPECT_EQ(Fetch().bytes, kBytes) << name;
    environment_.Unset(name);
  }
  EXPECT_EQ(server_.requests().back().Header("authorization"),
            std::string("Bearer ") + kToken);
}

TEST_F(HubTlsTest, ACertificateThatIsNotTrustedIsRefused) {
  environment_.Set("HF_TOKEN", kToken);
  const HubFile file = Fetch();
  EXPECT_FALSE(file.is_unreachable);
  const std::string error = ErrorOf(file);
  EXPECT_THAT(error, HasSubstr("does not verify"));
  EXPECT_THAT(error, HasSubstr("SSL_CERT_FILE"));
  EXPECT_THAT(server_.requests(), IsEmpty());  // the token has not left
}

TEST_F(HubTlsTest, CertificatesThatAreNotThereAreTold) {
  environment_.Set("SSL_CERT_FILE", "/nonexistent/ca.pem");
  const HubSettingsResult read = HubSettingsOfEnvironment();
  ASSERT_TRUE(read.error);
  EXPECT_THAT(ToString(*read.error),
              HasSubstr("SSL_CERT_FILE: names certificates that cannot be "
                        "read"));
}

TEST_F(HubTlsTest, AWayBackToPlainHttpIsNotTaken) {
  environment_.Set("SSL_CERT_FILE", server_.authority());
  HubServer plain;
  AnswerAlways(
      {.status = 302, .headers = {"Location: " + plain.address() + "/x"}});
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("redirects from https to http"));
  EXPECT_THAT(plain.requests(), IsEmpty());
}

}  // namespace
}  // namespace foretell
