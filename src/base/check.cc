#include "base/check.h"

namespace foretell {

void FailCheck(const char* file, int line, const char* condition,
               const std::string& reason) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " +
                      reason + " [" + condition + "]");
}

}  // namespace foretell
