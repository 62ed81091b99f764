// Names of a hub's repositories, their revisions and files, checked before
// they become a part of a path or of an address.
//
// In: what someone typed, or what a server said. Out: whether it may be used,
// and how it is spelled in the cache's folders and in addresses. Pure.
//
// The rules are those of huggingface_hub 2.4 (utils/_validators.py,
// file_download.py: repo_folder_name, hf_hub_url) and, for revisions, of git
// (git-check-ref-format).
#ifndef FORETELL_INPUT_HUB_ID_H_
#define FORETELL_INPUT_HUB_ID_H_

#include <string>
#include <string_view>

namespace foretell {

// What every repository has; what is meant where nobody names a revision.
inline constexpr char kMainRevision[] = "main";

// "owner/name" or, as the oldest repositories are called, "name".
bool IsRepositoryId(std::string_view id);

// "owner/name" alone: what a hub is asked for.
bool IsOwnedId(std::string_view id);

// 40 hexadecimal digits, small ones as git writes them.
bool IsCommitHash(std::string_view text);

// Fewer digits that may be a commit's beginning; git takes four.
bool MayBeShortHash(std::string_view text);

// Why this is the name of no branch, tag, pull request or commit; empty where
// it may be one.
std::string WhyNoRevision(std::string_view revision);

// A path below the repository's root: relative, without "." and "..".
bool IsRepositoryPath(std::string_view path);

// "models--owner--name".
std::string CacheFolderName(std::string_view id);

// Every byte but letters, digits and "-._~" as %XX; slashes too, unless kept.
std::string PercentEncoded(std::string_view text, bool keep_slashes);

// An id, and the revision that stood beside it.
struct HubTarget {
  std::string id;
  std::string revision;  // empty where none was named
};

// "Qwen/Qwen3-8B", or the address of its page, pasted:
// "https://huggingface.co/Qwen/Qwen3-8B/tree/v1.0". The branch main, which is
// in every address, counts as none named. Not checked: see the functions
// above.
HubTarget ReadHubTarget(std::string_view target);

}  // namespace foretell

#endif  // FORETELL_INPUT_HUB_ID_H_
