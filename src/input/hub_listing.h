// What a repository holds at one revision, as the hub's interface lists it.
//
// In: the JSON of GET /api/models/ID/revision/REVISION?blobs=true, of anyone's
// making. Out: the commit and its files, those whose name could leave the
// repository's folder left out; or an error that says what is wrong with it.
// Pure; unknown keys are ignored, since a hub adds some from time to time.
#ifndef FORETELL_INPUT_HUB_LISTING_H_
#define FORETELL_INPUT_HUB_LISTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/input_error.h"

namespace foretell {

// The list of a repository of 10,000 shards has some 2 MB.
inline constexpr int64_t kHubListingBytes = int64_t{32} << 20;

struct HubListedFile {
  std::string name;             // "onnx/model.onnx"
  std::optional<int64_t> size;  // of the file itself, not of a pointer to it
};

struct HubListing {
  std::string commit;
  std::vector<HubListedFile> files;  // by name
  std::optional<InputError> error;
};

HubListing ParseHubListing(const std::string& text, const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_HUB_LISTING_H_
