#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "front/completion_script.h"
#include "front/offered_words.h"

namespace foretell {
namespace {

// Text within a single-quoted specification of _arguments: colons and
// brackets have a meaning there, a quote ends it.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string Action(std::span<const std::string_view> values,
                   Completion completion, std::string_view program) {
  if (!values.empty()) return fmt::format("({})", fmt::join(values, " "));
  switch (completion) {
    case Completion::kModelId:
      return fmt::format("_{}_models", program);
    case Completion::kPath:
      return "_files";
    case Completion::kDirectory:
      return "_files -/";
    case Completion::kNone:
    case Completion::kCommand:
      return " ";
  }
  return " ";
}

std::string OptionSpec(const CommandTable& table, const OptionRow& row) {
  const std::string doc = Escaped(row.doc);
  if (row.is_flag()) return fmt::format("'--{}[{}]'", row.name, doc);
  // "::" marks a value that may be left out.
  return fmt::format("'--{}[{}]{}{}:{}'", row.name, doc,
                     row.value_optional ? "::" : ":", row.value,
                     Action(OfferedValues(row), row.completion, table.program));
}

std::string ArgumentSpec(const CommandTable& table, const ArgumentRow& row) {
  return fmt::format(
      "'{}{}:{}'",
      row.repeatable ? "*:"
      : row.optional ? "::"
                     : ":",
      row.name,
      Action(OfferedValues(table, row), row.completion, table.program));
}

std::string CommandCase(const CommandTable& table, const CommandRow& command) {
  std::string out =
      fmt::format("        {})\n          _arguments", command.name);
  const auto add = [&out](const std::string& spec) {
    out += " \\\n            " + spec;
  };
  for (const OptionRow& row : command.options) add(OptionSpec(table, row));
  for (const OptionRow& row : table.global_options) {
    add(OptionSpec(table, row));
  }
  for (const ArgumentRow& row : command.arguments) {
    add(ArgumentSpec(table, row));
  }
  return out + "\n          ;;\n";
}

}  // namespace

std::string ZshCompletion(const CommandTable& table) {
  std::string commands;
  std::string cases;
  std::string globals;
  for (const CommandRow& row : table.commands) {
    if (row.hidden) continue;
    commands += fmt::format("    '{}:{}'\n", row.name, Escaped(row.summary));
    cases += CommandCase(table, row);
  }
  for (const OptionRow& row : table.global_options) {
    globals += fmt::format("    {} \\\n", OptionSpec(table, row));
  }
  return fmt::format(
      R"zsh(#compdef {program}
# Completion of {program} in zsh, printed by `{program} completion zsh`.
_{program}_models() {{
  local -a ids
  ids=(${{(f)"$(_call_program ids {program} complete-ids ${{(q)PREFIX}} 2>/dev/null)"}})
  compadd -a ids
  _files
}}

_{program}() {{
  local curcontext="$curcontext" state line
  local -a commands
  typeset -A opt_args
  commands=(
{commands}  )
  _arguments -C \
{globals}    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command) _describe -t commands '{program} command' commands ;;
    argument)
      case $words[1] in
{cases}      esac
      ;;
  esac
}}

if [[ $funcstack[1] == _{program} ]]; then
  _{program} "$@"
else
  compdef _{program} {program}
fi
)zsh",
      fmt::arg("program", table.program), fmt::arg("commands", commands),
      fmt::arg("globals", globals), fmt::arg("cases", cases));
}

}  // namespace foretell
