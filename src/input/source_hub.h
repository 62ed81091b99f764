// A hub's repositories, asked over the network.
//
// In: settings, and ids, revisions and paths that passed input/hub_id. Out:
// files' bytes with the commit that they are of, ranges of bytes, lists of
// files; or an error with its cure. Nothing is thrown, so that a caller may
// fall back on what it has.
//
// As the official client asks (huggingface_hub 2.4): GET
// ENDPOINT/ID/resolve/REVISION/FILE; X-Repo-Commit is the commit, X-Linked-Etag
// or ETag names the blob, X-Linked-Size is the size where the bytes lie
// elsewhere. A blob that the cache has is offered with If-None-Match, and 304
// takes it from there. What arrives is kept in the cache in the client's
// layout.
//
// The token goes to the endpoint, huggingface.co and hf.co alone, over TLS or
// to this machine; a redirect to another host is followed without it, one from
// https to http is not followed. 429, 408 and 5xx are waited for, and a broken
// connection is tried once more, within `most_wait_seconds`.
#ifndef FORETELL_INPUT_SOURCE_HUB_H_
#define FORETELL_INPUT_SOURCE_HUB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"
#include "input/hub_listing.h"
#include "input/hub_refusal.h"
#include "input/source_hub_cache.h"
#include "input/source_hub_settings.h"
#include "input/source_network.h"

namespace foretell {

// Told while something takes long: "asking https://huggingface.co for …".
using HubNote = std::function<void(const std::string& text)>;

struct HubFile {
  std::string bytes;
  std::string commit;
  std::string path;      // in the cache; empty where it could not be kept
  std::string not_kept;  // why not
  std::optional<InputError> error;
  bool is_missing = false;      // the repository is there and lacks the file
  bool is_unreachable = false;  // nobody answered: `error` says why
};

// Where a file's bytes are, for reading parts of it.
struct HubObject {
  std::string address;  // may be signed: never shown
  std::string shown;    // the file's address at the hub
  std::string commit;
  int64_t size = 0;
  std::optional<InputError> error;
  bool is_missing = false;
};

struct HubBytes {
  std::string bytes;
  std::optional<InputError> error;
};

class Hub {
 public:
  Hub(HubSettings settings, HubNote note);

  const HubCache& cache() const { return cache_; }
  // Names to offer where a repository is not known.
  void set_near(std::vector<std::string> near) { near_ = std::move(near); }

  // The whole file, of at most `most_bytes`.
  HubFile Fetch(const std::string& id, const std::string& revision,
                const std::string& file, int64_t most_bytes);
  HubListing List(const std::string& id, const std::string& revision);
  HubObject Locate(const std::string& id, const std::string& revision,
                   const std::string& file);
  // `first` and `count` lie inside the object's size.
  HubBytes ReadRange(const HubObject& object, const HubPlace& place,
                     int64_t first, int64_t count);

 private:
  // An answer, and what the hub itself said on the way to it.
  struct Reply {
    HttpAnswer answer;
    std::string asked;  // the last address
    std::string commit;
    std::string etag;
    std::optional<int64_t> size;
    std::optional<int64_t> asked_to_wait;
    std::optional<InputError> error;  // of a redirect, or of what a hub lacks
  };

  bool IsHub(const std::string& address) const;
  bool MayHaveToken(const std::string& address) const;
  HubQuestion QuestionOf(const std::string& id, const std::string& revision,
                         const std::string& file) const;
  Reply Ask(const HubQuestion& question, HttpRequest request);
  HttpAnswer AskPatiently(const HttpRequest& request, Reply& reply);
  bool WaitFor(const HttpAnswer& answer, int tries, Reply& reply);
  void Learn(const HttpAnswer& answer, Reply& reply) const;
  std::optional<InputError> NextAddress(const HubQuestion& question,
                                        const HttpAnswer& answer,
                                        std::string& address) const;
  std::optional<InputError> ErrorOf(const HubQuestion& question,
                                    const Reply& reply) const;
  void KeepFile(const HubPlace& place, const std::string& revision,
                const Reply& reply, HubFile& file) const;
  HubFile FromBlob(const HubQuestion& question, const HubPlace& place,
                   const std::string& blob, int64_t most_bytes);

  HubSettings settings_;
  HubCache cache_;
  HubNote note_;
  std::vector<std::string> near_;
  std::string asking_;  // what a note about a slow answer names
  int64_t waited_ = 0;  // in seconds, for answers that said "later"
  HttpClient client_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_HUB_H_
