#include "tests/hub/hub_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "base/check.h"
#include "input/hub_id.h"
#include "input/source_scratch_folder.h"
#include "tests/hub/test_certificate.h"

namespace foretell {
namespace {

// How long a thread may take to see that the server stops.
constexpr int kPollMilliseconds = 20;

// A connection, plain or under TLS.
class Connection {
 public:
  Connection(int socket, SSL_CTX* tls) : socket_(socket) {
    if (tls == nullptr) return;
    tls_ = SSL_new(tls);
    SSL_set_fd(tls_, socket_);
    ready_ = SSL_accept(tls_) == 1;
  }
  ~Connection() {
    if (tls_ != nullptr) {
      if (ready_) SSL_shutdown(tls_);
      SSL_free(tls_);
    }
    shutdown(socket_, SHUT_RDWR);
    close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool ready() const { return ready_; }

  // All up to the empty line; empty where the other side has gone.
  std::string ReadHead() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      char bytes[4096];
      const auto got =
          tls_ != nullptr
              ? SSL_read(tls_, bytes, sizeof bytes)
              : static_cast<int>(recv(socket_, bytes, sizeof bytes, 0));
      if (got <= 0) return "";
      head.append(bytes, static_cast<size_t>(got));
    }
    return head;
  }

  void Write(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const auto left = static_cast<int>(bytes.size() - sent);
      const auto wrote =
          tls_ != nullptr
              ? SSL_write(tls_, bytes.data() + sent, left)
              : static_cast<int>(send(socket_, bytes.data() + sent,
                                      static_cast<size_t>(left), MSG_NOSIGNAL));
      if (wrote <= 0) return;
      sent += static_cast<size_t>(wrote);
    }
  }

 private:
  int socket_;
  SSL* tls_ = nullptr;
  bool ready_ = true;
};

HubRequest ParseRequest(const std::string& head) {
  HubRequest out;
  std::istringstream lines(head);
  std::string line;
  std::getline(lines, line);
  std::istringstream first(line);
  first >> out.method >> out.path;
  while (std::getline(lines, line)) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    std::string value = line.substr(colon + 2);
    if (value.ends_with('\r')) value.pop_back();
    out.headers[name] = value;
  }
  return out;
}

std::string Decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What the bytes of a file are answered with, whole or in part.
HubReply Bytes(const HubRequest& request, const HubFileRow& row) {
  HubReply reply;
  reply.headers.push_back(fmt::format("ETag: \"{}\"", row.etag));
  reply.headers.emplace_back("Accept-Ranges: bytes");
  const std::string range = request.Header("range");
  size_t first = 0;
  size_t last = 0;
  if (std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) != 2) {
    reply.body = row.bytes;
    return reply;
  }
  if (first >= row.bytes.size()) {
    reply.status = 416;
    return reply;
  }
  last = std::min(last, row.bytes.size() - 1);
  reply.status = 206;
  reply.headers.push_back(fmt::format("Content-Range: bytes {}-{}/{}", first,
                                      last, row.bytes.size()));
  reply.body = row.bytes.substr(first, last - first + 1);
  return reply;
}

HubReply Refusal(int status, const std::string& code,
                 const std::string& message) {
  HubReply reply;
  reply.status = status;
  if (!code.empty()) reply.headers.push_back("X-Error-Code: " + code);
  reply.headers.push_back("X-Error-Message: " + message);
  reply.body = message;
  return reply;
}

std::string InHttp(const HubRequest& request, const HubReply& reply) {
  if (!reply.raw.empty()) return reply.raw;
  std::string out = fmt::format("HTTP/1.1 {} -\r\n", reply.status);
  for (const std::string& line : reply.headers) out += line + "\r\n";
  if (reply.status != 304) {
    out += fmt::format("Content-Length: {}\r\n",
                       reply.claimed_length.value_or(reply.body.size()));
  }
  out += "Connection: close\r\n\r\n";
  if (request.method != "HEAD" && reply.status != 304) out += reply.body;
  return out;
}

}  // namespace

