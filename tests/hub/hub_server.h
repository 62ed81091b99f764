// A model hub on this machine's loopback, for tests: what the real one answers
// and whatever a server may do wrong.
//
// It serves files by repository, revision and path with the headers that the
// hub sends (X-Repo-Commit, ETag; X-Linked-* and a redirect for large files),
// its list of a repository, ranges, entity tags and its refusals. A test may
// answer a request itself: `Answer` is asked first. Every request is recorded.
//
// Plain HTTP, or TLS with a certificate of its own making. One connection per
// request, each served by its own thread. Stops when it goes out of scope,
// also while a request hangs.
#ifndef FORETELL_TESTS_HUB_HUB_SERVER_H_
#define FORETELL_TESTS_HUB_HUB_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace foretell {

struct HubRequest {
  std::string method;  // "GET", "HEAD"
  std::string path;    // "/Qwen/Qwen3-8B/resolve/main/config.json?x=y"
  std::map<std::string, std::string> headers;  // names in small letters

  std::string Header(const std::string& name) const;  // empty where absent
};

struct HubReply {
  int status = 200;
  std::vector<std::string> headers = {};  // "ETag: \"abc\""
  std::string body = {};
  // Content-Length says this where the body has another length.
  std::optional<size_t> claimed_length = {};
  bool hang = false;  // after the body: neither ends nor goes on
  // Bytes sent instead of an answer in HTTP.
  std::string raw = {};
};

// What a repository holds at one commit.
struct HubFileRow {
  std::string bytes;
  std::string etag;
  bool is_large = false;  // lies behind a redirect to another host
};

class HubServer {
 public:
  enum class Transport { kPlain, kTls };

  explicit HubServer(Transport transport = Transport::kPlain);
  ~HubServer();
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;

  // "http://127.0.0.1:PORT", or https.
  const std::string& address() const;
  // The same server under another name: "http://localhost:PORT".
  const std::string& other_address() const;
  // A PEM file of the authority that signed the certificate.
  const std::string& authority() const;

  void AddFile(const std::string& id, const std::string& commit,
               const std::string& file, HubFileRow row);
  // A branch, a tag, or the beginning of a commit's hash.
  void SetRevision(const std::string& id, const std::string& revision,
                   const std::string& commit);
  // Needs this token; without an account that has it, it is gated.
  void SetGate(const std::string& id, const std::string& token);
  // Asked before anything else; nothing where the hub itself should answer.
  void Answer(std::function<std::optional<HubReply>(const HubRequest&)> answer);

  std::vector<HubRequest> requests() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foretell

#endif  // FORETELL_TESTS_HUB_HUB_SERVER_H_
