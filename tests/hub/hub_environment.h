// The environment of a test about the hub: nothing of the machine's own, a home
// in a scratch folder, and what the test sets.
//
// Restores what was there when it goes out of scope.
#ifndef FORETELL_TESTS_HUB_HUB_ENVIRONMENT_H_
#define FORETELL_TESTS_HUB_HUB_ENVIRONMENT_H_

#include <stdlib.h>

#include <map>
#include <optional>
#include <string>

#include "input/source_scratch_folder.h"

namespace foretell {

class HubEnvironment {
 public:
  HubEnvironment() {
    for (const char* name : {"HF_HOME",
                             "HF_HUB_CACHE",
                             "HUGGINGFACE_HUB_CACHE",
                             "XDG_CACHE_HOME",
                             "HF_ENDPOINT",
                             "HF_TOKEN",
                             "HUGGING_FACE_HUB_TOKEN",
                             "HF_TOKEN_PATH",
                             "HF_HUB_OFFLINE",
                             "TRANSFORMERS_OFFLINE",
                             "HF_HUB_DISABLE_SYMLINKS",
                             "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                             "HF_HUB_DISABLE_PROGRESS_BARS",
                             "HF_HUB_ETAG_TIMEOUT",
                             "HF_HUB_DOWNLOAD_TIMEOUT",
                             "http_proxy",
                             "https_proxy",
                             "all_proxy",
                             "no_proxy",
                             "HTTP_PROXY",
                             "HTTPS_PROXY",
                             "ALL_PROXY",
                             "NO_PROXY",
                             "REQUESTS_CA_BUNDLE",
                             "CURL_CA_BUNDLE",
                             "SSL_CERT_FILE",
                             "SSL_CERT_DIR"}) {
      Unset(name);
    }
    Set("HOME", folder_.path());
    Set("HF_HOME", folder_.Path("hf"));
  }
  ~HubEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  HubEnvironment(const HubEnvironment&) = delete;
  HubEnvironment& operator=(const HubEnvironment&) = delete;

  void Set(const std::string& name, const std::string& value) {
    Remember(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void Unset(const std::string& name) {
    Remember(name);
    unsetenv(name.c_str());
  }

  const ScratchFolder& folder() const { return folder_; }
  std::string cache() const { return folder_.Path("hf/hub"); }

 private:
  void Remember(const std::string& name) {
    if (before_.contains(name)) return;
    const char* value = getenv(name.c_str());
    before_[name] =
        value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  ScratchFolder folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace foretell

#endif  // FORETELL_TESTS_HUB_HUB_ENVIRONMENT_H_
