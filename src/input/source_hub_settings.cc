#include "input/source_hub_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "input/http_address.h"
#include "input/http_headers.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

constexpr char kHuggingFace[] = "https://huggingface.co";
// The hub's have 37 characters; others' are longer, none is a document.
constexpr size_t kLongestToken = 4096;
// Longer waits than an hour are a mistake in the variable.
constexpr int64_t kMostSeconds = 3600;

// Empty where it is not set: the client, too, takes "" for absent nearly
// everywhere.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsTrue(const char* name) {
  std::string value = Variable(name);
  std::ranges::transform(value, value.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

bool IsNameLetter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_';
}

// "$NAME" and "${NAME}" by their values, and as they are where there is none:
// Python's os.path.expandvars, which the client applies.
std::string WithVariables(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    const bool braced = i + 1 < text.size() && text[i + 1] == '{';
    const size_t begin = i + (braced ? 2 : 1);
    size_t end = begin;
    while (end < text.size() && IsNameLetter(text[end])) ++end;
    const std::string name = text.substr(begin, end - begin);
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    const char* value =
        closed && !name.empty() ? std::getenv(name.c_str()) : nullptr;
    if (value == nullptr) {
      out += text[i];
      continue;
    }
    out += value;
    i = end - (braced ? 0 : 1);
  }
  return out;
}

std::string AsPath(const std::string& text) {
  return WithVariables(ExpandHome(text));
}

std::string HomeFolder() {
  if (const std::string home = Variable("HF_HOME"); !home.empty()) {
    return AsPath(home);
  }
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = "~/.cache";
  return AsPath(JoinPath(cache, "huggingface"));
}

std::string CacheFolder(const std::string& home) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    const std::string folder = Variable(name);
    if (!folder.empty()) return AsPath(folder);
  }
  return JoinPath(home, "hub");
}

InputError At(std::string_view variable, std::string what, std::string cure) {
  Place place;
  place.source = variable;
  return {std::move(place), std::move(what), std::move(cure)};
}

// Line breaks and blanks around it go, as the client takes them off.
std::string CleanToken(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<InputError> ReadToken(const std::string& home,
                                    HubSettings& settings) {
  if (IsTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return std::nullopt;
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    settings.token = CleanToken(Variable(name));
    settings.token_from = name;
    if (!settings.token.empty()) break;
  }
  if (settings.token.empty()) {
    const std::string named = Variable("HF_TOKEN_PATH");
    const std::string path =
        named.empty() ? JoinPath(home, "token") : AsPath(named);
    settings.token_from = path;
    if (KindOfPath(path) == PathKind::kFile) {
      FileResult file = ReadFileOrError(path, kLongestToken);
      if (file.error) return std::move(file.error);
      settings.token = CleanToken(std::move(file.bytes));
    }
  }
  if (settings.token.empty()) {
    settings.token_from.clear();
    return std::nullopt;
  }
  // It becomes a header's line.
  const auto plain = [](char c) { return c > 0x20 && c < 0x7f; };
  if (settings.token.size() > kLongestToken ||
      !std::ranges::all_of(settings.token, plain)) {
    return At(settings.token_from,
              "holds what cannot be a token: it has blanks or characters "
              "beyond ASCII",
              "copy the token again from https://huggingface.co/settings/"
              "tokens; it begins with hf_");
  }
  return std::nullopt;
}

std::optional<InputError> ReadEndpoint(HubSettings& settings) {
  settings.endpoint = CleanToken(Variable("HF_ENDPOINT"));
  if (settings.endpoint.empty()) settings.endpoint = kHuggingFace;
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  if (settings.endpoint.find_first_of("?#") == std::string::npos &&
      ParseAddress(settings.endpoint)) {
    return std::nullopt;
  }
  // The value may hold a password.
  return At("HF_ENDPOINT", "is no address of a hub",
            fmt::format("write it as {} (no user name in it: a token goes "
                        "into HF_TOKEN)",
                        kHuggingFace));
}

std::optional<InputError> ReadCertificates(HubSettings& settings) {
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
                           "SSL_CERT_FILE", "SSL_CERT_DIR"}) {
    const std::string path = AsPath(Variable(name));
    if (path.empty()) continue;
    const PathKind kind = KindOfPath(path);
    if (kind != PathKind::kFile && kind != PathKind::kFolder) {
      return At(name,
                fmt::format("names certificates that cannot be read: {}", path),
                fmt::format("let {} name a file of certificates (PEM), or "
                            "unset it for the system's own",
                            name));
    }
    settings.certificates = path;
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<InputError> ReadSeconds(const char* name, int64_t& seconds) {
  const std::string text = CleanToken(Variable(name));
  if (text.empty()) return std::nullopt;
  const auto number = ParseLength(text);
  if (!number || *number > kMostSeconds) {
    return At(name, fmt::format("is no number of seconds: {}", text),
              fmt::format("write a whole number up to {}", kMostSeconds));
  }
  // 0 is the default there, too.
  if (*number > 0) seconds = *number;
  return std::nullopt;
}

}  // namespace

HubSettingsResult HubSettingsOfEnvironment() {
  HubSettingsResult out;
  HubSettings& settings = out.settings;
  const std::string home = HomeFolder();
  settings.cache = CacheFolder(home);
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    // The second counts only where the first is not set at all.
    if (settings.offline.empty() && IsTrue(name)) settings.offline = name;
    if (!Variable(name).empty()) break;
  }
  settings.links = !IsTrue("HF_HUB_DISABLE_SYMLINKS");
  settings.notes = !IsTrue("HF_HUB_DISABLE_PROGRESS_BARS");
  out.error = ReadEndpoint(settings);
  if (!out.error) out.error = ReadCertificates(settings);
  if (!out.error) {
    out.error = ReadSeconds("HF_HUB_ETAG_TIMEOUT", settings.answer_seconds);
  }
  if (!out.error) {
    out.error =
        ReadSeconds("HF_HUB_DOWNLOAD_TIMEOUT", settings.silence_seconds);
  }
  if (!out.error) out.error = ReadToken(home, settings);
  return out;
}

}  // namespace foretell
