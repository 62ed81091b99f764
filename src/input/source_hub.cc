#include "input/source_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "input/http_address.h"
#include "input/hub_id.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

// A file at the hub is one or two redirects away; the client takes twenty.
constexpr int kMostRedirects = 10;
// How often one address is asked in all.
constexpr int kMostTries = 3;
// Who, beside the endpoint, may be given the token (huggingface_hub 2.4,
// utils/_http.py: _HUB_ORIGINS).
constexpr std::array<std::string_view, 2> kHubOrigins = {
    "https://huggingface.co", "https://hf.co"};

// A range read from a server that sends the whole file: headers of weights
// stand at a file's beginning, and the longest have some 100 MB.
constexpr int64_t kMostSkippedBytes = int64_t{256} << 20;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

// What passes by itself (huggingface_hub 2.4: _DEFAULT_RETRY_ON_STATUS_CODES).
bool IsPassing(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 ||
         status == 503 || status == 504;
}

int64_t SecondsSince1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

NetworkSettings NetworkOf(const HubSettings& settings) {
  NetworkSettings out;
  out.certificates = settings.certificates;
  out.connect_seconds = settings.answer_seconds;
  out.idle_seconds = settings.silence_seconds;
  return out;
}

std::string Root(const HubQuestion& question) {
  return question.endpoint + "/" + PercentEncoded(question.id, true);
}

std::string FileAddress(const HubQuestion& question) {
  return fmt::format("{}/resolve/{}/{}", Root(question),
                     PercentEncoded(question.revision, false),
                     PercentEncoded(question.file, true));
}

InputError NoHub(const HubQuestion& question, std::string what) {
  Place place;
  place.source = question.id;
  return {std::move(place), question.endpoint + " " + std::move(what),
          "check that HF_ENDPOINT names a hub, and that a proxy lets its "
          "headers through"};
}

}  // namespace

Hub::Hub(HubSettings settings, HubNote note)
    : settings_(std::move(settings)),
      cache_(settings_.cache, settings_.links),
      note_(std::move(note)),
      client_([this] {
        NetworkSettings network = NetworkOf(settings_);
        if (note_ && settings_.notes) {
          network.on_slow = [this] { note_(asking_); };
        }
        return network;
      }()) {}

// The endpoint, or the hub whose mirror it may be.
bool Hub::IsHub(const std::string& address) const {
  const auto asked = ParseAddress(address);
  const auto is = [&asked](std::string_view origin) {
    const auto known = ParseAddress(origin);
    return asked && known && SameOrigin(*known, *asked);
  };
  return is(settings_.endpoint) || std::ranges::any_of(kHubOrigins, is);
}

bool Hub::MayHaveToken(const std::string& address) const {
  const auto asked = ParseAddress(address);
  return asked && (asked->is_secure || IsLoopback(*asked)) && IsHub(address);
}

HubQuestion Hub::QuestionOf(const std::string& id, const std::string& revision,
                            const std::string& file) const {
  HubQuestion out;
  out.id = id;
  out.revision = revision;
  out.file = file;
  out.endpoint = settings_.endpoint;
  out.near = near_;
  if (settings_.token.empty()) return out;
  out.token_from = settings_.token_from;
  if (!MayHaveToken(settings_.endpoint)) {
    out.token_held_back = "HF_ENDPOINT is not https";
  }
  return out;
}

// What the hub's own headers say; those of a host that it points to do not
// count, whose entity tags are of another kind.
void Hub::Learn(const HttpAnswer& answer, Reply& reply) const {
  const std::string commit = answer.headers.Text("X-Repo-Commit");
  if (IsCommitHash(commit)) reply.commit = commit;
  const std::string linked = answer.headers.Text("X-Linked-Etag");
  const std::string etag =
      linked.empty() ? answer.headers.Text("ETag") : linked;
  if (!etag.empty()) reply.etag = etag;
  const bool moved = IsRedirect(answer.status);
  const auto size = ParseLength(answer.headers.Text(
      moved || !linked.empty() ? "X-Linked-Size" : "Content-Length"));
  if (size && answer.status < 400) reply.size = size;
}

