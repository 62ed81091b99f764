// A command line written out again, so that an error can point into it.
//
// In: the words after the program's name. Out: one line, quoted where a shell
// would need it, and where each word begins in it.
#ifndef FORETELL_FRONT_COMMAND_LINE_H_
#define FORETELL_FRONT_COMMAND_LINE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/place.h"

namespace foretell {

// What places in a command line have as their source.
inline constexpr std::string_view kCommandLine = "command line";

// A word as a POSIX shell takes it: quoted where it must be.
std::string ShellQuoted(std::string_view word);

// The place of byte `offset` of `words[index]`, or of the end of the line
// where `index` is the number of words. The excerpt is the line with the
// program's name in front, cut to about 80 bytes around the place.
Place PlaceInCommandLine(std::string_view program,
                         std::span<const std::string> words, size_t index,
                         size_t offset = 0);

}  // namespace foretell

#endif  // FORETELL_FRONT_COMMAND_LINE_H_
