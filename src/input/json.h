// JSON text as a tree of values that know their place; read within limits.
//
// In: bytes of anyone's making and the name to show for them. Out: the value.
// Accepts what Python's json.loads accepts, since that is what wrote and reads
// these files (NaN, Infinity, -Infinity, whole numbers past 2^63), and a
// byte-order mark, which it notes. Of a key given twice the last value holds,
// as in Python; each such key is noted. Numbers keep their spelling.
//
// Refused, with line, column, caret and a cure: anything malformed or cut
// short, bytes that are not UTF-8, half a surrogate pair (which Python takes,
// but no UTF-8 text can hold), numbers past 1.8e308, and whatever passes a
// limit.
//
// Does not model: comments, trailing commas, single quotes; each is named
// (json_fault.h). RapidJSON does the parsing, without recursion.
#ifndef FORETELL_INPUT_JSON_H_
#define FORETELL_INPUT_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/input_error.h"
#include "spec/config_value.h"

namespace foretell {

struct JsonLimits {
  int depth = 64;  // arrays and objects inside one another; published: six
  // Scalars, arrays and objects together, each about 100 bytes of memory.
  int64_t values = 1'000'000;
  int64_t bytes = int64_t{32} << 20;
};

// A value, or why there is none: never both.
struct JsonResult {
  ConfigValue value;
  std::optional<InputError> error;
  std::vector<Finding> notes;  // keys given twice, a byte-order mark
};

JsonResult ReadJson(const std::string& text, const std::string& source,
                    const JsonLimits& limits = {});

// The same, throwing InputErrors. Notes are appended to `notes`, if given.
ConfigValue ParseJson(const std::string& text, const std::string& source,
                      const JsonLimits& limits = {},
                      std::vector<Finding>* notes = nullptr);

// One value that begins at `*offset` (white space may precede it), with other
// text behind it; `*offset` is then the first byte after the value.
JsonResult ReadJsonPrefix(const std::string& text, const std::string& source,
                          int64_t* offset, const JsonLimits& limits = {});

}  // namespace foretell

#endif  // FORETELL_INPUT_JSON_H_