// Whether to ask again; waits before it says so.
bool Hub::WaitFor(const HttpAnswer& answer, int tries, Reply& reply) {
  const bool broken = answer.fault == HttpFault::kCutShort;
  const bool passing =
      answer.fault == HttpFault::kNone && IsPassing(answer.status);
  reply.asked_to_wait.reset();
  if (!broken && !passing) return false;
  auto wait =
      ParseRetryAfter(answer.headers.Text("Retry-After"), SecondsSince1970());
  if (answer.status == 429) {
    const auto window = ParseRateLimit(answer.headers.Text("RateLimit"));
    if (window) wait = std::max(window, wait);
  }
  if (passing) reply.asked_to_wait = wait;
  if (tries >= kMostTries || (broken && tries > 1)) return false;
  if (!wait) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(settings_.pause_seconds * tries));
    return true;
  }
  if (waited_ + *wait > settings_.most_wait_seconds) return false;
  waited_ += *wait;
  if (note_ && settings_.notes && *wait > 0) {
    note_(fmt::format("{} asks to wait {} s", settings_.endpoint, *wait));
  }
  std::this_thread::sleep_for(std::chrono::seconds(*wait));
  return true;
}

HttpAnswer Hub::AskPatiently(const HttpRequest& request, Reply& reply) {
  for (int tries = 1;; ++tries) {
    HttpAnswer answer = client_.Ask(request);
    if (!WaitFor(answer, tries, reply)) return answer;
  }
}

std::optional<InputError> Hub::NextAddress(const HubQuestion& question,
                                           const HttpAnswer& answer,
                                           std::string& address) const {
  const auto from = ParseAddress(address);
  const auto to = ParseAddress(answer.redirect);
  if (!to) return NoHub(question, "redirects to what is no address");
  if (from && from->is_secure && !to->is_secure) {
    return NoHub(question, fmt::format("redirects from https to http, to {}",
                                       ShownAddress(answer.redirect)));
  }
  address = answer.redirect;
  return std::nullopt;
}

Hub::Reply Hub::Ask(const HubQuestion& question, HttpRequest request) {
  Reply reply;
  asking_ =
      fmt::format("asking {} for {}", settings_.endpoint, NameOf(question));
  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    const bool is_hub = IsHub(request.address);
    request.bearer =
        MayHaveToken(request.address) ? settings_.token : std::string();
    // A blob's name means nothing to another host.
    if (!is_hub) request.headers.clear();
    reply.asked = request.address;
    reply.answer = AskPatiently(request, reply);
    if (reply.answer.fault != HttpFault::kNone) return reply;
    if (is_hub) Learn(reply.answer, reply);
    if (!IsRedirect(reply.answer.status)) return reply;
    reply.error = NextAddress(question, reply.answer, request.address);
    if (reply.error) return reply;
    if (request.head && reply.size && !IsHub(request.address)) {
      // The hub has said all; a signed address is good for reading alone.
      reply.asked = request.address;
      return reply;
    }
  }
  reply.error = NoHub(
      question, fmt::format("redirects more than {} times", kMostRedirects));
  return reply;
}

std::optional<InputError> Hub::ErrorOf(const HubQuestion& question,
                                       const Reply& reply) const {
  if (reply.error) return reply.error;
  const HttpAnswer& answer = reply.answer;
  if (answer.fault != HttpFault::kNone) {
    return FailureOf(question, answer.fault, answer.detail,
                     ShownAddress(reply.asked));
  }
  if (answer.status >= 400 || answer.status < 200) {
    return RefusalOf(question, answer.status, answer.headers,
                     reply.asked_to_wait);
  }
  if (reply.commit.empty()) {
    return NoHub(question,
                 "does not say which commit its answer is of "
                 "(X-Repo-Commit)");
  }
  if (IsCommitHash(question.revision) && reply.commit != question.revision) {
    return NoHub(question,
                 fmt::format("answers with commit {} where {} was asked for",
                             reply.commit, question.revision));
  }
  return std::nullopt;
}

void Hub::KeepFile(const HubPlace& place, const std::string& revision,
                   const Reply& reply, HubFile& file) const {
  const auto blob = BlobNameOfEtag(reply.etag);
  if (!blob) {
    file.not_kept = "the hub names no entity tag that a file could be named by";
    return;
  }
  file.not_kept = cache_.Keep(place, *blob, file.bytes);
  if (file.not_kept.empty()) {
    file.not_kept = cache_.KeepRevision(place.id, revision, place.commit);
  }
  file.path = cache_.PathOf(place);
}

// The hub says that the file is the blob that is here.
HubFile Hub::FromBlob(const HubQuestion& question, const HubPlace& place,
                      const std::string& blob, int64_t most_bytes) {
  HubFile out;
  out.commit = place.commit;
  out.not_kept = cache_.KeepKnown(place, blob);
  if (out.not_kept.empty()) {
    out.not_kept =
        cache_.KeepRevision(place.id, question.revision, place.commit);
  }
  out.path = cache_.PathOf(place);
  FileResult file = ReadFileOrError(
      out.path.empty() ? cache_.BlobPath(place.id, blob) : out.path,
      most_bytes);
  out.bytes = std::move(file.bytes);
  out.error = std::move(file.error);
  return out;
}

