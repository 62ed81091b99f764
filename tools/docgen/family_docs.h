// The pages of docs/families/: one per family, and an index.
//
// A page says which classes the family has, what one of its published models
// is built of, what each layer keeps while text is generated, what a training
// step of it keeps, and how many recordings of PyTorch prove it.
// In: the folder of the repository's recordings (tests/truth) and the embedded
// catalogue. Throws InputErrors where a recording cannot be read.
#ifndef FORETELL_TOOLS_DOCGEN_FAMILY_DOCS_H_
#define FORETELL_TOOLS_DOCGEN_FAMILY_DOCS_H_

#include <string>
#include <vector>

#include "front/command_docs.h"

namespace foretell {

// Sorted by path: "families/README.md", "families/llama.md", …
std::vector<DocFile> FamilyDocs(const std::string& truth_folder);

}  // namespace foretell

#endif  // FORETELL_TOOLS_DOCGEN_FAMILY_DOCS_H_
