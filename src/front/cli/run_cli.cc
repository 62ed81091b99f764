#include "front/cli/run_cli.h"

#include <exception>
#include <new>
#include <utility>

#include "base/input_error.h"
#include "front/command_help.h"
#include "front/parse_command_line.h"
#include "report/render_errors.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

constexpr char kReport[] = "report it with the command line and the input";

int Answer(const Invocation& invocation, const TextStyle& style,
           std::ostream& out) {
  const Outcome outcome = invocation.command()->run(invocation);
  const Format format = invocation.format();
  const bool as_text = format == Format::kText && !outcome.text.empty();
  if (outcome.document && !as_text) {
    out << Render(*outcome.document, format, style);
  } else {
    out << outcome.text;
  }
  if (outcome.differs) return kBlocks;
  if (!outcome.document) return kNothingBlocks;
  const bool blocks = outcome.document->Blocks() ||
                      (invocation.strict() && outcome.document->CannotTell());
  return blocks ? kBlocks : kNothingBlocks;
}

int Run(const CommandTable& table, const std::vector<std::string>& words,
        const TextStyle& style, std::ostream& out, std::ostream& err) {
  const Invocation invocation = ParseCommandLine(table, words);
  for (const std::string& note : invocation.notes()) {
    err << "note: " << Harmless(note) << "\n";
  }
  if (invocation.Has("version")) {
    out << table.program << " " << table.version << "\n";
    return kNothingBlocks;
  }
  if (invocation.command() == nullptr) {
    out << ProgramHelp(table);
    return kNothingBlocks;
  }
  if (invocation.Has("help")) {
    out << CommandHelp(table, *invocation.command());
    return kNothingBlocks;
  }
  return Answer(invocation, style, out);
}

void Report(const InputErrors& errors, bool as_json, std::ostream& out,
            std::ostream& err) {
  if (as_json) {
    out << RenderErrorsJson(errors);
  } else {
    err << RenderErrorsText(errors);
  }
}

InputErrors Bug(const CommandTable& table, const std::string& what,
                const std::string& cure) {
  Place place;
  place.source = table.program;
  return InputErrors(InputError{std::move(place), what, cure});
}

}  // namespace

int RunCli(const CommandTable& table, const std::vector<std::string>& words,
           const TextStyle& style, std::ostream& out, std::ostream& err) {
  const bool as_json = AsksForJson(table, words);
  const std::string our_bug = "this is a bug of " + std::string(table.program);
  try {
    return Run(table, words, style, out, err);
  } catch (const InputErrors& errors) {
    Report(errors, as_json, out, err);
    return kUnreadable;
  } catch (const std::bad_alloc&) {
    Report(Bug(table, "out of memory",
               "free memory; where the input is small, " + our_bug + ": " +
                   kReport),
           as_json, out, err);
  } catch (const std::exception& error) {
    Report(Bug(table, our_bug + ": " + error.what(), kReport), as_json, out,
           err);
  } catch (...) {
    Report(Bug(table, our_bug, kReport), as_json, out, err);
  }
  return kOurBug;
}

}  // namespace foretell
