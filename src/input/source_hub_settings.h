// Where the hub is, where its cache lies and who asks: the environment that
// the official client reads, under the same names.
//
// Out: the settings, defaults filled in, or an error for a value that cannot
// be meant. Nothing is kept between calls. The rules are those of
// huggingface_hub 2.4, constants.py and utils/_auth.py:
//
//   cache      HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub,
//              XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub
//   endpoint   HF_ENDPOINT, https://huggingface.co
//   token      HF_TOKEN, HUGGING_FACE_HUB_TOKEN, the file HF_TOKEN_PATH or
//              HF_HOME/token; none with HF_HUB_DISABLE_IMPLICIT_TOKEN
//   offline    HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE: 1, on, yes, true
//   waiting    HF_HUB_ETAG_TIMEOUT, HF_HUB_DOWNLOAD_TIMEOUT, in seconds
//   links      none with HF_HUB_DISABLE_SYMLINKS: files are copied
//   notes      none with HF_HUB_DISABLE_PROGRESS_BARS
//
// and of requests and httpx for certificates: REQUESTS_CA_BUNDLE,
// CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR.
//
// Does not model: OIDC exchange (HF_OIDC_RESOURCE), Colab's secrets, the
// refresh of a browser's login; the token those leave in the file is used.
#ifndef FORETELL_INPUT_SOURCE_HUB_SETTINGS_H_
#define FORETELL_INPUT_SOURCE_HUB_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/input_error.h"

namespace foretell {

struct HubSettings {
  std::string cache;         // the folder of models--owner--name
  std::string endpoint;      // without a slash at its end
  std::string token;         // empty where there is none; never printed
  std::string token_from;    // "HF_TOKEN", or the file's path
  std::string offline;       // the variable that says so; empty where none does
  std::string certificates;  // a file or folder; the system's where empty
  int64_t answer_seconds = 10;   // until a connection stands
  int64_t silence_seconds = 10;  // without a byte
  bool links = true;
  bool notes = true;
  // How long an answer that says "later" (429, 503) is waited for, in all,
  // and the pause where it does not say how long.
  int64_t most_wait_seconds = 30;
  double pause_seconds = 1.0;
};

struct HubSettingsResult {
  HubSettings settings;
  std::optional<InputError> error;
};

HubSettingsResult HubSettingsOfEnvironment();

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_HUB_SETTINGS_H_
