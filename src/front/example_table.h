// A small command table, for the tests of what is made from tables.
//
// Every kind of argument and option has a row in it. It is not part of the
// program.
#ifndef FORETELL_FRONT_EXAMPLE_TABLE_H_
#define FORETELL_FRONT_EXAMPLE_TABLE_H_

#include <new>
#include <stdexcept>
#include <utility>

#include "base/input_error.h"
#include "front/command_table.h"
#include "front/invocation.h"
#include "front/run_completion.h"
#include "front/run_help.h"
#include "front/run_schema.h"
#include "report/findings_section.h"

namespace foretell {

inline const DocumentShape& ExampleAnswerShape() {
  static const DocumentShape shape = {
      .name = "size",
      .title = "The size of a thing",
      .doc = "How large it is.",
      .sections = {{.rows = {FieldRow("target", "Target", CellType::kText,
                                      "What was measured."),
                             FieldRow("batch", "Batch", CellType::kInteger,
                                      "The batch.")}},
                   FindingsSection()}};
  return shape;
}

// TARGET decides what happens: "blocks", "unsure", "differs", "unreadable",
// "memory", "bug", "odd" or any other text.
inline Outcome RunExample(const Invocation& invocation) {
  const std::string& target = invocation.Argument("TARGET");
  if (target == "unreadable") {
    throw InputErrors(
        {invocation.PlaceOf("TARGET"), "cannot be read", "name another"});
  }
  if (target == "memory") throw std::bad_alloc();
  if (target == "bug") throw std::logic_error("it \x1b broke");
  if (target == "odd") throw 42;
  Document document(ExampleAnswerShape());
  document.Set("target", target);
  document.Set("batch", invocation.Integer("batch").value());
  std::vector<Finding> findings;
  if (target == "blocks") {
    Finding finding;
    finding.rule = "size/large";
    finding.severity = Severity::kBlock;
    finding.what = "it is too large";
    findings.push_back(finding);
  }
  std::vector<RuleNotRun> not_run;
  if (target == "unsure") not_run.push_back({"size/large", "no size"});
  SetFindings(document, findings, {"size/small"}, not_run);
  return {.document = std::move(document), .differs = target == "differs"};
}

inline Outcome RunExampleText(const Invocation&) { return {.text = "text\n"}; }

inline const CommandTable& ExampleTable() {
  static const CommandTable table = {
      .program = "tool",
      .version = "1.2.3",
      .summary = "measures things",
      .description = "Says how large a thing is.\n\nNothing is changed.",
      .global_options = GlobalOptions(),
      .commands = {
          {.name = "size",
           .summary = "how large a thing is",
           .description = "Measures one thing.",
           .arguments = {{.name = "TARGET",
                          .doc = "The thing.",
                          .completion = Completion::kModelId},
                         {.name = "OTHER",
                          .doc = "Further things.",
                          .optional = true,
                          .repeatable = true,
                          .completion = Completion::kModelId}},
           .options = {{.name = "batch",
                        .value = "N",
                        .doc = "How many at once.",
                        .default_value = "1",
                        .kind = ValueKind::kInteger,
                        .most = 4096,
                        .aliases = {"micro-batch", "mbs"}},
                       {.name = "dtype", .value = "NAME", .doc = "The type."},
                       {.name = "attn",
                        .value = "NAME",
                        .doc = "The attention.",
                        .allowed = {"eager", "sdpa"}},
                       {.name = "explain",
                        .value = "WHAT",
                        .value_optional = true,
                        .doc = "Say why.",
                        .allowed = {"params", "bytes"}},
                       {.name = "tag",
                        .value = "TEXT",
                        .doc = "A remark, several times.",
                        .repeatable = true},
                       {.name = "long", .short_name = 'l', .doc = "Say more."}},
           .examples = {{"tool size thing", "The size of one thing."}},
           .shape = ExampleAnswerShape,
           .run = RunExample},
          {.name = "list",
           .summary = "list the things",
           .description = "Lists all things.",
           .examples = {{"tool list", "All things."}},
           .run = RunExampleText},
          {.name = "completion",
           .summary = "print a completion script",
           .description = "Prints a script.",
           .arguments = {{.name = "SHELL",
                          .doc = "The shell.",
                          .allowed = {"bash", "zsh", "fish"}}},
           .examples = {{"tool completion bash", "For bash."}},
           .run = RunCompletion},
          {.name = "schema",
           .summary = "print a schema",
           .description = "Prints a schema.",
           .arguments = {{.name = "COMMAND",
                          .doc = "The command.",
                          .completion = Completion::kCommand}},
           .examples = {{"tool schema size", "Of one answer."}},
           .run = RunSchema},
          {.name = "help",
           .summary = "say how it is used",
           .description = "Prints help.",
           .arguments = {{.name = "COMMAND",
                          .doc = "The command.",
                          .optional = true,
                          .completion = Completion::kCommand}},
           .examples = {{"tool help size", "Of one command."}},
           .run = RunHelp},
          {.name = "complete-ids",
           .summary = "list ids",
           .description = "For the shells.",
           .run = RunExampleText,
           .hidden = true}}};
  return table;
}

}  // namespace foretell

#endif  // FORETELL_FRONT_EXAMPLE_TABLE_H_
