// What is wrong with a text that is no JSON, in words that help to mend it.
//
// In: the text, where a parser gave up, and on what. Out: an error with its
// place, caret and cure. Most such files are one of a few things: cut short,
// written by Python's repr(), edited by hand (comments, a comma too many), or
// not JSON at all (a login page, a Git LFS pointer, YAML). Each is named.
//
// Does not model: a second fault behind the first.
#ifndef FORETELL_INPUT_JSON_FAULT_H_
#define FORETELL_INPUT_JSON_FAULT_H_

#include <cstdint>
#include <string>

#include "base/input_error.h"

namespace foretell {

enum class JsonFault : uint8_t {
  kExtraText,     // after the end of the value
  kValue,         // no value begins here
  kName,          // no key begins here
  kColon,         // no colon after a key
  kObjectEnd,     // neither comma nor "}" after a member
  kArrayEnd,      // neither comma nor "]" after an element
  kEscape,        // an escape that JSON has not, or a control character
  kHex,           // "\u" without four digits
  kSurrogate,     // half a surrogate pair
  kUnterminated,  // the text ends inside a string
  kEncoding,      // not UTF-8
  kNumberTooBig,  // past what a double holds
  kNumberEnd,     // no digit after the point or the exponent
};

// `offset` is where the parser stopped, at most the text's size.
InputError DescribeJsonFault(const std::string& text, int64_t offset,
                             JsonFault fault, const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_JSON_FAULT_H_
