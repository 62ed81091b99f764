#include "front/command_docs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "front/command_help.h"
#include "report/json_schema.h"
#include "report/render_markdown.h"
#include "report/shape_page.h"

namespace foretell {
namespace {

constexpr std::string_view kMade =
    "<!-- Made by tools/docgen from the command table. Do not edit. -->\n";

std::string OptionTable(const std::vector<OptionRow>& rows) {
  std::string out =
      "| Option | Meaning | Also accepted |\n"
      "| --- | --- | --- |\n";
  for (const OptionRow& row : rows) {
    std::string aliases;
    for (const std::string_view alias : row.aliases) {
      aliases += fmt::format("{}`--{}`", aliases.empty() ? "" : ", ", alias);
    }
    out += fmt::format("| `{}` | {} | {} |\n", OptionHead(row),
                       MarkdownText(OptionDoc(row)), aliases);
  }
  return out;
}

// A summary is no sentence; a page starts with one.
std::string Sentence(std::string_view summary) {
  std::string out(summary);
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out + ".";
}

std::string CommandPage(const CommandTable& table, const CommandRow& command) {
  std::string out =
      fmt::format("{}# {} {}\n\n{}\n\n```sh\n{}\n```\n\n", kMade, table.program,
                  command.name, MarkdownText(Sentence(command.summary)),
                  UsageLine(table, command));
  std::string_view rest = command.description;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find("\n\n"), rest.size());
    out += MarkdownText(rest.substr(0, end)) + "\n\n";
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  if (!command.arguments.empty()) {
    out += "## Arguments\n\n";
    for (const ArgumentRow& row : command.arguments) {
      out += fmt::format("- `{}`{}: {}\n", row.name,
                         row.repeatable ? " (several)"
                         : row.optional ? " (optional)"
                                        : "",
                         MarkdownText(row.doc));
    }
    out += "\n";
  }
  if (!command.options.empty()) {
    out += "## Options\n\n" + OptionTable(command.options) + "\n";
  }
  out +=
      "Every command takes the [global options](README.md).\n\n"
      "## Examples\n\n";
  for (const ExampleRow& row : command.examples) {
    out += fmt::format("{}\n\n```sh\n{}\n```\n\n", MarkdownText(row.shows),
                       row.command);
  }
  if (command.shape != nullptr) {
    out += fmt::format(
        "What it prints with `--json`: "
        "[../json/{0}.md](../json/{0}.md).\n",
        command.name);
  } else {
    out.pop_back();
  }
  return out;
}

std::string CommandsIndex(const CommandTable& table) {
  std::string out = fmt::format(
      "{}# Commands\n\n| Command | Answers |\n| --- | --- |\n", kMade);
  for (const CommandRow& row : table.commands) {
    if (row.hidden) continue;
    out += fmt::format("| [{0}]({0}.md) | {1} |\n", row.name,
                       MarkdownText(row.summary));
  }
  out += "\n## Global options\n\n" + OptionTable(table.global_options);
  out +=
      "\n## Exit status\n\n"
      "| Status | Meaning |\n| --- | --- |\n"
      "| 0 | Nothing blocks. |\n"
      "| 1 | Something blocks, differs or falls short; with `--strict` "
      "also: a rule could not be judged. |\n"
      "| 2 | The input cannot be read, a family is unknown, or the command "
      "line is wrong. |\n"
      "| 3 | A bug of Foretell. |\n";
  return out;
}

std::string JsonIndex(const CommandTable& table) {
  std::string out = fmt::format(
      "{}# JSON\n\nEvery answer is printed as JSON with `--json`. Keys are "
      "added, not renamed; texts are valid UTF-8.\n\n"
      "| Command | Schema |\n| --- | --- |\n",
      kMade);
  for (const CommandRow& row : table.commands) {
    if (row.hidden || row.shape == nullptr) continue;
    out += fmt::format(
        "| [{0}]({0}.md) | [{0}.schema.json]({0}.schema.json) |\n", row.name);
  }
  return out +
         "| what every command prints with exit status 2 or 3 | "
         "[errors.schema.json](errors.schema.json) |\n";
}

}  // namespace

std::vector<DocFile> CommandDocs(const CommandTable& table) {
  std::vector<DocFile> files = {
      {"commands/README.md", CommandsIndex(table)},
      {"json/README.md", JsonIndex(table)},
      {"json/errors.schema.json", ErrorsJsonSchema()},
  };
  for (const CommandRow& row : table.commands) {
    if (row.hidden) continue;
    const std::string name(row.name);
    files.push_back({"commands/" + name + ".md", CommandPage(table, row)});
    if (row.shape == nullptr) continue;
    files.push_back(
        {"json/" + name + ".md", std::string(kMade) + ShapePage(row.shape())});
    files.push_back({"json/" + name + ".schema.json", JsonSchema(row.shape())});
  }
  std::ranges::sort(files, {}, &DocFile::path);
  return files;
}

}  // namespace foretell
