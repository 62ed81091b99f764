#include "front/hub_options.h"

#include <iostream>

#include "report/safe_text.h"

namespace foretell {

std::vector<OptionRow> HubRows() {
  return {
      {.name = "revision",
       .value = "REV",
       .doc = "The branch, tag or commit of the hub's repository. It is looked "
              "up in the hub's cache, then at the hub; the catalogue has no "
              "revisions."},
      {.name = "refresh",
       .doc = "Ask the hub also where its cache or the catalogue knows the "
              "model."},
      {.name = "offline",
       .doc = "Ask no hub; the same as HF_HUB_OFFLINE=1.",
       .aliases = {"local-files-only"}},
  };
}

void NoteOnStderr(const std::string& text) {
  std::cerr << "note: " << Harmless(text) << std::endl;
}

ModelLookup ReadModelLookup(const Invocation& invocation) {
  ModelLookup how;
  how.revision = invocation.Text("revision").value_or("");
  how.refresh = invocation.Has("refresh");
  how.offline = invocation.Has("offline");
  how.note = NoteOnStderr;
  return how;
}

ModelConfig LoadTarget(const Invocation& invocation,
                       std::string_view argument) {
  return LookUpModel(invocation.Argument(argument),
                     ReadModelLookup(invocation));
}

}  // namespace foretell
