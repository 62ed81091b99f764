// Whether a value is one that its row of the command table allows.
//
// The same check serves every way in: the command line, a request, a form.
#ifndef FORETELL_FRONT_VALUE_CHECK_H_
#define FORETELL_FRONT_VALUE_CHECK_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "front/command_table.h"

namespace foretell {

struct Mistake {
  std::string what;
  std::string cure;
};

// Nothing where the value is fine. `value` is not empty.
std::optional<Mistake> CheckOptionValue(const OptionRow& row,
                                        std::string_view value);
std::optional<Mistake> CheckArgumentValue(const ArgumentRow& row,
                                          std::string_view value);
Mistake MissingValue(const OptionRow& row);

// Anything is allowed where the list is empty.
bool IsAllowed(std::span<const std::string_view> allowed,
               std::string_view value);

}  // namespace foretell

#endif  // FORETELL_FRONT_VALUE_CHECK_H_
