#include <fmt/format.h>
#include <fmt/ranges.h>

#include "front/completion_script.h"
#include "front/offered_words.h"

namespace foretell {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// Fish shows the whole description, so that the first sentence must do.
std::string Short(std::string_view doc) {
  const size_t end = doc.find_first_of(".;");
  return Quoted(doc.substr(0, std::min(end, doc.size())));
}

std::string OptionLine(std::string_view head, const OptionRow& row) {
  std::string out = fmt::format("{} -l {}", head, row.name);
  if (row.short_name != 0) out += fmt::format(" -s {}", row.short_name);
  if (!row.is_flag() && !row.value_optional) {
    // -r: a value follows; -f or -F: whether it may be a file.
    out += row.completion == Completion::kNone ? " -r -f" : " -r -F";
  }
  const auto values = OfferedValues(row);
  if (!values.empty()) {
    out += fmt::format(" -a {}",
                       Quoted(fmt::format("{}", fmt::join(values, " "))));
  }
  return out + " -d " + Short(row.doc) + "\n";
}

std::string ArgumentLine(const CommandTable& table, std::string_view head,
                         const ArgumentRow& row) {
  const auto values = OfferedValues(table, row);
  if (!values.empty()) {
    return fmt::format("{} -a {}\n", head,
                       Quoted(fmt::format("{}", fmt::join(values, " "))));
  }
  switch (row.completion) {
    case Completion::kModelId:
      return fmt::format(
          "{} -F -a '({} complete-ids (commandline -ct) 2>/dev/null)'\n", head,
          table.program);
    case Completion::kPath:
    case Completion::kDirectory:
      return fmt::format("{} -F\n", head);
    case Completion::kNone:
    case Completion::kCommand:
      return "";
  }
  return "";
}

}  // namespace

std::string FishCompletion(const CommandTable& table) {
  std::string out = fmt::format(
      "# Completion of {0} in fish, printed by `{0} completion fish`.\n"
      "complete -c {0} -f\n",
      table.program);
  for (const OptionRow& row : table.global_options) {
    out += OptionLine(fmt::format("complete -c {}", table.program), row);
  }
  for (const CommandRow& command : table.commands) {
    if (command.hidden) continue;
    out += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n",
                       table.program, command.name, Quoted(command.summary));
    const std::string head =
        fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'",
                    table.program, command.name);
    for (const OptionRow& row : command.options) out += OptionLine(head, row);
    if (!command.arguments.empty()) {
      out += ArgumentLine(table, head, command.arguments.back());
    }
  }
  return out;
}

}  // namespace foretell
