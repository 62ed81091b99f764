// Files that a user named to be written: all of it or nothing, and never over
// what somebody else has made.
//
// In: a path, the bytes, and a mark that files of this kind hold within their
// first bytes. Out: nothing, or why it was not written: a folder, a device, a
// file without the mark, a disk that is full. The bytes go to a new file
// beside it, which then takes its place, so a reader never sees a half.
#ifndef FORETELL_FRONT_WRITTEN_FILE_H_
#define FORETELL_FRONT_WRITTEN_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/input_error.h"

namespace foretell {

// The error's place is the path; a caller that knows a better one sets it.
std::optional<InputError> WriteNamedFile(const std::string& path,
                                         std::string_view bytes,
                                         std::string_view mark);

}  // namespace foretell

#endif  // FORETELL_FRONT_WRITTEN_FILE_H_
