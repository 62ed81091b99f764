#include "input/hub_refusal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "input/hub_id.h"

namespace foretell {
namespace {

InputError At(const HubQuestion& question, std::string what, std::string cure) {
  Place place;
  place.source = question.id.substr(0, 120);
  return {std::move(place), std::move(what), std::move(cure)};
}

std::string Page(const HubQuestion& question) {
  return question.endpoint + "/" + question.id;
}

std::string TokenPage(const HubQuestion& question) {
  return question.endpoint + "/settings/tokens";
}

// "set HF_TOKEN to …", or why the one that there is stayed here.
std::string HowToLogIn(const HubQuestion& question) {
  if (!question.token_held_back.empty()) {
    return fmt::format("the token of {} was not sent, since {}",
                       question.token_from, question.token_held_back);
  }
  return fmt::format("set HF_TOKEN to a token of {} (or run `hf auth login`)",
                     TokenPage(question));
}

bool SentToken(const HubQuestion& question) {
  return !question.token_from.empty() && question.token_held_back.empty();
}

InputError Gated(const HubQuestion& question) {
  if (SentToken(question)) {
    return At(question,
              fmt::format("is gated, and the account of the token in {} has "
                          "not been given access",
                          question.token_from),
              fmt::format("accept the terms at {} with that account; a "
                          "fine-grained token also needs the permission to "
                          "read gated repositories ({})",
                          Page(question), TokenPage(question)));
  }
  return At(question,
            "is gated: its files are given to accounts that have accepted its "
            "terms, and no token was sent",
            fmt::format("accept the terms at {}, then {}", Page(question),
                        HowToLogIn(question)));
}

std::string Nearest(const HubQuestion& question) {
  if (question.near.empty()) return "";
  return fmt::format("; the nearest that are known: {}",
                     fmt::join(question.near, ", "));
}

InputError NoRepository(const HubQuestion& question) {
  const std::string hidden =
      SentToken(question)
          ? fmt::format(
                "where it is private, let the account of the token in "
                "{} read it",
                question.token_from)
          : "where it is private, " + HowToLogIn(question);
  return At(
      question,
      fmt::format("is no repository of {} that {} may see", question.endpoint,
                  SentToken(question) ? "this account" : "everyone"),
      "check the spelling; " + hidden + Nearest(question));
}

InputError BadToken(const HubQuestion& question) {
  return At(question,
            fmt::format("{} does not accept the token in {}", question.endpoint,
                        question.token_from),
            fmt::format("make a new one at {}, or unset it to ask as anyone "
                        "may",
                        TokenPage(question)));
}

InputError Forbidden(const HubQuestion& question, const HttpHeaders& headers) {
  if (headers.Text("X-Error-Message") ==
      "Access to this resource is disabled.") {
    return At(question,
              fmt::format("has been disabled by {}", question.endpoint),
              "take another repository of the model" + Nearest(question));
  }
  return At(question,
            fmt::format("{} forbids reading it (403)", question.endpoint),
            SentToken(question)
                ? fmt::format("give the token in {} the permission to read "
                              "this repository ({})",
                              question.token_from, TokenPage(question))
                : HowToLogIn(question));
}

InputError TooMany(const HubQuestion& question,
                   std::optional<int64_t> asked_to_wait) {
  std::string cure = "try again later";
  if (asked_to_wait) {
    cure = fmt::format("try again in {} s", *asked_to_wait);
  }
  if (!SentToken(question)) {
    cure += "; accounts may ask more often: " + HowToLogIn(question);
  }
  return At(question,
            fmt::format("{} answers that too many requests come from here "
                        "(429)",
                        question.endpoint),
            std::move(cure));
}

InputError NoRevision(const HubQuestion& question) {
  return At(question, fmt::format("has no revision {}", question.revision),
            fmt::format("leave --revision out for the branch main, or name a "
                        "branch, a tag or a commit of {}/commits/{}",
                        Page(question), kMainRevision));
}

InputError NoFile(const HubQuestion& question) {
  return At(question,
            fmt::format("has no file {} at revision {}", question.file,
                        question.revision),
            fmt::format("see what it holds: {}/tree/{}", Page(question),
                        question.revision));
}

// What libcurl reports, where it says more than the fault's name.
std::string Words(const std::string& detail) {
  return detail.empty() ? "" : fmt::format(" ({})", detail);
}

constexpr char kCertificatesCure[] =
    "where a proxy or a mirror of your own answers, let SSL_CERT_FILE name "
    "the certificates to trust (PEM); certificates are always checked";

}  // namespace

std::string NameOf(const HubQuestion& question) {
  if (question.revision.empty() || question.revision == kMainRevision) {
    return question.id;
  }
  return fmt::format("{} (revision {})", question.id, question.revision);
}

bool IsMissingFile(int status, const HttpHeaders& headers) {
  return status == 404 && headers.Text("X-Error-Code") == "EntryNotFound";
}

InputError RefusalOf(const HubQuestion& question, int status,
                     const HttpHeaders& headers,
                     std::optional<int64_t> asked_to_wait) {
  const std::string code = headers.Text("X-Error-Code");
  if (code == "GatedRepo") return Gated(question);
  if (code == "RevisionNotFound") return NoRevision(question);
  if (code == "EntryNotFound") return NoFile(question);
  if (code == "RepoNotFound") return NoRepository(question);
  if (status == 401 && SentToken(question) &&
      headers.Text("X-Error-Message") ==
          "Invalid credentials in Authorization header") {
    return BadToken(question);
  }
  // Who is not logged in gets 401 for what does not exist, too.
  if (status == 401 || status == 404) return NoRepository(question);
  if (status == 403) return Forbidden(question, headers);
  if (status == 429) return TooMany(question, asked_to_wait);
  if (status == 407) {
    return At(question, "the proxy asks who you are (407)",
              "write the proxy's user into https_proxy: "
              "http://USER:PASSWORD@HOST:PORT");
  }
  if (status >= 500) {
    return At(question,
              fmt::format("{} answers with an error of its own ({})",
                          question.endpoint, status),
              "try again later; https://status.huggingface.co says how the "
              "hub is");
  }
  return At(question, fmt::format("{} answers {}", question.endpoint, status),
            "check HF_ENDPOINT, and that a proxy lets the hub's answers "
            "through");
}

bool IsUnreachable(HttpFault fault) {
  switch (fault) {
    case HttpFault::kNoLibrary:
    case HttpFault::kUnknownHost:
    case HttpFault::kNoConnection:
    case HttpFault::kProxy:
    case HttpFault::kTimedOut:
      return true;
    default:
      return false;
  }
}

InputError FailureOf(const HubQuestion& question, HttpFault fault,
                     const std::string& detail, const std::string& where) {
  const auto say = [&question](std::string what, std::string cure) {
    return At(question, std::move(what), std::move(cure));
  };
  const std::string words = Words(detail);
  switch (fault) {
    case HttpFault::kNoLibrary:
      return say("asking a hub needs libcurl, which is not installed",
                 "install it (Debian: apt-get install libcurl4), or pass the "
                 "path of its config.json");
    case HttpFault::kBadAddress:
      return say(fmt::format("{} is no address that can be asked", where),
                 "check HF_ENDPOINT");
    case HttpFault::kUnknownHost:
      return say(
          fmt::format("{} has no address: no network, or no such host", where),
          "check the connection and HF_ENDPOINT");
    case HttpFault::kNoConnection:
      return say(fmt::format("{} cannot be reached{}", where, words),
                 "check the connection, https_proxy and HF_ENDPOINT");
    case HttpFault::kProxy:
      return say(fmt::format("the proxy does not lead to {}{}", where, words),
                 "check https_proxy and no_proxy");
    case HttpFault::kCertificate:
      return say(
          fmt::format("the certificate of {} does not verify{}", where, words),
          kCertificatesCure);
    case HttpFault::kCertificates:
      return say(fmt::format("the certificates to check {} with cannot be "
                             "read{}",
                             where, words),
                 "install them (Debian: apt-get install ca-certificates), or "
                 "let SSL_CERT_FILE name a file of them");
    case HttpFault::kHandshake:
      return say(
          fmt::format("{} does not speak TLS as it should{}", where, words),
          "check HF_ENDPOINT and the proxy");
    case HttpFault::kTimedOut:
      return say(fmt::format("{} did not answer in time{}", where, words),
                 "try again; HF_HUB_ETAG_TIMEOUT and HF_HUB_DOWNLOAD_TIMEOUT "
                 "say how many seconds it may be silent");
    case HttpFault::kCutShort:
      return say(fmt::format("{} broke off within its answer{}", where, words),
                 "try again");
    case HttpFault::kTooLarge:
      return say(fmt::format("{} sends more than is read: {}", where, detail),
                 "check that this is the right repository");
    case HttpFault::kPacked:
      return say(fmt::format("{} sends its answer packed ({}), although it "
                             "was asked not to",
                             where, detail),
                 "check the proxy or mirror in between");
    case HttpFault::kNone:
    case HttpFault::kOther:
      break;
  }
  return say(fmt::format("{} gives no answer that can be read{}", where, words),
             "try again; check the proxy or mirror in between");
}

}  // namespace foretell
