// What a hub's refusal means, and what to do about it.
//
// In: what was asked, and the status and headers of the answer, or what kept
// an answer from coming. Out: an error with its cure. Pure; it never holds a
// token, an address's query or a server's own text beyond a status.
//
// The hub tells refusals apart by X-Error-Code and X-Error-Message
// (huggingface_hub 2.4, utils/_http.py: hf_raise_for_status).
#ifndef FORETELL_INPUT_HUB_REFUSAL_H_
#define FORETELL_INPUT_HUB_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"
#include "input/http_headers.h"
#include "input/source_network.h"

namespace foretell {

// What was asked for, and by whom.
struct HubQuestion {
  std::string id;
  std::string revision;  // a branch, a tag, a commit
  std::string file;      // empty for the repository's own list
  std::string endpoint;  // "https://huggingface.co"
  // "HF_TOKEN", or the file that holds the token; empty where none was sent.
  std::string token_from;
  // Why a token that there is was not sent; empty where it was.
  std::string token_held_back;
  // Known names that are near, for one that is not known.
  std::vector<std::string> near;
};

// Of an answer with a status from 400 on.
InputError RefusalOf(const HubQuestion& question, int status,
                     const HttpHeaders& headers,
                     std::optional<int64_t> asked_to_wait);

// Whether the answer is that the repository is there and the file is not.
bool IsMissingFile(int status, const HttpHeaders& headers);

// Of no answer, or of one that was broken off. `where` is the address that
// was asked last, as a message may show it.
InputError FailureOf(const HubQuestion& question, HttpFault fault,
                     const std::string& detail, const std::string& where);

// Whether a fault means that nobody was reached: then what is known already
// may stand in.
bool IsUnreachable(HttpFault fault);

// "meta-llama/Llama-3.1-8B (revision v1)": what a message is about.
std::string NameOf(const HubQuestion& question);

}  // namespace foretell

#endif  // FORETELL_INPUT_HUB_REFUSAL_H_
