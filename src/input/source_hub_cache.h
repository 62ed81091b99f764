// The hub's cache on this disk, as the official client lays it out: read, and
// added to.
//
//   CACHE/models--owner--name/refs/main            a commit's hash
//   CACHE/models--owner--name/snapshots/COMMIT/F   a link to ../../blobs/ETAG
//   CACHE/models--owner--name/blobs/ETAG           a file's bytes
//   CACHE/models--owner--name/.no_exist/COMMIT/F   the commit has no such file
//
// (huggingface_hub 2.4, file_download.py). Several processes, of ours and of
// the client, may write at once: everything is written under a name of its own
// and then renamed, so that a reader sees a whole file or none. No lock is
// taken: the client's only saves a second download.
//
// In: ids, revisions and paths that passed input/hub_id, commits and blobs'
// names that passed a check. Errors: a ref that holds no commit, a short hash
// that fits two; what cannot be written is told as text, since the answer does
// not need it.
#ifndef FORETELL_INPUT_SOURCE_HUB_CACHE_H_
#define FORETELL_INPUT_SOURCE_HUB_CACHE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"

namespace foretell {

// What a revision is here; no commit where the cache does not know it.
struct CachedCommit {
  std::string commit;
  std::optional<InputError> error;
};

// One file of one commit of a repository.
struct HubPlace {
  std::string id;
  std::string commit;
  std::string file;
};

class HubCache {
 public:
  // `links`: whether snapshots may hold links; copies otherwise.
  HubCache(std::string folder, bool links);

  const std::string& folder() const { return folder_; }

  // By branch, tag or pull request as last fetched, by a commit's hash or the
  // beginning of one that is here.
  CachedCommit CommitOf(const std::string& id,
                        const std::string& revision) const;

  // Where the file lies; empty where it is not here.
  std::string PathOf(const HubPlace& place) const;
  // Whether someone asked for the file and the hub said that there is none.
  bool IsKnownMissing(const HubPlace& place) const;
  // The commit's files that are here, by name.
  std::vector<std::string> FilesOf(const std::string& id,
                                   const std::string& commit) const;
  // The blobs that commits of the repository have for this file: what a
  // server may say is unchanged.
  std::vector<std::string> BlobsOf(const std::string& id,
                                   const std::string& file) const;
  std::string BlobPath(const std::string& id, const std::string& blob) const;
  // The branches, tags and commits that are here, for a message.
  std::vector<std::string> RevisionsOf(const std::string& id) const;

  // Why it could not be kept; empty where it was.
  std::string Keep(const HubPlace& place, const std::string& blob,
                   std::string_view bytes) const;
  // The same for a blob that is already here.
  std::string KeepKnown(const HubPlace& place, const std::string& blob) const;
  std::string KeepMissing(const HubPlace& place) const;
  // Nothing is written where the revision is the commit.
  std::string KeepRevision(const std::string& id, const std::string& revision,
                           const std::string& commit) const;

 private:
  std::string Repository(std::string_view id) const;
  std::string Snapshot(const HubPlace& place) const;

  std::string folder_;
  bool links_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_HUB_CACHE_H_
