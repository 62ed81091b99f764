// A revision of a hub's repository as a folder of files, of which parts can be
// read: what the readers of headers work on.
//
// In: a repository's name, and how to look it up. Out: a ByteFolder. Files
// that the cache has are read there. Where the cache has the revision's
// weights, nobody is asked; else the hub lists the files, tables (.json) are
// fetched whole and kept, and of anything else the ranges alone that a reader
// asks for. Weights are never fetched.
//
// Throws InputErrors: for a name that is no repository's, for what the cache
// lacks where no hub may be asked, and for all that a hub refuses.
#ifndef FORETELL_INPUT_SOURCE_HUB_FILES_H_
#define FORETELL_INPUT_SOURCE_HUB_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/model_lookup.h"

namespace foretell {

// "OWNER/NAME", "OWNER/NAME@REVISION", the address of its page, and a file of
// it behind a slash: "OWNER/NAME/model-Q4_K_M.gguf".
struct HubCheckpointName {
  std::string id;
  std::string revision;  // empty where none is named
  std::string file;      // empty where the repository is meant
};

// Nothing where the text names no repository with an owner. Pure.
std::optional<HubCheckpointName> ReadHubCheckpointName(std::string_view text);

// `how.revision` holds where the name has none.
std::unique_ptr<ByteFolder> OpenHubFolder(const HubCheckpointName& name,
                                          const ModelLookup& how);

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_HUB_FILES_H_
