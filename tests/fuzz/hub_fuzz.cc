// Any bytes as what a hub or a user may say: ids, revisions, addresses, header
// lines, a list of files. What is taken never leaves its folder or its line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "input/http_address.h"
#include "input/http_headers.h"
#include "input/hub_id.h"
#include "input/hub_listing.h"

namespace foretell {
namespace {

bool Has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

void Names(const std::string& text) {
  const HubTarget target = ReadHubTarget(text);
  if (IsRepositoryId(target.id)) {
    const std::string folder = CacheFolderName(target.id);
    FORETELL_CHECK(!Has(folder, "/") && !Has(folder, ".."), "a folder's name");
  }
  if (WhyNoRevision(text).empty()) {
    FORETELL_CHECK(IsRepositoryPath("refs/" + text), "a ref that leaves");
  }
  for (const char c : PercentEncoded(text, false)) {
    FORETELL_CHECK(c > ' ' && c < 0x7f && c != '/', "an address's part");
  }
}

void Addresses(const std::string& text) {
  const auto address = ParseAddress(text);
  if (!address) return;
  FORETELL_CHECK(SameOrigin(*address, *address), "another origin");
  const std::string shown = ShownAddress(text);
  FORETELL_CHECK(
      !Has(shown, "?") && (!Has(shown, "@") || Has(address->path, "@")),
      "shows more than it may");
  const auto again = ParseAddress(shown);
  FORETELL_CHECK(again && SameOrigin(*again, *address), "shows another");
}

void Headers(const std::string& text) {
  HttpHeaders headers;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    headers.AddLine(std::string_view(text).substr(start, end - start));
    start = end;
  }
  headers.Find("ETag");
  if (const auto blob = BlobNameOfEtag(text)) {
    FORETELL_CHECK(IsRepositoryPath(*blob) && !Has(*blob, "/"), "a blob");
  }
  if (const auto range = ParseContentRange(text)) {
    FORETELL_CHECK(range->first <= range->last, "a range that ends first");
    FORETELL_CHECK(!range->total || *range->total > range->last,
                   "past the end");
  }
  const auto wait = ParseRetryAfter(text, 1'700'000'000);
  FORETELL_CHECK(!wait || *wait >= 0, "a wait into the past");
  ParseRateLimit(text);
}

}  // namespace
}  // namespace foretell

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  foretell::Names(text);
  foretell::Addresses(text);
  foretell::Headers(text);
  const foretell::HubListing list = foretell::ParseHubListing(text, "list");
  if (list.error) {
    FORETELL_CHECK(!list.error->cure.empty(), "no cure");
  } else {
    FORETELL_CHECK(foretell::IsCommitHash(list.commit), "no commit");
  }
  for (const foretell::HubListedFile& file : list.files) {
    FORETELL_CHECK(foretell::IsRepositoryPath(file.name), "a file that leaves");
    FORETELL_CHECK(!file.size || *file.size >= 0, "less than nothing");
  }
  return 0;
}
