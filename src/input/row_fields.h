// The fields of one row of a JSON-lines file, read with their kinds checked.
//
// In: a row's object, and the line it came from. Out: typed values; what is
// absent where it must be, or has the wrong kind, is collected as an error
// with its place (line of the file, column, caret), so that one pass tells
// all. Absent and null are the same: rows leave out what they have not.
#ifndef FORETELL_INPUT_ROW_FIELDS_H_
#define FORETELL_INPUT_ROW_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"
#include "spec/config_value.h"

namespace foretell {

inline constexpr int kOwnLines = -1;

// The line of a file that a row stands on.
struct RowLine {
  const std::string* text = nullptr;  // without its line break
  std::string source;
  // From 1; 0 where the file's lines mean nothing; kOwnLines where `text` is
  // a whole file, whose own lines are told.
  int line = 0;
};

class RowFields {
 public:
  // The three must outlive this. `object` must be one.
  RowFields(const ConfigValue& object, const RowLine& line,
            std::vector<InputError>& errors)
      : object_(&object), line_(&line), errors_(&errors) {}

  // Null where absent or null.
  const ConfigValue* Get(std::string_view key) const;

  std::string Text(std::string_view key) const;  // must be there
  std::string OptionalText(std::string_view key) const;
  // A whole number from 0; must be there.
  int64_t Count(std::string_view key) const;
  // Null where absent; another kind is an error.
  const ConfigValue* Object(std::string_view key) const;
  // Empty where absent; another kind is an error.
  const std::vector<ConfigValue>& Items(std::string_view key) const;

  // The fields of an item of this row; `item` must be an object.
  RowFields Of(const ConfigValue& item) const {
    return RowFields(item, *line_, *errors_);
  }

  // An error at `value`, or at the whole row where it is null.
  void Problem(const ConfigValue* value, std::string_view key, std::string what,
               std::string cure) const;

 private:
  const ConfigValue* object_;
  const RowLine* line_;
  std::vector<InputError>* errors_;
};

// Parses a line into an object; adds an error and gives nothing otherwise.
std::optional<ConfigValue> ReadRow(const RowLine& line,
                                   std::vector<InputError>& errors);

}  // namespace foretell

#endif  // FORETELL_INPUT_ROW_FIELDS_H_