HubFile Hub::Fetch(const std::string& id, const std::string& revision,
                   const std::string& file, int64_t most_bytes) {
  HubFile out;
  const HubQuestion question = QuestionOf(id, revision, file);
  HttpRequest request;
  request.address = FileAddress(question);
  request.most_bytes = most_bytes;
  const std::vector<std::string> known = cache_.BlobsOf(id, file);
  if (!known.empty()) {
    std::string line = "If-None-Match: ";
    for (const std::string& blob : known) {
      line += fmt::format("{}\"{}\"", blob == known.front() ? "" : ", ", blob);
    }
    request.headers.push_back(std::move(line));
  }
  Reply reply = Ask(question, request);
  if (reply.answer.status == 304 && reply.commit.empty()) {
    // Some servers say no more than that: the rest is in a plain answer.
    request.headers.clear();
    reply = Ask(question, request);
  }
  out.commit = reply.commit;
  const HttpAnswer& answer = reply.answer;
  out.is_missing = IsMissingFile(answer.status, answer.headers);
  out.is_unreachable = IsUnreachable(answer.fault);
  const HubPlace place = {id, reply.commit, file};
  if (answer.fault == HttpFault::kNone && answer.status == 304) {
    const auto blob = BlobNameOfEtag(reply.etag);
    if (blob && std::ranges::find(known, *blob) != known.end()) {
      return FromBlob(question, place, *blob, most_bytes);
    }
    out.error = NoHub(question, "says that a file is unchanged and not which");
    return out;
  }
  out.error = ErrorOf(question, reply);
  if (out.is_missing && !reply.commit.empty()) {
    cache_.KeepMissing(place);
    cache_.KeepRevision(id, revision, reply.commit);
  }
  if (out.error) return out;
  const auto came = static_cast<int64_t>(reply.answer.body.size());
  if (reply.size && *reply.size != came) {
    out.error = FailureOf(question, HttpFault::kCutShort,
                          fmt::format("{} of {} bytes came", came, *reply.size),
                          ShownAddress(reply.asked));
    return out;
  }
  out.bytes = std::move(reply.answer.body);
  KeepFile(place, revision, reply, out);
  return out;
}

HubListing Hub::List(const std::string& id, const std::string& revision) {
  HubListing out;
  const HubQuestion question = QuestionOf(id, revision, "");
  HttpRequest request;
  request.address =
      fmt::format("{}/api/models/{}/revision/{}?blobs=true", settings_.endpoint,
                  PercentEncoded(id, true), PercentEncoded(revision, false));
  request.most_bytes = kHubListingBytes;
  Reply reply = Ask(question, request);
  // This answer names its commit inside.
  if (reply.commit.empty()) reply.commit = revision;
  out.error = ErrorOf(question, reply);
  if (out.error) return out;
  return ParseHubListing(reply.answer.body, ShownAddress(request.address));
}

HubObject Hub::Locate(const std::string& id, const std::string& revision,
                      const std::string& file) {
  HubObject out;
  const HubQuestion question = QuestionOf(id, revision, file);
  HttpRequest request;
  request.address = FileAddress(question);
  request.head = true;
  out.shown = request.address;
  const Reply reply = Ask(question, request);
  out.commit = reply.commit;
  out.address = reply.asked;
  out.is_missing = IsMissingFile(reply.answer.status, reply.answer.headers);
  out.error = ErrorOf(question, reply);
  if (out.error) return out;
  if (!reply.size) {
    out.error =
        NoHub(question, fmt::format("does not say how long {} is", file));
    return out;
  }
  out.size = *reply.size;
  return out;
}

HubBytes Hub::ReadRange(const HubObject& object, const HubPlace& place,
                        int64_t first, int64_t count) {
  HubBytes out;
  if (count == 0) return out;
  const HubQuestion question = QuestionOf(place.id, place.commit, place.file);
  HttpRequest request;
  request.address = object.address;
  request.range = HttpRange{first, count};
  // A server that sends the whole file is read up to the part.
  request.most_bytes = kMostSkippedBytes;
  Reply reply = Ask(question, request);
  const int status = reply.answer.status;
  const bool expired = status == 401 || status == 403 || status == 410;
  if (reply.answer.fault == HttpFault::kNone && expired &&
      object.address != FileAddress(question)) {
    // A signed address is good for an hour or so; the hub signs another.
    request.address = FileAddress(question);
    reply = Ask(question, request);
  }
  if (reply.commit.empty()) reply.commit = place.commit;
  out.error = ErrorOf(question, reply);
  if (!out.error) out.bytes = std::move(reply.answer.body);
  return out;
}

}  // namespace foretell
