#include "front/command_help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kIndent = 2;
// Heads that are longer stand on a line of their own.
constexpr size_t kLongestHead = 24;

using Entry = std::pair<std::string, std::string>;  // head, doc

std::string Entries(const std::vector<Entry>& entries) {
  size_t head_width = 0;
  for (const auto& [head, doc] : entries) {
    if (head.size() <= kLongestHead) {
      head_width = std::max(head_width, head.size());
    }
  }
  const size_t start = kIndent + head_width + 2;
  std::string out;
  for (const auto& [head, doc] : entries) {
    const auto lines = Wrap(doc, kWidth - start);
    std::string line = std::string(kIndent, ' ') + head;
    if (head.size() > head_width) {
      out += line + "\n";
      line.clear();
    }
    for (const std::string& text : lines) {
      out += PadRight(line, start) + text + "\n";
      line.clear();
    }
  }
  return out;
}

std::string Paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    for (const std::string& line : Wrap(text.substr(0, end), kWidth)) {
      out += line + "\n";
    }
    text.remove_prefix(std::min(end + 2, text.size()));
    if (!text.empty()) out += "\n";
  }
  return out;
}

std::string Options(const std::vector<OptionRow>& rows) {
  std::vector<Entry> entries;
  for (const OptionRow& row : rows) {
    entries.emplace_back(OptionHead(row), OptionDoc(row));
  }
  return Entries(entries);
}

std::string ArgumentDoc(const ArgumentRow& row) {
  std::string doc(row.doc);
  if (!row.allowed.empty()) {
    doc += fmt::format(" One of {}.", fmt::join(row.allowed, ", "));
  }
  return doc;
}

}  // namespace

std::string UsageLine(const CommandTable& table, const CommandRow& command) {
  std::string out = fmt::format("{} {}", table.program, command.name);
  if (!command.options.empty()) out += " [OPTIONS]";
  for (const ArgumentRow& row : command.arguments) {
    const std::string name =
        std::string(row.name) + (row.repeatable ? "..." : "");
    out += row.optional ? " [" + name + "]" : " " + name;
  }
  return out;
}

std::string OptionHead(const OptionRow& row) {
  std::string out;
  if (row.short_name != 0) out += fmt::format("-{}, ", row.short_name);
  out += fmt::format("--{}", row.name);
  if (row.is_flag()) return out;
  return out + (row.value_optional ? fmt::format(" [{}]", row.value)
                                   : fmt::format(" {}", row.value));
}

std::string OptionDoc(const OptionRow& row) {
  std::string doc(row.doc);
  if (!row.allowed.empty()) {
    doc += fmt::format(" {} is one of {}.", row.value,
                       fmt::join(row.allowed, ", "));
  }
  if (!row.default_value.empty()) {
    doc += fmt::format(" (default: {})", row.default_value);
  }
  return doc;
}

std::string NearestCommandCure(const CommandTable& table,
                               std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandRow& row : table.commands) {
    if (!row.hidden) names.push_back(row.name);
  }
  const auto nearest = NearestNames(name, names);
  const std::string hint =
      nearest.empty()
          ? ""
          : fmt::format("did you mean {}? ", fmt::join(nearest, " or "));
  return hint + fmt::format("the commands are {}", fmt::join(names, ", "));
}

std::string ProgramHelp(const CommandTable& table) {
  std::string out = fmt::format("{}: {}\n\nusage: {} COMMAND [ARGUMENTS]\n\n",
                                table.program, table.summary, table.program);
  out += Paragraphs(table.description) + "\nCommands:\n";
  std::vector<Entry> entries;
  for (const CommandRow& row : table.commands) {
    if (!row.hidden) {
      entries.emplace_back(std::string(row.name), std::string(row.summary));
    }
  }
  out += Entries(entries) + "\nOptions of every command:\n" +
         Options(table.global_options);
  out += fmt::format("\n`{} help COMMAND` says more about one command.\n",
                     table.program);
  return out;
}

std::string CommandHelp(const CommandTable& table, const CommandRow& command) {
  std::string out =
      fmt::format("{} {}: {}\n\nusage: {}\n\n", table.program, command.name,
                  command.summary, UsageLine(table, command));
  out += Paragraphs(command.description);
  if (!command.arguments.empty()) {
    std::vector<Entry> entries;
    for (const ArgumentRow& row : command.arguments) {
      entries.emplace_back(std::string(row.name), ArgumentDoc(row));
    }
    out += "\nArguments:\n" + Entries(entries);
  }
  if (!command.options.empty()) {
    out += "\nOptions:\n" + Options(command.options);
  }
  out += "\nOptions of every command:\n" + Options(table.global_options);
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const ExampleRow& row : command.examples) {
    out += fmt::format("  {}\n", row.command);
    for (const std::string& line : Wrap(row.shows, kWidth - 6)) {
      out += "      " + line + "\n";
    }
  }
  return out;
}

}  // namespace foretell
