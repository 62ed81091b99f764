// The version that --version prints: that of CMakeLists.txt.
#ifndef FORETELL_FRONT_VERSION_H_
#define FORETELL_FRONT_VERSION_H_

#include <string_view>

namespace foretell {

inline constexpr std::string_view kVersion = FORETELL_VERSION;

}  // namespace foretell

#endif  // FORETELL_FRONT_VERSION_H_
