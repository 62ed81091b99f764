// What the tests of the hub's client share: a hub with one small repository, a
// client that does not wait long, and errors without what changes from run to
// run.
//
// Every error is searched for the token and for a signature.
#ifndef FORETELL_TESTS_HUB_HUB_FIXTURE_H_
#define FORETELL_TESTS_HUB_HUB_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/input_error.h"
#include "input/source_hub.h"
#include "tests/hub/hub_environment.h"
#include "tests/hub/hub_server.h"

namespace foretell {

inline constexpr char kId[] = "acme/tiny";
inline constexpr char kToken[] = "hf_SecretOfTheTest0123456789";
inline constexpr char kFile[] = "config.json";
inline constexpr char kBytes[] = "{\"model_type\": \"llama\"}";
inline constexpr char kEtag[] = "1f2e3d4c5b6a79880123456789abcdef01234567";
inline constexpr int64_t kMost = 1 << 20;

inline const std::string kCommit(40, 'a');
inline const std::string kLater(40, 'b');

class HubTest : public testing::Test {
 protected:
  HubTest() : HubTest(HubServer::Transport::kPlain) {}
  explicit HubTest(HubServer::Transport transport) : server_(transport) {
    server_.AddFile(kId, kCommit, kFile, {kBytes, kEtag});
    server_.SetRevision(kId, "main", kCommit);
    server_.SetRevision(kId, "aaaaaaa", kCommit);
    environment_.Set("HF_ENDPOINT", server_.address());
  }

  // A client as the environment says, that does not wait long.
  HubSettings Settings() const {
    HubSettingsResult read = HubSettingsOfEnvironment();
    EXPECT_FALSE(read.error) << ToString(*read.error);
    read.settings.pause_seconds = 0;
    read.settings.answer_seconds = 2;
    read.settings.silence_seconds = 1;
    return read.settings;
  }

  HubFile Fetch(const std::string& revision = "main",
                const std::string& file = kFile, int64_t most = kMost) {
    Hub hub(Settings(),
            [this](const std::string& text) { notes_.push_back(text); });
    HubFile out = hub.Fetch(kId, revision, file, most);
    EXPECT_EQ(out.error.has_value(), out.bytes.empty() && file != "empty");
    return out;
  }

  // The error's text without what changes from run to run.
  std::string ErrorOf(const HubFile& file) const {
    if (!file.error) return "no error";
    std::string text = ToString(*file.error);
    for (const std::string& address :
         {server_.address(), server_.other_address()}) {
      for (size_t at = text.find(address); at != std::string::npos;
           at = text.find(address)) {
        text.replace(at, address.size(), "HUB");
      }
    }
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(kToken)));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("signature")));
    return text;
  }

  void AnswerAlways(HubReply reply) {
    server_.Answer([reply](const HubRequest&) { return reply; });
  }

  std::string Repository() const {
    return environment_.cache() + "/models--acme--tiny";
  }

  HubEnvironment environment_;
  HubServer server_;
  std::vector<std::string> notes_;
};

}  // namespace foretell

#endif  // FORETELL_TESTS_HUB_HUB_FIXTURE_H_