std::string HubRequest::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HubServer::State {
  struct Repository {
    std::map<std::string, std::map<std::string, HubFileRow>> commits;
    std::map<std::string, std::string> revisions;
    std::string gate;
  };

  ScratchFolder folder;
  std::string address;
  std::string other_address;
  std::string authority;
  int listener = -1;
  SSL_CTX* tls = nullptr;
  std::atomic<bool> stopping = false;
  std::thread accepting;
  mutable std::mutex mutex;  // guards all below
  std::vector<std::thread> serving;
  std::map<std::string, Repository> repositories;
  std::function<std::optional<HubReply>(const HubRequest&)> answer;
  std::vector<HubRequest> requests;

  void Listen(Transport transport) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where = {};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    auto* const name = reinterpret_cast<sockaddr*>(&where);
    FORETELL_CHECK(listener >= 0 && bind(listener, name, size) == 0 &&
                       listen(listener, 64) == 0 &&
                       getsockname(listener, name, &size) == 0,
                   "no port to listen on");
    const char* scheme = transport == Transport::kTls ? "https" : "http";
    const int port = ntohs(where.sin_port);
    address = fmt::format("{}://127.0.0.1:{}", scheme, port);
    other_address = fmt::format("{}://localhost:{}", scheme, port);
  }

  void PrepareTls() {
    const TestCertificate made = MakeTestCertificate();
    authority = folder.Write("authority.pem", made.authority);
    const std::string certificate =
        folder.Write("server.pem", made.certificate);
    const std::string key = folder.Write("server.key", made.key);
    tls = SSL_CTX_new(TLS_server_method());
    FORETELL_CHECK(SSL_CTX_use_certificate_file(tls, certificate.c_str(),
                                                SSL_FILETYPE_PEM) == 1 &&
                       SSL_CTX_use_PrivateKey_file(tls, key.c_str(),
                                                   SSL_FILETYPE_PEM) == 1,
                   "no certificate");
  }

  void Accept() {
    while (!stopping) {
      pollfd ready = {listener, POLLIN, 0};
      if (poll(&ready, 1, kPollMilliseconds) <= 0) continue;
      const int socket = accept(listener, nullptr, nullptr);
      if (socket < 0) continue;
      // Who connects and says nothing does not hold the test up.
      const timeval patience = {2, 0};
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      const std::lock_guard lock(mutex);
      serving.emplace_back([this, socket] { Serve(socket); });
    }
  }

  void Serve(int socket) {
    Connection connection(socket, tls);
    if (!connection.ready()) return;
    const std::string head = connection.ReadHead();
    if (head.empty()) return;
    const HubRequest request = ParseRequest(head);
    const HubReply reply = ReplyTo(request);
    connection.Write(InHttp(request, reply));
    while (reply.hang && !stopping) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
    }
  }

  HubReply ReplyTo(const HubRequest& request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    if (answer) {
      if (auto reply = answer(request)) return std::move(*reply);
    }
    const std::string path = request.path.substr(0, request.path.find('?'));
    if (path.starts_with("/large/")) return Large(request, path);
    if (path.starts_with("/api/models/")) return List(request, path);
    return File(request, path);
  }

  // "/large/ETAG", where the bytes of large files lie.
  HubReply Large(const HubRequest& request, const std::string& path) {
    for (const auto& [id, repository] : repositories) {
      for (const auto& [commit, files] : repository.commits) {
        for (const auto& [name, row] : files) {
          if (path != "/large/" + row.etag) continue;
          // As a storage's: of another kind than the hub's.
          HubFileRow stored = row;
          stored.etag = "storage-" + row.etag;
          return Bytes(request, stored);
        }
      }
    }
    return Refusal(404, "", "no such object");
  }

  // The repository that a request may see, or why not.
  Repository* Find(const std::string& id, const HubRequest& request,
                   HubReply& refusal) {
    const auto found = repositories.find(id);
    const std::string token = request.Header("authorization");
    if (found == repositories.end()) {
      // The hub does not tell strangers what exists.
      refusal =
          token.empty()
              ? Refusal(401, "RepoNotFound", "Invalid username or password.")
              : Refusal(404, "RepoNotFound", "Repository not found");
      return nullptr;
    }
    Repository& repository = found->second;
    if (!repository.gate.empty() && token != "Bearer " + repository.gate) {
      refusal = Refusal(token.empty() ? 401 : 403, "GatedRepo",
                        "Access to model " + id + " is restricted.");
      return nullptr;
    }
    return &repository;
  }

  static std::string CommitOf(const Repository& repository,
                              const std::string& revision) {
    if (repository.commits.contains(revision)) return revision;
    const auto found = repository.revisions.find(revision);
    return found == repository.revisions.end() ? "" : found->second;
  }

  // "/OWNER/NAME/resolve/REVISION/PATH"
  HubReply File(const HubRequest& request, const std::string& path) {
    const size_t resolve = path.find("/resolve/");
    if (resolve == std::string::npos) return Refusal(404, "", "no such page");
    HubReply refusal;
    const Repository* repository =
        Find(path.substr(1, resolve - 1), request, refusal);
    if (repository == nullptr) return refusal;
    const std::string rest = path.substr(resolve + 9);
    const size_t slash = rest.find('/');
    const std::string commit =
        CommitOf(*repository, Decoded(rest.substr(0, slash)));
    if (commit.empty()) {
      return Refusal(404, "RevisionNotFound", "Invalid rev id");
    }
    const auto& files = repository->commits.at(commit);
    const auto file = files.find(Decoded(rest.substr(slash + 1)));
    HubReply reply;
    if (file == files.end()) {
      reply = Refusal(404, "EntryNotFound", "Entry not found");
    } else {
      reply = Contents(request, file->second);
    }
    reply.headers.push_back("X-Repo-Commit: " + commit);
    return reply;
  }

  HubReply Contents(const HubRequest& request, const HubFileRow& row) const {
    HubReply reply;
    if (row.is_large) {
      reply.status = 302;
      reply.headers = {fmt::format("Location: {}/large/{}?signature=secret",
                                   other_address, row.etag),
                       fmt::format("X-Linked-Etag: \"{}\"", row.etag),
                       fmt::format("X-Linked-Size: {}", row.bytes.size())};
      return reply;
    }
    if (request.Header("if-none-match").find('"' + row.etag + '"') !=
        std::string::npos) {
      reply.status = 304;
      reply.headers = {fmt::format("ETag: \"{}\"", row.etag)};
      return reply;
    }
    return Bytes(request, row);
  }

  // "/api/models/OWNER/NAME/revision/REVISION", or without the revision.
  HubReply List(const HubRequest& request, const std::string& path) {
    const std::string rest = path.substr(12);
    const size_t at = std::min(rest.find("/revision/"), rest.size());
    HubReply refusal;
    const Repository* repository = Find(rest.substr(0, at), request, refusal);
    if (repository == nullptr) return refusal;
    const std::string revision =
        at < rest.size() ? Decoded(rest.substr(at + 10)) : "main";
    const std::string commit = CommitOf(*repository, revision);
    if (commit.empty()) {
      return Refusal(404, "RevisionNotFound", "Invalid rev id");
    }
    std::string rows;
    for (const auto& [name, row] : repository->commits.at(commit)) {
      rows += fmt::format(R"({}{{"rfilename":"{}","size":{}}})",
                          rows.empty() ? "" : ",", name, row.bytes.size());
    }
    HubReply reply;
    reply.headers = {"Content-Type: application/json"};
    reply.body = fmt::format(R"({{"id":"{}","sha":"{}","siblings":[{}]}})",
                             rest.substr(0, at), commit, rows);
    return reply;
  }
};

