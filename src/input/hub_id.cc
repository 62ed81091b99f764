#include "input/hub_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace foretell {
namespace {

// huggingface_hub 2.4, utils/_validators.py.
constexpr size_t kLongestId = 96;
// A file's name may have 255 bytes, and a revision becomes one below refs/;
// the temporary name that it is first written under needs some of them.
constexpr size_t kLongestRevision = 200;
// As long as a path may be.
constexpr size_t kLongestPath = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsSmallHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool IsIdPart(std::string_view part) {
  const auto allowed = [](char c) {
    return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  if (part.empty() || !std::ranges::all_of(part, allowed)) return false;
  const auto edge = [](char c) { return c == '-' || c == '.'; };
  return !edge(part.front()) && !edge(part.back());
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls `each` with what lies between slashes, until it returns false.
template <typename Each>
bool AllParts(std::string_view path, const Each& each) {
  while (true) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (!each(path.substr(0, slash))) return false;
    if (slash == path.size()) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

bool IsRepositoryId(std::string_view id) {
  if (id.empty() || id.size() > kLongestId) return false;
  if (std::ranges::count(id, '/') > 1) return false;
  if (Has(id, "--") || Has(id, "..") || id.ends_with(".git")) return false;
  return AllParts(id, IsIdPart);
}

bool IsOwnedId(std::string_view id) {
  return Has(id, "/") && IsRepositoryId(id);
}

bool IsCommitHash(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, IsSmallHex);
}

bool MayBeShortHash(std::string_view text) {
  return text.size() >= 4 && text.size() < 40 &&
         std::ranges::all_of(text, IsSmallHex);
}

std::string WhyNoRevision(std::string_view revision) {
  if (revision.empty()) return "is empty";
  if (revision.size() > kLongestRevision) {
    return fmt::format("has {} bytes, at most {} are allowed", revision.size(),
                       kLongestRevision);
  }
  for (const char c : revision) {
    if (IsControl(c) || c == ' ') return "holds a blank or a control character";
    if (Has("~^:?*[\\", std::string_view(&c, 1))) {
      return fmt::format("holds \"{}\", which no branch or tag may hold", c);
    }
  }
  if (Has(revision, "..")) return "holds \"..\"";
  const bool clean = AllParts(revision, [](std::string_view part) {
    return !part.empty() && part.front() != '.' && part.back() != '.' &&
           !part.ends_with(".lock");
  });
  return clean ? "" : "is no name that git allows";
}

bool IsRepositoryPath(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath) return false;
  if (std::ranges::any_of(path, IsControl) || Has(path, "\\")) return false;
  return AllParts(path, [](std::string_view part) {
    return !part.empty() && part.size() <= 255 && part != "." && part != "..";
  });
}

std::string CacheFolderName(std::string_view id) {
  std::string out = "models--";
  for (const char c : id) {
    if (c == '/') {
      out += "--";
    } else {
      out += c;
    }
  }
  return out;
}

std::string PercentEncoded(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const char c : text) {
    // RFC 3986, section 2.3: what needs no escape.
    const bool plain = IsAlphanumeric(c) || c == '-' || c == '.' || c == '_' ||
                       c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

HubTarget ReadHubTarget(std::string_view target) {
  static constexpr std::array<std::string_view, 4> kHub = {
      "https://huggingface.co/", "http://huggingface.co/", "huggingface.co/",
      "https://hf.co/"};
  const auto* const hub = std::ranges::find_if(
      kHub, [target](std::string_view h) { return target.starts_with(h); });
  if (hub == kHub.end()) return {std::string(target), ""};
  target.remove_prefix(hub->size());
  target =
      target.substr(0, std::min(target.find_first_of("?#"), target.size()));
  HubTarget out;
  const size_t owner = std::min(target.find('/'), target.size());
  const size_t name = std::min(target.find('/', owner + 1), target.size());
  out.id = target.substr(0, name);
  if (name == target.size()) return out;
  std::string_view rest = target.substr(name + 1);
  // What follows the id: tree/REVISION, blob/REVISION/FILE, …
  for (const std::string_view kind : {"tree/", "blob/", "resolve/", "raw/"}) {
    if (!rest.starts_with(kind)) continue;
    rest.remove_prefix(kind.size());
    out.revision = rest.substr(0, std::min(rest.find('/'), rest.size()));
    if (out.revision == kMainRevision) out.revision.clear();
    break;
  }
  return out;
}

}  // namespace foretell
