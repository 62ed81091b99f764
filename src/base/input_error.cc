#include "base/input_error.h"

#include "base/check.h"

namespace foretell {

std::string ToString(const InputError& error) {
  std::string out = "error: ";
  const std::string place = ToString(error.place);
  if (!place.empty()) out += place + ": ";
  out += error.what + "\n" + CaretBlock(error.place);
  out += "cure: " + error.cure + "\n";
  return out;
}

InputErrors::InputErrors(std::vector<InputError> errors)
    : errors_(std::move(errors)) {
  FORETELL_CHECK(!errors_.empty(), "InputErrors without an error");
  for (const InputError& error : errors_) text_ += ToString(error);
}

InputErrors::InputErrors(InputError error)
    : InputErrors(std::vector<InputError>{std::move(error)}) {}

}  // namespace foretell
