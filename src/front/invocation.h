// One command line, parsed: which command, with which arguments and options,
// and where each was written, so that a run can point at it.
//
//   Outcome RunModel(const Invocation& invocation) {
//     const std::string& target = invocation.Argument("TARGET");
//     const auto dtype = invocation.Text("dtype");      // or nothing
//     const auto batch = invocation.Integer("batch");   // checked
//     if (!Known(target)) {
//       throw InputErrors({invocation.PlaceOf("TARGET"),
//                          "no model is called so", "run `foretell models`"});
//     }
//     return {.document = PresentModel(AnswerModel(…))};
//   }
//
// A name that the command's row lacks fails a check.
#ifndef FORETELL_FRONT_INVOCATION_H_
#define FORETELL_FRONT_INVOCATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"
#include "report/document.h"
#include "report/render.h"

namespace foretell {

struct CommandRow;
struct CommandTable;

// What a run answers.
struct Outcome {
  std::optional<Document> document = {};
  // Printed as it is: instead of the document where the format is text, and
  // in every format where there is no document.
  std::string text = {};
  // Something differs or falls short although no finding blocks: status 1.
  bool differs = false;
};

// A value as it was written, and which word of the command line holds it.
struct Given {
  std::string name;   // of the argument or option
  std::string value;  // empty for a flag, and for an option without its value
  size_t word = 0;    // index into `words`
  size_t offset = 0;  // of the value within the word: after "--dtype="
};

class Invocation {
 public:
  // `words` are the arguments after the program's name; `table` and `command`
  // outlive the invocation. `command` is null where none was named.
  Invocation(const CommandTable& table, const CommandRow* command,
             std::vector<std::string> words, std::vector<Given> arguments,
             std::vector<Given> options);

  const CommandTable& table() const { return *table_; }
  const CommandRow* command() const { return command_; }

  // A positional argument that is always there.
  const std::string& Argument(std::string_view name) const;
  // All values of an optional or repeatable one; may be empty.
  std::vector<std::string> Arguments(std::string_view name) const;

  // Whether the option was given, with or without a value.
  bool Has(std::string_view option) const;
  // Its value, or its default where the row has one. Nothing where it is
  // absent, and where an optional value was left out (then `Has` is true).
  std::optional<std::string> Text(std::string_view option) const;
  // The same for an option of kind kInteger.
  std::optional<int64_t> Integer(std::string_view option) const;
  // Every value of a repeatable option.
  std::vector<std::string> Texts(std::string_view option) const;

  // Where an argument or option was written, with the command line as excerpt;
  // the end of the line where it was not. For a repeated one, the `index`th;
  // `inside` is an offset into its value.
  Place PlaceOf(std::string_view name, size_t index = 0,
                size_t inside = 0) const;

  Format format() const;
  bool strict() const { return Has("strict"); }

  // What the user should know about how the line was read: "--micro-batch is
  // --batch here". Printed on stderr.
  const std::vector<std::string>& notes() const { return notes_; }
  void AddNote(std::string note) { notes_.push_back(std::move(note)); }

 private:
  const CommandTable* table_;
  const CommandRow* command_;
  std::vector<std::string> words_;
  std::vector<Given> arguments_;
  std::vector<Given> options_;
  std::vector<std::string> notes_;
};

}  // namespace foretell

#endif  // FORETELL_FRONT_INVOCATION_H_
