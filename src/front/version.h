// The version that --version prints: that of CMakeLists.txt.
//
// One number for the program, its documents and its packages; what CMake was
// told and what the program prints are the same.
#ifndef FORETELL_FRONT_VERSION_H_
#define FORETELL_FRONT_VERSION_H_

#include <string_view>

namespace foretell {

inline constexpr std::string_view kVersion = FORETELL_VERSION;

}  // namespace foretell

#endif  // FORETELL_FRONT_VERSION_H_
