// Where something was read: a file, a line, a key, so that a message can point
// at it with a caret.
//
// Filled by whoever reads; an absent part is empty or zero. An excerpt is
// bounded, and control bytes in it are blanks.
#ifndef FORETELL_BASE_PLACE_H_
#define FORETELL_BASE_PLACE_H_

#include <string>

namespace foretell {

struct Place {
  std::string source;  // a path, "argument 2", "catalogue:Qwen/Qwen3-8B"
  int line = 0;        // from 1; 0 where the source has no lines
  int column = 0;      // from 1, in bytes; 0 where unknown
  std::string key;     // "rope_scaling.factor" where a key is meant
  std::string
      excerpt;    // the source's line, cut to about 80 bytes around column
  int caret = 0;  // offset of the column within `excerpt`
};

// "config.json:12:18 (rope_scaling.factor)"
std::string ToString(const Place& place);

// The excerpt and a caret line under it, each indented by two; empty where
// there is no excerpt.
std::string CaretBlock(const Place& place);

}  // namespace foretell

#endif  // FORETELL_BASE_PLACE_H_
