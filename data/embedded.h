// The files of data/, as they were when the program was built.
//
// In: a file's path below data/, "accelerators.jsonl" or "engines/vllm.jsonl".
// Out: its bytes, which live as long as the program. Every file but notes
// (*.md) is there. Only readers in input/ include this header.
#ifndef FORETELL_DATA_EMBEDDED_H_
#define FORETELL_DATA_EMBEDDED_H_

#include <optional>
#include <string_view>
#include <vector>

namespace foretell {

// The bytes of the file; empty where there is no such file.
std::string_view Embedded(std::string_view name);

// The same, telling an empty file from none.
std::optional<std::string_view> FindEmbedded(std::string_view name);

// Every embedded file's name, sorted by its bytes.
std::vector<std::string_view> EmbeddedNames();

}  // namespace foretell

#endif  // FORETELL_DATA_EMBEDDED_H_
