// A check of our own invariants that stays on in release builds.
//
// Input never reaches a check: what outside data can cause is an InputError,
// a Finding or an Unknown. A failed check is a bug of Foretell; `front` catches
// it once and exits with status 3.
//
//   FORETELL_CHECK(id.index < values.size(), "value id out of range");
#ifndef FORETELL_BASE_CHECK_H_
#define FORETELL_BASE_CHECK_H_

#include <stdexcept>
#include <string>

namespace foretell {

// Thrown by a failed check; what() holds file, line and the reason.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            const std::string& reason);

}  // namespace foretell

#define FORETELL_CHECK(condition, reason)                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      ::foretell::FailCheck(__FILE__, __LINE__, #condition, (reason)); \
    }                                                                  \
  } while (false)

#endif  // FORETELL_BASE_CHECK_H_
