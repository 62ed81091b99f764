// What is wrong with an input that cannot be read, where, and how to mend it.
//
// Readers collect as many as they can, then throw them together; `front`
// catches them once, prints each with its caret, and exits with status 2.
#ifndef FORETELL_BASE_INPUT_ERROR_H_
#define FORETELL_BASE_INPUT_ERROR_H_

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/place.h"

namespace foretell {

struct InputError {
  Place place;
  std::string what;  // one sentence without a full stop
  std::string cure;  // what to do; never empty
};

// "error: config.json:3:20 (hidden_size): is a string, not a size\n
//    "hidden_size": "big",\n
//                   ^\n
//  cure: write a whole number from 1 to 2147483647\n"
std::string ToString(const InputError& error);

class InputErrors : public std::exception {
 public:
  explicit InputErrors(std::vector<InputError> errors);
  explicit InputErrors(InputError error);

  const std::vector<InputError>& errors() const { return errors_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<InputError> errors_;
  std::string text_;
};

}  // namespace foretell

#endif  // FORETELL_BASE_INPUT_ERROR_H_
