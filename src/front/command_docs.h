// The pages under docs/ that are made from the command table.
//
// docs/commands/<command>.md, docs/json/<command>.md and their schemas, and an
// index of each. tools/docgen writes them and fails where they differ.
#ifndef FORETELL_FRONT_COMMAND_DOCS_H_
#define FORETELL_FRONT_COMMAND_DOCS_H_

#include <string>
#include <vector>

#include "front/command_table.h"

namespace foretell {

struct DocFile {
  std::string path;  // below docs/: "commands/model.md"
  std::string text;
};

// Sorted by path.
std::vector<DocFile> CommandDocs(const CommandTable& table);

}  // namespace foretell

#endif  // FORETELL_FRONT_COMMAND_DOCS_H_