HubServer::HubServer(Transport transport) : state_(std::make_unique<State>()) {
  state_->Listen(transport);
  if (transport == Transport::kTls) state_->PrepareTls();
  state_->accepting = std::thread([this] { state_->Accept(); });
}

HubServer::~HubServer() {
  state_->stopping = true;
  state_->accepting.join();
  std::vector<std::thread> serving;
  {
    const std::lock_guard lock(state_->mutex);
    serving.swap(state_->serving);
  }
  for (std::thread& thread : serving) thread.join();
  close(state_->listener);
  if (state_->tls != nullptr) SSL_CTX_free(state_->tls);
}

const std::string& HubServer::address() const { return state_->address; }

const std::string& HubServer::other_address() const {
  return state_->other_address;
}

const std::string& HubServer::authority() const { return state_->authority; }

void HubServer::AddFile(const std::string& id, const std::string& commit,
                        const std::string& file, HubFileRow row) {
  const std::lock_guard lock(state_->mutex);
  state_->repositories[id].commits[commit][file] = std::move(row);
}

void HubServer::SetRevision(const std::string& id, const std::string& revision,
                            const std::string& commit) {
  const std::lock_guard lock(state_->mutex);
  state_->repositories[id].revisions[revision] = commit;
}

void HubServer::SetGate(const std::string& id, const std::string& token) {
  const std::lock_guard lock(state_->mutex);
  state_->repositories[id].gate = token;
}

void HubServer::Answer(
    std::function<std::optional<HubReply>(const HubRequest&)> answer) {
  const std::lock_guard lock(state_->mutex);
  state_->answer = std::move(answer);
}

std::vector<HubRequest> HubServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

}  // namespace foretell
