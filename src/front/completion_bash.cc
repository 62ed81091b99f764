#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "front/completion_script.h"
#include "front/offered_words.h"

namespace foretell {
namespace {

// The words after the command's name: "model:--dtype)" of the case statement
// that looks at the word before the cursor.
std::string ValueCase(std::string_view command, const OptionRow& row) {
  const auto values = OfferedValues(row);
  std::string patterns = fmt::format("{}:--{}", command, row.name);
  for (const std::string_view alias : row.aliases) {
    patterns += fmt::format("|{}:--{}", command, alias);
  }
  std::string action = "return";
  if (!values.empty()) {
    action = fmt::format("words=\"{}\"", fmt::join(values, " "));
  } else if (row.completion == Completion::kDirectory) {
    action = "COMPREPLY=($(compgen -d -- \"$current\")); return";
  }
  return fmt::format("    {}) {} ;;\n", patterns, action);
}

std::string ValueCases(const CommandTable& table) {
  std::string out;
  // An optional value may be left out, so that anything may follow.
  for (const CommandRow& command : table.commands) {
    if (command.hidden) continue;
    for (const OptionRow& row : command.options) {
      if (!row.is_flag() && !row.value_optional) {
        out += ValueCase(command.name, row);
      }
    }
  }
  for (const OptionRow& row : table.global_options) {
    if (!row.is_flag()) out += ValueCase("*", row);
  }
  return out;
}

std::string OptionNames(const std::vector<OptionRow>& rows) {
  std::vector<std::string> names;
  for (const OptionRow& row : rows) {
    names.push_back("--" + std::string(row.name));
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string OptionCases(const CommandTable& table) {
  std::string out;
  for (const CommandRow& command : table.commands) {
    if (command.hidden || command.options.empty()) continue;
    out += fmt::format("      {}) words=\"{}\" ;;\n", command.name,
                       OptionNames(command.options));
  }
  return out;
}

std::string ArgumentCases(const CommandTable& table) {
  std::string out;
  for (const CommandRow& command : table.commands) {
    if (command.hidden || command.arguments.empty()) continue;
    // Further arguments are like the last one.
    const ArgumentRow& row = command.arguments.back();
    if (row.completion == Completion::kModelId) {
      out += fmt::format(
          "      {}) words=$(\"${{COMP_WORDS[0]}}\" complete-ids \"$current\" "
          "2>/dev/null) ;;\n",
          command.name);
    } else if (const auto values = OfferedValues(table, row); !values.empty()) {
      out += fmt::format("      {}) words=\"{}\" ;;\n", command.name,
                         fmt::join(values, " "));
    }
  }
  return out;
}

// The global options that take the next word, for finding the command.
std::string ValueOptions(const CommandTable& table) {
  std::vector<std::string> names;
  for (const OptionRow& row : table.global_options) {
    if (!row.is_flag()) names.push_back("--" + std::string(row.name));
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

}  // namespace

std::string BashCompletion(const CommandTable& table) {
  // Where no word fits, `-o default` lets bash complete file names. Bash
  // splits "--format=json" at the sign, which is a word of its own then.
  return fmt::format(
      R"bash(# Completion of {program} in bash, printed by `{program} completion bash`.
_{program}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}}
  local previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command="" words="" i
  COMPREPLY=()
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {value_options}) [[ ${{COMP_WORDS[i + 1]}} == "=" ]] && ((++i)); ((++i)) ;;
      -*) ;;
      *) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command:$previous in
{value_cases}  esac
  if [[ -z $words && $current == -* ]]; then
    case $command in
{option_cases}    esac
    words="$words {global_options}"
  elif [[ -z $words ]]; then
    case $command in
      "") words="{commands}" ;;
{argument_cases}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _{program} {program}
)bash",
      fmt::arg("program", table.program),
      fmt::arg("value_options", ValueOptions(table)),
      fmt::arg("value_cases", ValueCases(table)),
      fmt::arg("option_cases", OptionCases(table)),
      fmt::arg("global_options", OptionNames(table.global_options)),
      fmt::arg("commands", fmt::join(OfferedCommands(table), " ")),
      fmt::arg("argument_cases", ArgumentCases(table)));
}

}  // namespace foretell
