// The version of this source tree, as --version prints it.
#ifndef FORETELL_FRONT_VERSION_H_
#define FORETELL_FRONT_VERSION_H_

#include <string_view>

namespace foretell {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace foretell

#endif  // FORETELL_FRONT_VERSION_H_
