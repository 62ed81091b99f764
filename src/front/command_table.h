// The one table of commands: parsing, help, completion, JSON schemas and the
// pages under docs/ are all made from it.
//
// To add a command: its row in front/command_table.cc, its run function in
// front/run_<name>.{h,cc}, and the shape of its answer in
// report/present_<name>.{h,cc}.
//
// Names are kebab-case without dashes in front. Every string is a literal.
// Nothing here is built before main(): the table is made on first use.
#ifndef FORETELL_FRONT_COMMAND_TABLE_H_
#define FORETELL_FRONT_COMMAND_TABLE_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "front/invocation.h"
#include "report/shape.h"

namespace foretell {

// What a shell offers for a word.
enum class Completion : uint8_t {
  kNone,
  kModelId,  // from `foretell complete-ids PREFIX`, and paths
  kPath,
  kDirectory,
  kCommand,
};

enum class ValueKind : uint8_t {
  kText,
  kInteger,  // a whole number from `least` to `most`
};

struct ArgumentRow {
  std::string_view name = {};  // as help shows it: "TARGET"
  std::string_view doc = {};
  bool optional = false;
  bool repeatable = false;  // only the last argument may be
  Completion completion = Completion::kNone;
  std::vector<std::string_view> allowed = {};  // empty: any value
};

struct OptionRow {
  std::string_view name = {};   // "dtype"
  char short_name = 0;          // 'd', or 0
  std::string_view value = {};  // what help calls the value; a flag where empty
  bool value_optional = false;  // "--explain" and "--explain params"
  std::string_view doc = {};
  std::vector<std::string_view> allowed = {};  // empty: any value
  // Offered by completion although other values are allowed too.
  std::vector<std::string_view> suggested = {};
  std::string_view default_value = {};  // what holds where the option is absent
  ValueKind kind = ValueKind::kText;
  int64_t least = 1;
  int64_t most = std::numeric_limits<int64_t>::max();
  bool repeatable = false;
  Completion completion = Completion::kNone;
  // Other spellings that people type; accepted, and named in a note.
  std::vector<std::string_view> aliases = {};

  bool is_flag() const { return value.empty(); }
};

struct ExampleRow {
  std::string_view command = {};  // "foretell model Qwen/Qwen3-8B"
  std::string_view shows = {};
};

struct CommandRow {
  std::string_view name = {};
  std::string_view summary = {};      // one line, no full stop
  std::string_view description = {};  // paragraphs, split by "\n\n"
  std::vector<ArgumentRow> arguments = {};
  std::vector<OptionRow> options = {};
  std::vector<ExampleRow> examples = {};
  // The shape of the answer; null where the command prints a plain text.
  const DocumentShape& (*shape)() = nullptr;
  // A run that answers (front/invocation.h); throws InputErrors.
  Outcome (*run)(const Invocation& invocation) = nullptr;
  bool hidden = false;  // left out of help, completion and docs
};

struct CommandTable {
  std::string_view program = {};  // "foretell"
  std::string_view version = {};
  std::string_view summary = {};
  std::string_view description = {};
  std::vector<OptionRow> global_options = {};  // taken by every command
  std::vector<CommandRow> commands = {};
};

// Foretell's own table.
const CommandTable& Commands();

// Null where there is none.
const CommandRow* FindCommand(const CommandTable& table, std::string_view name);
// Among the command's options, then the global ones; by name or alias.
// `command` may be null.
const OptionRow* FindOption(const CommandTable& table,
                            const CommandRow* command, std::string_view name);

// The global options that every table has: json, format, strict, help,
// version.
std::vector<OptionRow> GlobalOptions();

// Fails a check where a name is repeated or not kebab-case, a doc or example
// is missing, a required argument follows an optional one, and the like.
void CheckTable(const CommandTable& table);

}  // namespace foretell

#endif  // FORETELL_FRONT_COMMAND_TABLE_H_
